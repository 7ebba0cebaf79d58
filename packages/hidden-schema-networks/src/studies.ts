/// <reference types="node" preserve="true" />
/**
 * Analyses of a run: statistics of its graph beside random graphs, walks of its corpus, maps of labels, meanings of
 * symbols. `analysis` declares one of your own, which `schema.ask` runs.
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
  type Analysis,
  type AnalysisSource,
  analysis,
  EncodedCorpus,
  type EncodingOptions,
  encodedCorpus,
  graphStatistics,
  type LabelledWalks,
  type LabelMaps,
  labelMaps,
  openRun,
  type Report,
  type SymbolMeaning,
  storedMeanings,
  studyGraph,
} from '@hidden-schema/studies';
