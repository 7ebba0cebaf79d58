import { type MapCamera, type Size, toScreen, WHOLE } from './camera.ts';
import { DotPainter, type Dots, dotRadius } from './dots.ts';
import { type MapLabel, roomFor } from './map-labels.ts';

/** What is drawn over the dots. */
export interface MapScene {
  labels: readonly MapLabel[];
  /** The text that is open, and the one that is pointed at. */
  chosen: number | null;
  pointed: number | null;
  /** A line that texts were drawn around with: x and y in turn, in thousandths. */
  around: readonly number[];
  ink: string;
  halo: string;
  accent: string;
}

const FONT = '600 12px system-ui, sans-serif';
/** More pixels for each unit of the page than this are not seen. */
const MOST_RATIO = 2;

/** The map of texts in an element: dots, words of symbols, and the line that is being drawn. */
export class MapView {
  /** A line under way, in pixels of the page. */
  line: readonly (readonly [number, number])[] = [];
  readonly #canvas = document.createElement('canvas');
  readonly #context: CanvasRenderingContext2D;
  readonly #painter = new DotPainter();
  readonly #watch: ResizeObserver;
  readonly #widths = new Map<string, number>();
  #camera: MapCamera = WHOLE;
  #size: Size = { width: 0, height: 0 };
  #ratio = 1;
  #dots: Dots | undefined;
  #scene: MapScene | undefined;
  #waits = 0;

  constructor(container: HTMLElement) {
    this.#context = this.#canvas.getContext('2d', { alpha: false })!;
    container.append(this.#canvas);
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

  draw(dots: Dots, scene: MapScene): void {
    if (dots !== this.#dots) this.#painter.set(dots);
    this.#dots = dots;
    this.#scene = scene;
    this.redraw();
  }

  /** With the next frame, so that many changes are drawn once. */
  redraw(): void {
    if (this.#waits === 0) this.#waits = requestAnimationFrame(() => this.#frame());
  }

  destroy(): void {
    cancelAnimationFrame(this.#waits);
    this.#watch.disconnect();
    this.#canvas.remove();
  }

  #measure(container: HTMLElement): void {
    const { clientWidth: width, clientHeight: height } = container;
    this.#size = { width, height };
    this.#ratio = Math.min(MOST_RATIO, devicePixelRatio || 1);
    this.#canvas.width = Math.max(1, Math.round(width * this.#ratio));
    this.#canvas.height = Math.max(1, Math.round(height * this.#ratio));
    this.redraw();
  }

  #frame(): void {
    this.#waits = 0;
    if (!this.#dots || !this.#scene || this.#size.width === 0) return;
    const { width, height } = this.#canvas;
    this.#context.putImageData(this.#painter.paint(this.#camera, { width, height }, this.#ratio), 0, 0);
    this.#context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    this.#drawLine(this.#scene);
    this.#drawLabels(this.#scene);
    this.#ring(this.#scene.chosen, this.#scene);
    this.#ring(this.#scene.pointed, this.#scene);
    this.#context.setTransform(1, 0, 0, 1, 0, 0);
  }

  #drawLine({ around, accent }: MapScene): void {
    const known = Array.from({ length: around.length >> 1 }, (_, at) =>
      toScreen(this.#camera, this.#size, [around[2 * at]! / 1000, around[2 * at + 1]! / 1000]),
    );
    const line = this.line.length > 0 ? this.line : known;
    if (line.length < 2) return;
    const context = this.#context;
    context.beginPath();
    for (const [x, y] of line) context.lineTo(x, y);
    context.closePath();
    context.strokeStyle = accent;
    context.lineWidth = 1.5;
    context.setLineDash([5, 4]);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 0.07;
    context.fillStyle = accent;
    context.fill();
    context.globalAlpha = 1;
  }

  #drawLabels({ labels, ink, halo }: MapScene): void {
    const context = this.#context;
    context.font = FONT;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = halo;
    context.fillStyle = ink;
    const placed = labels.map((label) => {
      const [x, y] = toScreen(this.#camera, this.#size, [label.x, label.y]);
      return { text: label.text, x, y, width: this.#width(label.text) };
    });
    for (const { text, x, y } of roomFor(placed, this.#size)) {
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    }
  }

  /** Measuring a text takes longer than drawing it. */
  #width(text: string): number {
    const width = this.#widths.get(text) ?? this.#context.measureText(text).width;
    this.#widths.set(text, width);
    return width;
  }

  #ring(n: number | null, { ink, halo }: MapScene): void {
    const { places, lit } = this.#dots!;
    if (n === null || n >= lit.length) return;
    const [x, y] = toScreen(this.#camera, this.#size, [places[2 * n]!, places[2 * n + 1]!]);
    const context = this.#context;
    const radius = dotRadius(lit.length, this.#camera.zoom) + 4;
    for (const [colour, width] of [
      [halo, 5],
      [ink, 2],
    ] as const) {
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke();
    }
  }
}
