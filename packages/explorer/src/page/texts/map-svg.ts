import { css, mapFigure } from '@hidden-schema/studies/drawing';
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
  return mapFigure(data, {
    title: `What ${data.count.toLocaleString('en')} texts are about`,
    subtitle: `Each dot is a text, each name one of ${graph.nodes.length} themes found in the texts`,
    symbols: graph.nodes.map((node, k) => ({ name: title(node), usage: node.usage, colour: tones[k]! })),
    links: networked ? strongLinks(graph) : [],
    inks: inksOf(dark),
  });
}
