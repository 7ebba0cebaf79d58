import { CanvasView, type Disc } from '../canvas-view.ts';
import { type MapCamera, narrowness, type Size, toScreen } from '../texts/camera.ts';
import { followPointers } from '../texts/map-pointer.ts';
import { groundOf, inksOf } from './colours.ts';
import { Looks, shownLinks } from './looks.ts';
import { placesOf } from './places.ts';
import type { DrawnLink, Scene } from './scene.ts';

export interface NetworkEvents {
  hover(symbol: number | null): void;
  select(symbol: number | null): void;
  /** The network was moved or zoomed. */
  move?(camera: MapCamera): void;
}

const FLIGHT_MS = 450;
/** How near a symbol is seen after a flight, at least; and walks, at most. */
const NEAR = 1 / 0.45;
const NEAREST = 1 / 0.35;

/** The network alone, in an element that has a size. */
export class NetworkView extends CanvasView {
  readonly #letGo: () => void;
  readonly #events: NetworkEvents;
  #drawn: { scene: Scene; links: readonly DrawnLink[]; looks: Looks; places: readonly number[] } | undefined;
  #flight = 0;

  constructor(container: HTMLElement, events: NetworkEvents) {
    super(container);
    this.#events = events;
    this.#letGo = followPointers(container, this, {
      tool: () => 'move',
      hover: (place) => events.hover(place && this.symbolAt(place)),
      tap: (place) => events.select(this.symbolAt(place)),
      move: () => {
        this.#land();
        events.move?.(this.camera);
      },
    });
  }

  draw(scene: Scene, links: readonly DrawnLink[]): void {
    const { layout } = scene.graph;
    const places = this.#drawn?.scene.graph.layout === layout ? this.#drawn.places : placesOf(layout);
    this.#drawn = { scene, links, places, looks: new Looks(scene, links) };
    this.redraw();
  }

  flyTo(symbol: number): void {
    const [x, y] = this.#placesIn([symbol])[0] ?? [];
    if (x !== undefined && y !== undefined) this.#fly({ x, y, zoom: Math.max(this.camera.zoom, NEAR) });
  }

  /** Shows these symbols all at once. */
  fit(symbols: readonly number[]): void {
    const places = this.#placesIn(symbols);
    if (places.length === 0) return;
    const [left, right] = extremes(places.map(([x]) => x));
    const [top, bottom] = extremes(places.map(([, y]) => y));
    const zoom = 1 / (1.25 * Math.max(right - left, bottom - top, 1e-9));
    this.#fly({
      ...{ x: (left + right) / 2, y: (top + bottom) / 2 },
      zoom: Math.max(1, Math.min(NEAREST, zoom)),
    });
  }

  override destroy(): void {
    this.#land();
    this.#letGo();
    super.destroy();
  }

  protected override get isEmpty(): boolean {
    return !this.#drawn;
  }

  protected override paint(size: Size): void {
    const { scene, links, looks, places } = this.#drawn!;
    const ground = groundOf(scene.dark);
    this.context.fillStyle = `rgb(${ground.join(',')})`;
    this.context.fillRect(0, 0, size.width, size.height);
    const nodes = scene.graph.nodes
      .map(({ symbol }) => ({ symbol, ...looks.node(symbol) }))
      .sort(
        (a, b) =>
          Number(a.faint) - Number(b.faint) || Number(b.strong) - Number(a.strong) || b.radius - a.radius,
      );
    const closer = Math.sqrt(Math.max(1, this.camera.zoom)) * narrowness(size.width);
    this.discs = new Map(
      nodes.map(({ symbol, radius }): [number, Disc] => {
        const [x, y] = toScreen(this.camera, size, [places[2 * symbol]!, places[2 * symbol + 1]!]);
        return [symbol, { x, y, radius: radius * closer }];
      }),
    );
    for (const { link, look } of shownLinks(scene, links, looks))
      this.stroke([this.discs.get(link.i)!, this.discs.get(link.j)!], look.colour, look.width);
    for (const { symbol, colour } of nodes.toReversed()) this.disc(this.discs.get(symbol)!, colour);
    // Where texts of a label never go is a dot without a name.
    const isPassed = (symbol: number) => scene.map === null || scene.map.nodes[symbol]! > 0;
    const names = nodes.flatMap(({ symbol, label, strong }) =>
      label !== '' && (strong || isPassed(symbol)) ? [{ symbol, text: label }] : [],
    );
    this.drawNames(names, { ink: inksOf(scene.dark).ink, halo: `rgba(${ground.join(',')},0.85)` });
  }

  #placesIn(symbols: readonly number[]): [x: number, y: number][] {
    const places = this.#drawn?.places ?? [];
    return symbols
      .filter((symbol) => 2 * symbol < places.length)
      .map((symbol) => [places[2 * symbol]!, places[2 * symbol + 1]!]);
  }

  #fly(to: MapCamera): void {
    this.#land();
    this.context.canvas.dataset.flying = 'true';
    const from = this.camera;
    const began = performance.now();
    const frame = () => {
      const part = Math.min(1, (performance.now() - began) / FLIGHT_MS);
      const at = (a: number, b: number) => a + (b - a) * part * (2 - part);
      this.camera =
        part === 1 ? to : { x: at(from.x, to.x), y: at(from.y, to.y), zoom: at(from.zoom, to.zoom) };
      if (part < 1) this.#flight = requestAnimationFrame(frame);
      else {
        this.#land();
        this.#events.move?.(to);
      }
    };
    frame();
  }

  /** Ends a flight, wherever it is. */
  #land(): void {
    cancelAnimationFrame(this.#flight);
    delete this.context.canvas.dataset.flying;
  }
}

const extremes = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];
