import { drawing, linePath, type Mark, mark, placed, text } from '@hidden-schema/studies/drawing';
import { type Inks, inksOf } from './colours.ts';
import { Looks, shownLinks } from './looks.ts';
import { placesOf } from './places.ts';
import type { DrawnLink, Scene } from './scene.ts';

const SIZE = 1000;
const MARGIN = 60;

/** Symbols that are named in a file, where nobody can point at them. */
const MOST_NAMED = 15;

/** Scenes side by side as the text of an SVG file. */
export function sceneSvg(scenes: readonly Scene[], links: readonly DrawnLink[]): string {
  const inks = inksOf(scenes[0]!.dark);
  const panels = scenes.map((scene, at) => placed(at * SIZE, 0, ...sceneMarks(scene, links, inks)));
  return drawing({ width: SIZE * scenes.length, height: SIZE, inks }, 'The network of themes', panels);
}

function mostNamed({ graph, map }: Scene): ReadonlySet<number> {
  const share = (k: number) => map?.nodes[k] ?? graph.nodes[k]!.usage;
  const ranked = graph.nodes.map(({ symbol }) => symbol).sort((a, b) => share(b) - share(a));
  return new Set(ranked.slice(0, MOST_NAMED));
}

function sceneMarks(scene: Scene, links: readonly DrawnLink[], { ink: colour }: Inks): Mark[] {
  const looks = new Looks(scene, links);
  const places = placesOf(scene.graph.layout).map((value) => MARGIN + value * (SIZE - 2 * MARGIN));
  const placeOf = (symbol: number) => [places[2 * symbol]!, places[2 * symbol + 1]!] as const;
  const named = mostNamed(scene);
  const lines = shownLinks(scene, links, looks).map(({ link, look }) => {
    const d = linePath(placeOf(link.i), placeOf(link.j));
    return mark('path', { d, fill: 'none', stroke: look.colour, 'stroke-width': look.width });
  });
  const nodes = scene.graph.nodes.flatMap(({ symbol }) => {
    const { colour: fill, radius, label, strong } = looks.node(symbol);
    const [cx, cy] = placeOf(symbol);
    const circle = mark('circle', { cx, cy, r: radius * 1.3, fill, 'data-symbol': symbol });
    if (!strong && !named.has(symbol)) return [circle];
    return [circle, text(cx + radius * 1.3 + 5, cy + 5, label, { size: 16, colour })];
  });
  const label = scene.map ? [text(30, 40, scene.map.label, { size: 26, colour })] : [];
  return [...lines, ...nodes, ...label];
}
