import type { Graph, MapAnswer } from '../client.ts';
import { strongLinks } from '../graph/scene.ts';
import { title } from '../labels.ts';
import { textDataOf } from '../texts/text-data.ts';
import type { SchemaMapProps } from './schema-map.ts';
import type { SchemaNetworkProps } from './schema-network.ts';
import type { Theme } from './themes.ts';

const themesOf = ({ nodes }: Graph): Theme[] =>
  nodes.map((node) => ({ name: title(node), usage: node.usage, community: node.community }));

/** What a map shows of a run: the answers of `GET /api/map` and `GET /api/graph`. */
export function mapPropsOf(map: MapAnswer, graph: Graph): SchemaMapProps {
  const { places, walks, length } = textDataOf(map);
  return { places, walks, length, themes: themesOf(graph), links: strongLinks(graph) };
}

/** What a network shows of a run: the answer of `GET /api/graph`. */
export function networkPropsOf(graph: Graph): SchemaNetworkProps {
  return { themes: themesOf(graph), links: strongLinks(graph), layout: graph.layout };
}
