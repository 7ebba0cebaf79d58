/// <reference types="node" preserve="true" />
/**
 * Analyses of a run: statistics of its graph beside random graphs, walks of its corpus, maps of labels, meanings of
 * symbols. The verbs `hsn graph`, `labels`, `symbols` print what these give.
 *
 * @example
 * import { encodedCorpus, labelMaps, openRun } from 'hidden-schema-networks/studies';
 *
 * const run = await openRun('run');
 * const { maps, divergence } = labelMaps(await encodedCorpus(run, { limit: 2000 }));
 *
 * @module hidden-schema-networks/studies
 */

export { linkProbabilities, type OpenedRun } from '@hidden-schema/hsn';
export {
  EncodedCorpus,
  type EncodingOptions,
  encodedCorpus,
  graphStatistics,
  type LabelledWalks,
  type LabelMaps,
  labelMaps,
  openRun,
  type SymbolMeaning,
  storedMeanings,
  studyGraph,
} from '@hidden-schema/studies';
