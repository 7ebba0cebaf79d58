import { CanvasView, type Disc } from '../canvas-view.ts';
import { WALK_COLOUR } from '../graph/colours.ts';
import type { StrongLink } from '../graph/scene.ts';
import { narrowness, type Size, toScreen } from './camera.ts';
import { DotPainter, type Dots, dotRadius } from './dots.ts';
import type { MapLabel } from './map-labels.ts';

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

/** The map of texts in an element: dots, words of symbols, and the line that is being drawn. */
export class MapView extends CanvasView {
  readonly #painter = new DotPainter();
  #dots: Dots | undefined;
  #scene: MapScene | undefined;

  draw(dots: Dots, scene: MapScene): void {
    if (dots !== this.#dots) this.#painter.set(dots);
    this.#dots = dots;
    this.#scene = scene;
    this.redraw();
  }

  protected override get isEmpty(): boolean {
    return !this.#dots || !this.#scene;
  }

  protected override paint(size: Size): void {
    const scene = this.#scene!;
    const { width, height } = this.context.canvas;
    this.context.putImageData(this.#painter.paint(this.camera, { width, height }, this.ratio), 0, 0);
    this.#drawLine(scene);
    this.discs = this.#screenDiscs(scene, size);
    if (scene.network) this.#drawLinks(scene, scene.network);
    this.#drawWalk(scene);
    if (scene.network) this.#drawDiscs(scene, scene.network);
    this.#drawLabels(scene);
    this.#ring(scene.chosen, scene);
    this.#ring(scene.pointed, scene);
  }

  #drawLine({ around, accent }: MapScene): void {
    const known = Array.from({ length: around.length >> 1 }, (_, at) =>
      toScreen(this.camera, this.size, [around[2 * at]! / 1000, around[2 * at + 1]! / 1000]),
    );
    const line = this.line.length > 0 ? this.line : known;
    if (line.length < 2) return;
    const { context } = this;
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

  #screenDiscs({ labels, network }: MapScene, size: Size): Map<number, Disc> {
    const most = labels.reduce((largest, { texts }) => Math.max(largest, texts), 1);
    return new Map(
      labels.map(({ symbol, x, y, texts }) => {
        const [left, top] = toScreen(this.camera, size, [x, y]);
        const radius = network ? narrowness(size.width) * (4 + 8 * Math.sqrt(texts / most)) : 0;
        return [symbol, { x: left, y: top, radius }];
      }),
    );
  }

  #drawLinks({ ink }: MapScene, { links, focus }: MapNetwork): void {
    for (const [i, j, strength] of links) {
      const ends = [this.discs.get(i), this.discs.get(j)];
      if (!ends[0] || !ends[1]) continue;
      const stands = focus === i || focus === j;
      this.context.globalAlpha = focus === null ? 0.16 + 0.4 * strength : stands ? 0.85 : 0.08;
      this.stroke(ends as Disc[], ink, 0.7 + 2.6 * strength + (stands ? 0.6 : 0));
    }
    this.context.globalAlpha = 1;
  }

  #drawDiscs({ labels, halo }: MapScene, { colourOf }: MapNetwork): void {
    for (const { symbol } of labels) {
      this.disc(this.discs.get(symbol)!, colourOf(symbol));
      this.context.strokeStyle = halo;
      this.context.lineWidth = 2;
      this.context.stroke();
    }
  }

  /** Over the symbols of a walk in their order, from the text's dot where there is one; or several walks, thinner. */
  #drawWalk({ walk, paths, pointed, chosen }: MapScene): void {
    const stepsOf = (symbols: readonly number[]) => symbols.flatMap((symbol) => this.discs.get(symbol) ?? []);
    for (const path of paths) this.stroke(stepsOf(path), WALK_COLOUR, 1.5 + 3 / paths.length);
    const text = pointed ?? chosen;
    const { places } = this.#dots!;
    const steps = stepsOf(walk);
    if (steps.length === 0) return;
    const known = text !== null && 2 * text < places.length;
    const [x, y] = known
      ? toScreen(this.camera, this.size, [places[2 * text]!, places[2 * text + 1]!])
      : [steps[0]!.x, steps[0]!.y];
    this.stroke([{ x, y }, ...steps], WALK_COLOUR, 3.5);
    for (const { x, y, radius } of steps) this.disc({ x, y, radius: radius + 4 }, WALK_COLOUR);
  }

  #drawLabels({ labels, ink, halo, walk, network }: MapScene): void {
    const first = new Set([...walk, ...(network && network.focus !== null ? [network.focus] : [])]);
    const ordered = labels.toSorted((a, b) => Number(first.has(b.symbol)) - Number(first.has(a.symbol)));
    const names = ordered.map(({ symbol, text }) => {
      const step = walk.indexOf(symbol);
      return { symbol, text: step < 0 ? text : `${step + 1} ${text}` };
    });
    this.drawNames(names, { ink, halo });
  }

  #ring(n: number | null, { ink, halo }: MapScene): void {
    const { places, selected } = this.#dots!;
    if (n === null || n >= selected.length) return;
    const [x, y] = toScreen(this.camera, this.size, [places[2 * n]!, places[2 * n + 1]!]);
    const radius = dotRadius(selected.length, this.camera.zoom, this.size.width) + 4;
    for (const [colour, width] of [
      [halo, 5],
      [ink, 2],
    ] as const) {
      this.context.beginPath();
      this.context.arc(x, y, radius, 0, 2 * Math.PI);
      this.context.strokeStyle = colour;
      this.context.lineWidth = width;
      this.context.stroke();
    }
  }
}
