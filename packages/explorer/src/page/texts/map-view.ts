import { WALK_COLOUR } from '../graph/colours.ts';
import type { StrongLink } from '../graph/strongest.ts';
import { type MapCamera, type Size, toScreen, WHOLE } from './camera.ts';
import { DotPainter, type Dots, dotRadius, FULL_WIDTH } from './dots.ts';
import { type MapLabel, roomFor } from './map-labels.ts';

/** The network over the dots. */
export interface MapNetwork {
  links: readonly StrongLink[];
  /** The colour of each symbol's disc. */
  colourOf(symbol: number): string;
  /** The symbol whose links stand out. */
  focus: number | null;
}

/** What is drawn over the dots. */
export interface MapScene {
  labels: readonly MapLabel[];
  /** Null for the map alone. */
  network: MapNetwork | null;
  /** Symbols that the open text, or the one that is pointed at, goes through; else a walk that a panel shows. */
  walk: readonly number[];
  /** Several walks at once, where there is no single one. */
  paths: readonly (readonly number[])[];
  /** The text that is open, and the one that is pointed at. */
  chosen: number | null;
  pointed: number | null;
  /** A line that texts were drawn around with: x and y in turn, in thousandths. */
  around: readonly number[];
  ink: string;
  halo: string;
  accent: string;
}

interface Disc {
  x: number;
  y: number;
  radius: number;
}

const LINE_HEIGHT = 16;
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
  /** Of the last frame: discs by symbol, and the names that found room. */
  #places = new Map<number, Disc>();
  #names: readonly { symbol: number; x: number; y: number; width: number; text: string }[] = [];

  constructor(container: HTMLElement) {
    this.#context = this.#canvas.getContext('2d', { alpha: false })!;
    Object.assign(this.#canvas.style, { display: 'block', width: '100%', height: '100%' });
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
    this.#places = this.#screenPlaces(this.#scene);
    if (this.#scene.network) this.#drawLinks(this.#scene, this.#scene.network);
    this.#drawWalk(this.#scene);
    if (this.#scene.network) this.#drawDiscs(this.#scene, this.#scene.network);
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

  /** The symbol whose disc or name lies at a place, in pixels; none on the map alone, which has no discs. */
  symbolAt([x, y]: readonly [number, number]): number | null {
    if (!this.#scene?.network) return null;
    for (const [symbol, place] of this.#places)
      if (Math.hypot(x - place.x, y - place.y) <= place.radius + 4) return symbol;
    const named = this.#names.find(
      (name) => Math.abs(x - name.x) <= name.width / 2 && Math.abs(y - name.y) <= LINE_HEIGHT / 2,
    );
    return named?.symbol ?? null;
  }

  /** Where a symbol is on the screen. */
  placeOf(symbol: number): readonly [number, number] | null {
    const place = this.#places.get(symbol);
    return place ? [place.x, place.y] : null;
  }

  #screenPlaces({ labels, network }: MapScene): Map<number, Disc> {
    const most = labels.reduce((largest, { texts }) => Math.max(largest, texts), 1);
    return new Map(
      labels.map(({ symbol, x, y, texts }) => {
        const [left, top] = toScreen(this.#camera, this.#size, [x, y]);
        const narrow = Math.min(1, Math.sqrt(this.#size.width / FULL_WIDTH));
        const radius = network ? narrow * (4 + 8 * Math.sqrt(texts / most)) : 0;
        return [symbol, { x: left, y: top, radius }];
      }),
    );
  }

  #drawLinks({ ink }: MapScene, { links, focus }: MapNetwork): void {
    const context = this.#context;
    context.strokeStyle = ink;
    for (const [i, j, strength] of links) {
      const [from, to] = [this.#places.get(i), this.#places.get(j)];
      if (!from || !to) continue;
      const stands = focus === i || focus === j;
      context.globalAlpha = focus === null ? 0.16 + 0.4 * strength : stands ? 0.85 : 0.08;
      context.lineWidth = 0.7 + 2.6 * strength + (stands ? 0.6 : 0);
      context.beginPath();
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  #drawDiscs({ labels, halo }: MapScene, { colourOf }: MapNetwork): void {
    const context = this.#context;
    context.strokeStyle = halo;
    context.lineWidth = 2;
    for (const { symbol } of labels) {
      const { x, y, radius } = this.#places.get(symbol)!;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fillStyle = colourOf(symbol);
      context.fill();
      context.stroke();
    }
  }

  /** Over the symbols of a walk in their order, from the text's dot where there is one; or several walks, thinner. */
  #drawWalk({ walk, paths, pointed, chosen }: MapScene): void {
    const stepsOf = (symbols: readonly number[]) =>
      symbols.flatMap((symbol) => this.#places.get(symbol) ?? []);
    for (const path of paths) this.#stroke(stepsOf(path), 1.5 + 3 / paths.length);
    const text = pointed ?? chosen;
    const { places } = this.#dots!;
    const steps = stepsOf(walk);
    if (steps.length === 0) return;
    const known = text !== null && 2 * text < places.length;
    const [x, y] = known
      ? toScreen(this.#camera, this.#size, [places[2 * text]!, places[2 * text + 1]!])
      : [steps[0]!.x, steps[0]!.y];
    this.#stroke([{ x, y }, ...steps], 3.5);
    const context = this.#context;
    for (const { x, y, radius } of steps) {
      context.beginPath();
      context.arc(x, y, radius + 4, 0, 2 * Math.PI);
      context.fillStyle = WALK_COLOUR;
      context.fill();
    }
  }

  /** A line of a walk. */
  #stroke(places: readonly { x: number; y: number }[], width: number): void {
    const context = this.#context;
    context.beginPath();
    for (const { x, y } of places) context.lineTo(x, y);
    context.strokeStyle = WALK_COLOUR;
    context.lineWidth = width;
    context.lineJoin = 'round';
    context.stroke();
  }

  #drawLabels({ labels, ink, halo, walk, network }: MapScene): void {
    const context = this.#context;
    context.font = FONT;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = halo;
    context.fillStyle = ink;
    const first = new Set([...walk, ...(network && network.focus !== null ? [network.focus] : [])]);
    const ordered = labels.toSorted((a, b) => Number(first.has(b.symbol)) - Number(first.has(a.symbol)));
    const named = ordered.map(({ symbol, text }) => {
      const step = walk.indexOf(symbol);
      const name = step < 0 ? text : `${step + 1} ${text}`;
      return { symbol, text: name, width: this.#width(name), ...this.#places.get(symbol)! };
    });
    this.#names = roomFor(named, this.#size);
    for (const { text, x, y } of this.#names) {
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    }
    this.#canvas.dataset.names = String(this.#names.length);
  }

  /** Measuring a text takes longer than drawing it. */
  #width(text: string): number {
    const width = this.#widths.get(text) ?? this.#context.measureText(text).width;
    this.#widths.set(text, width);
    return width;
  }

  #ring(n: number | null, { ink, halo }: MapScene): void {
    const { places, selected } = this.#dots!;
    if (n === null || n >= selected.length) return;
    const [x, y] = toScreen(this.#camera, this.#size, [places[2 * n]!, places[2 * n + 1]!]);
    const context = this.#context;
    const radius = dotRadius(selected.length, this.#camera.zoom, this.#size.width) + 4;
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
