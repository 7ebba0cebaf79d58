import type { TextBatch } from '@hidden-schema/text';
import { int64, type Tensor } from '@hidden-schema/torch';
import type { LanguageDecoder } from '@hidden-schema/transformers';
import type { LanguageConfig } from '../../config/language.ts';
import type { PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import type { WalkEncoder } from '../../encoder/walk-queries.ts';
import { likelyLinks } from '../../graph/likely.ts';
import type { HiddenSchemaNetwork, ModelSpec } from '../../model.ts';
import { WalkableGraph } from '../../walk/walkable-graph.ts';

/** Texts as the network takes them, with a frozen encoder's states, or points, of them where they are known already, and how many passages each has. */
export type ReadTexts = Omit<TextBatch, 'labels' | 'rows'> & {
  states?: Tensor | undefined;
  points?: Tensor | undefined;
  passages?: Int32Array | undefined;
};

/** Natural language (Section 5). */
export interface LanguageKind {
  batch: ReadTexts;
  encoder: WalkEncoder | PursuitEncoder;
  decoder: LanguageDecoder;
  config: LanguageConfig;
}

/** The network of texts. */
export type LanguageNetwork = HiddenSchemaNetwork<LanguageKind>;

/**
 * The graph that walks of texts are read on: every link at its probability; walks that pursue keep to those that are more
 * probable than not, however sure a step is of a symbol elsewhere.
 */
export function readGraph(model: LanguageNetwork): WalkableGraph {
  if (model.encoder.reads !== 'points') return model.expectedGraph();
  const links = model.graph.links().matrix();
  return new WalkableGraph(links.mul(likelyLinks(links)), model.config.walk.isolated);
}

/** The symbols of walks, as a network's decoder reads them. [M, L, S] */
export function schemaOf(
  model: Pick<HiddenSchemaNetwork<ModelSpec>, 'schema' | 'shape'>,
  walks: readonly (readonly number[])[],
): Tensor {
  const nodes = int64(walks.flat(), [walks.length, walks[0]!.length]);
  return model.schema(nodes.oneHot(model.shape.symbols).to('float32').unbind(1)).vectors();
}
