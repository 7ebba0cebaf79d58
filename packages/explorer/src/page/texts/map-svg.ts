import { communityColour, css, networkFigure, symbolCentres } from '@hidden-schema/studies/drawing';
import type { Graph } from '../client.ts';
import { inksOf, tonesOf } from '../graph/colours.ts';
import { strongLinks } from '../graph/scene.ts';
import { title } from '../labels.ts';
import type { TextData } from './text-data.ts';

interface DrawnMap {
  graph: Graph;
  data: TextData;
  dark: boolean;
  /** Whether the network is drawn over the texts. */
  networked: boolean;
}

/** The map as a picture to print: texts as dots, every name with room of its own. */
export function mapSvg({ graph, data, dark, networked }: DrawnMap): string {
  const tones = tonesOf(graph.nodes, dark).map(css);
  const centres = symbolCentres(data);
  // Symbols that no text passes have no place.
  const placed = graph.nodes.filter(({ symbol }) => !Number.isNaN(centres[2 * symbol]!));
  const at = new Map(placed.map(({ symbol }, place) => [symbol, place]));
  const links = networked ? strongLinks(graph) : [];
  return networkFigure({
    title: `What ${data.count.toLocaleString('en')} texts are about`,
    subtitle: `Each dot is a text, each name one of ${graph.nodes.length} themes found in the texts`,
    symbols: placed.map((node) => ({
      ...{ name: title(node), usage: node.usage },
      colour: tones[node.symbol] ?? communityColour(-1),
    })),
    layout: placed.flatMap(({ symbol }) => [centres[2 * symbol]!, centres[2 * symbol + 1]!]),
    links: links.flatMap(([i, j, strength]) =>
      at.has(i) && at.has(j) ? [[at.get(i)!, at.get(j)!, strength] as const] : [],
    ),
    dots: { places: data.places, colourOf: (n) => tones[data.walks[n * data.length]!]! },
    inks: inksOf(dark),
  });
}
