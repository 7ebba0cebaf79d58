import { printable } from '@hidden-schema/studies/drawing';
import { Looks } from './looks.ts';
import { placesOf } from './places.ts';
import { type DrawnLink, highlightedWalks, linkOf, pairKey, type Scene, steppedPairs } from './scene.ts';
import { around, type GraphView, type ViewEvents } from './view.ts';

const NS = 'http://www.w3.org/2000/svg';
const SIZE = 1000;
const MARGIN = 60;

/** The graph as SVG: slower with many links, but needs nothing of the machine. Also what is downloaded. */
export class PlainView implements GraphView {
  readonly kind = 'plain';
  readonly #svg = document.createElementNS(NS, 'svg');
  #box = { x: 0, y: 0, size: SIZE };
  #scene: Scene | undefined;
  /** What the button went down on: hovering may redraw before it goes up, and the click then hits nothing. */
  #pressed: number | null = null;

  constructor(container: HTMLElement, events: ViewEvents) {
    this.#svg.setAttribute('class', 'plain-graph');
    this.#frame();
    this.#svg.addEventListener('mousedown', (event) => {
      this.#pressed = symbolAt(event.target);
    });
    this.#svg.addEventListener('click', (event) => events.select(symbolAt(event.target) ?? this.#pressed));
    this.#svg.addEventListener('mouseover', (event) => {
      const symbol = symbolAt(event.target);
      if (symbol !== (this.#scene?.hovered ?? null)) events.hover(symbol);
    });
    container.append(this.#svg);
  }

  draw(scene: Scene, links: readonly DrawnLink[]): void {
    this.#scene = scene;
    this.#svg.replaceChildren(...drawScene(scene, links));
  }

  flyTo(symbol: number): void {
    if (!this.#scene) return;
    const [x, y] = placeOf(this.#scene, symbol);
    const size = Math.min(this.#box.size, SIZE * 0.45);
    this.#box = { x: x - size / 2, y: y - size / 2, size };
    this.#frame();
  }

  fit(symbols: readonly number[]): void {
    if (!this.#scene || symbols.length === 0) return;
    const places = symbols.map((symbol) => {
      const [x, y] = placeOf(this.#scene!, symbol);
      return { x, y };
    });
    const box = around(places);
    const size = Math.min(SIZE, Math.max(SIZE * 0.35, 1.25 * box.size));
    this.#box = { x: box.x - size / 2, y: box.y - size / 2, size };
    this.#frame();
  }

  zoom(factor: number): void {
    const { x, y, size } = this.#box;
    const next = Math.min(4 * SIZE, Math.max(SIZE / 50, size * factor));
    this.#box = { x: x + (size - next) / 2, y: y + (size - next) / 2, size: next };
    this.#frame();
  }

  pan(dx: number, dy: number): void {
    const { x, y, size } = this.#box;
    this.#box = { x: x + dx * size, y: y + dy * size, size };
    this.#frame();
  }

  reset(): void {
    this.#box = { x: 0, y: 0, size: SIZE };
    this.#frame();
  }

  destroy(): void {
    this.#svg.remove();
  }

  #frame(): void {
    const { x, y, size } = this.#box;
    this.#svg.setAttribute('viewBox', `${x} ${y} ${size} ${size}`);
  }
}

/** Symbols that are named in a file, where nobody can point at them. */
const MOST_NAMED = 15;

/** Scenes side by side as the text of an SVG file. */
export function sceneSvg(scenes: readonly Scene[], links: readonly DrawnLink[]): string {
  const width = SIZE * scenes.length;
  const svg = element('svg', { viewBox: `0 0 ${width} ${SIZE}`, width, height: SIZE });
  svg.append(element('rect', { width, height: SIZE, fill: scenes[0]!.dark ? '#12171e' : '#ffffff' }));
  for (const [at, scene] of scenes.entries()) {
    const group = element('g', { transform: `translate(${at * SIZE} 0)` });
    group.append(...drawScene(scene, links, mostNamed(scene)));
    if (scene.map) group.append(textAt([30, 40], 26, scene.map.label, scene.dark));
    svg.append(group);
  }
  return new XMLSerializer().serializeToString(svg);
}

function mostNamed({ graph, map }: Scene): ReadonlySet<number> {
  const share = (k: number) => map?.nodes[k] ?? graph.nodes[k]!.usage;
  const ranked = graph.nodes.map(({ symbol }) => symbol).sort((a, b) => share(b) - share(a));
  return new Set(ranked.slice(0, MOST_NAMED));
}

function symbolAt(target: EventTarget | null): number | null {
  const symbol = target instanceof Element ? target.getAttribute('data-symbol') : null;
  return symbol === null ? null : Number(symbol);
}

/** Places of the layouts that are drawn, worked out once. */
const placesByLayout = new WeakMap<readonly number[], number[]>();

type Place = [x: number, y: number];

function placeOf({ graph }: Scene, symbol: number): Place {
  const places = placesByLayout.get(graph.layout) ?? placesOf(graph.layout);
  placesByLayout.set(graph.layout, places);
  const place = (value: number) => MARGIN + value * (SIZE - 2 * MARGIN);
  return [place(places[2 * symbol]!), place(places[2 * symbol + 1]!)];
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function drawScene(scene: Scene, links: readonly DrawnLink[], named?: ReadonlySet<number>): SVGElement[] {
  const looks = new Looks(scene, links);
  const known = new Set(links.map(({ i, j }) => pairKey(i, j)));
  const stepped = steppedPairs(highlightedWalks(scene))
    .filter(({ i, j }) => !known.has(pairKey(i, j)))
    .map(
      ({ i, j }): DrawnLink => ({ i, j, probability: linkOf(scene.graph, i, j), strength: 0, isTrue: false }),
    );
  const lines = [...links, ...stepped]
    .flatMap((link) => {
      const look = looks.link(link);
      return look ? [{ link, look }] : [];
    })
    .sort((a, b) => a.look.level - b.look.level)
    .map(({ link, look }) => {
      const [x1, y1] = placeOf(scene, link.i);
      const [x2, y2] = placeOf(scene, link.j);
      return element('line', { x1, y1, x2, y2, stroke: look.colour, 'stroke-width': look.width });
    });
  const nodes = scene.graph.nodes.flatMap(({ symbol }) =>
    drawNode(scene, symbol, looks, named?.has(symbol) ?? false),
  );
  return [...lines, ...nodes];
}

function drawNode(scene: Scene, symbol: number, looks: Looks, named: boolean): SVGElement[] {
  const { colour, radius, label, strong } = looks.node(symbol);
  const [cx, cy] = placeOf(scene, symbol);
  const circle = element('circle', { cx, cy, r: radius * 1.3, fill: colour, 'data-symbol': symbol });
  if (!strong && !named) return [circle];
  return [circle, textAt([cx + radius * 1.3 + 5, cy + 5], 16, label, scene.dark)];
}

function textAt([x, y]: Place, size: number, content: string, dark: boolean): SVGElement {
  const fill = dark ? '#d7dee9' : '#27313f';
  const made = element('text', { x, y, fill, 'font-size': size, 'font-family': 'system-ui, sans-serif' });
  made.textContent = printable(content);
  return made;
}
