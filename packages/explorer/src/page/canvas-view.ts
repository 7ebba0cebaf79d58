import { type MapCamera, type Size, WHOLE } from './texts/camera.ts';
import { type Named, roomFor } from './texts/map-labels.ts';

/** The disc of a symbol on the screen, in pixels. */
export interface Disc {
  x: number;
  y: number;
  radius: number;
}

/** A symbol's name beside its disc. */
export interface SymbolName extends Named {
  symbol: number;
  text: string;
}

const LINE_HEIGHT = 16;
const NAME_FONT = '600 12px system-ui, sans-serif';
/** More pixels for each unit of the page than this are not seen. */
const MOST_RATIO = 2;
/** How far beside a disc a press still meets it, in pixels. */
const REACH = 4;

/** A drawing of symbols on a canvas that fills an element, seen by a camera. */
export abstract class CanvasView {
  /** A line under way, in pixels of the page. */
  line: readonly (readonly [number, number])[] = [];
  protected readonly context: CanvasRenderingContext2D;
  /** Pixels of the canvas for each unit of the page. */
  protected ratio = 1;
  /** Of the last frame. */
  protected discs: ReadonlyMap<number, Disc> = new Map();
  readonly #watch: ResizeObserver;
  readonly #widths = new Map<string, number>();
  #camera: MapCamera = WHOLE;
  #size: Size = { width: 0, height: 0 };
  #names: readonly SymbolName[] = [];
  #waits = 0;

  constructor(container: HTMLElement) {
    const canvas = document.createElement('canvas');
    this.context = canvas.getContext('2d', { alpha: false })!;
    Object.assign(canvas.style, { display: 'block', width: '100%', height: '100%' });
    container.append(canvas);
    this.#watch = new ResizeObserver(() => this.#measure(container));
    this.#watch.observe(container);
    this.#measure(container);
  }

  get camera(): MapCamera {
    return this.#camera;
  }
  set camera(camera: MapCamera) {
    this.#camera = camera;
    this.redraw();
  }
  get size(): Size {
    return this.#size;
  }

  /** With the next frame, so that many changes are drawn once. */
  redraw(): void {
    if (this.#waits === 0) this.#waits = requestAnimationFrame(() => this.#frame());
  }

  destroy(): void {
    cancelAnimationFrame(this.#waits);
    this.#watch.disconnect();
    this.context.canvas.remove();
  }

  /** The symbol whose disc or name lies at a place, in pixels; none where there are no discs. */
  symbolAt([x, y]: readonly [number, number]): number | null {
    const away = ({ x: left, y: top, radius }: Disc) => Math.hypot(x - left, y - top) - radius;
    const near = [...this.discs].filter(([, disc]) => disc.radius > 0 && away(disc) <= REACH);
    const [nearest] = near.sort(([, a], [, b]) => away(a) - away(b));
    if (nearest) return nearest[0];
    const named = this.#names.find(
      ({ symbol, width, ...name }) =>
        this.discs.get(symbol)!.radius > 0 &&
        Math.abs(x - name.x) <= width / 2 &&
        Math.abs(y - name.y) <= LINE_HEIGHT / 2,
    );
    return named?.symbol ?? null;
  }

  /** Where a symbol is on the screen. */
  placeOf(symbol: number): readonly [number, number] | null {
    const disc = this.discs.get(symbol);
    return disc ? [disc.x, disc.y] : null;
  }

  /** Draws one frame in units of the page; not called before there is something to draw. */
  protected abstract paint(size: Size): void;
  protected abstract get isEmpty(): boolean;

  protected disc({ x, y, radius }: Disc, colour: string): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fillStyle = colour;
    this.context.fill();
  }

  protected stroke(places: readonly { x: number; y: number }[], colour: string, width: number): void {
    const { context } = this;
    context.beginPath();
    for (const { x, y } of places) context.lineTo(x, y);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = 'round';
    context.stroke();
  }

  /** Names of symbols in their order: each beside its disc, left out where there is no room. */
  protected drawNames(
    names: readonly { symbol: number; text: string }[],
    { ink, halo }: { ink: string; halo: string },
  ): void {
    const { context } = this;
    context.font = NAME_FONT;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = halo;
    context.fillStyle = ink;
    const placed = names.map((name) => ({
      ...{ ...name, width: this.#width(name.text) },
      ...this.discs.get(name.symbol)!,
    }));
    this.#names = roomFor(placed, this.#size);
    for (const { text, x, y } of this.#names) {
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    }
    context.canvas.dataset.names = String(this.#names.length);
  }

  #frame(): void {
    this.#waits = 0;
    if (this.isEmpty || this.#size.width === 0) return;
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.paint(this.#size);
    this.context.setTransform(1, 0, 0, 1, 0, 0);
  }

  #measure({ clientWidth: width, clientHeight: height }: HTMLElement): void {
    this.#size = { width, height };
    this.ratio = Math.min(MOST_RATIO, devicePixelRatio || 1);
    this.context.canvas.width = Math.max(1, Math.round(width * this.ratio));
    this.context.canvas.height = Math.max(1, Math.round(height * this.ratio));
    this.redraw();
  }

  /** Measuring a text takes longer than drawing it. */
  #width(text: string): number {
    const width = this.#widths.get(text) ?? this.context.measureText(text).width;
    this.#widths.set(text, width);
    return width;
  }
}
