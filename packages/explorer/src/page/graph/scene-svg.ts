import { printable } from '@hidden-schema/studies/drawing';
import { Looks, shownLinks } from './looks.ts';
import { placesOf } from './places.ts';
import type { DrawnLink, Scene } from './scene.ts';

const NS = 'http://www.w3.org/2000/svg';
const SIZE = 1000;
const MARGIN = 60;

/** Symbols that are named in a file, where nobody can point at them. */
const MOST_NAMED = 15;

/** Scenes side by side as the text of an SVG file. */
export function sceneSvg(scenes: readonly Scene[], links: readonly DrawnLink[]): string {
  const width = SIZE * scenes.length;
  const svg = element('svg', { viewBox: `0 0 ${width} ${SIZE}`, width, height: SIZE });
  svg.append(element('rect', { width, height: SIZE, fill: scenes[0]!.dark ? '#12171e' : '#ffffff' }));
  for (const [at, scene] of scenes.entries()) {
    const group = element('g', { transform: `translate(${at * SIZE} 0)` });
    group.append(...drawScene(scene, links));
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

type Place = [x: number, y: number];

/** Where each symbol is drawn. */
function placesIn({ graph }: Scene): Place[] {
  const places = placesOf(graph.layout).map((value) => MARGIN + value * (SIZE - 2 * MARGIN));
  return graph.nodes.map((_, k) => [places[2 * k]!, places[2 * k + 1]!]);
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function drawScene(scene: Scene, links: readonly DrawnLink[]): SVGElement[] {
  const looks = new Looks(scene, links);
  const places = placesIn(scene);
  const named = mostNamed(scene);
  const lines = shownLinks(scene, links, looks).map(({ link, look }) => {
    const [[x1, y1], [x2, y2]] = [places[link.i]!, places[link.j]!];
    return element('line', { x1, y1, x2, y2, stroke: look.colour, 'stroke-width': look.width });
  });
  const nodes = scene.graph.nodes.flatMap(({ symbol }) => {
    const { colour, radius, label, strong } = looks.node(symbol);
    const [cx, cy] = places[symbol]!;
    const circle = element('circle', { cx, cy, r: radius * 1.3, fill: colour, 'data-symbol': symbol });
    if (!strong && !named.has(symbol)) return [circle];
    return [circle, textAt([cx + radius * 1.3 + 5, cy + 5], 16, label, scene.dark)];
  });
  return [...lines, ...nodes];
}

function textAt([x, y]: Place, size: number, content: string, dark: boolean): SVGElement {
  const fill = dark ? '#d7dee9' : '#27313f';
  const made = element('text', { x, y, fill, 'font-size': size, 'font-family': 'system-ui, sans-serif' });
  made.textContent = printable(content);
  return made;
}
