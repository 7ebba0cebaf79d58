import {
  SYNTHETIC_DEFAULTS,
  type SyntheticSettings,
} from '@hidden-schema/hsn/tasks/synthetic/corpus/synthetic';
import { NO_PATIENCE, type PresetName, type PresetSettings } from './preset.ts';

export type SyntheticGraph = 'barabasi' | 'erdos';

/** Appendix E.2: Adam's rate and the batch; 70 000 of the 100 000 sentences train. */
const BATCH = 256;
const RATE = 1e-4;
const EPOCHS = 200;
const TRAINING_SENTENCES = 70_000;
/** Steps of an epoch where the last, smaller batch is left out. */
const FULL_BATCHES = Math.floor(TRAINING_SENTENCES / BATCH);

export const WALK_LENGTHS = { barabasi: 11, erdos: 10 } as const;

/** Appendix E.2: a Transformer of 2 blocks; learnable queries as in appendix C.2, or a step a token (authors). */
const encoder = (readout: 'queries' | 'position') => ({
  ...{ width: 256, heads: 2, blocks: 2, hidden: 256, dropout: 0.2, readout, teacher: 'none' },
});

/** Appendix E as written, nothing else. */
const paper = (p: number): PresetSettings => ({
  symbols: 100,
  graph: {
    ...{ posterior: 'pairs', prior: 'bernoulli', p, symbols: 'bags', hidden: 256, layers: 1 },
    ...{ temperature: 0.75, hard: false, klWeight: 'one' },
  },
  walk: {
    ...{ prior: 'uniform', posterior: 'graph', form: 'paper', range: 'none', expectation: 'sampled' },
    ...{ temperature: 0.75, hard: false },
  },
  encoder: encoder('queries'),
  objective: { kind: 'information', aggregation: 'mean' },
  training: {
    ...{ steps: Math.ceil((EPOCHS * TRAINING_SENTENCES) / BATCH), batch: BATCH, rate: RATE, graphRate: RATE },
    ...{ decay: 0, clip: 'none', warmup: 0, schedule: 'constant', patience: NO_PATIENCE },
  },
});

/** The authors' experiments/synthetic/*_schema.yaml, and the program that reads them. */
const authors: PresetSettings = {
  symbols: 100,
  graph: {
    ...{ posterior: 'inner-normed', prior: 'drawn', symbols: 'bags', hidden: 256, layers: 1 },
    ...{ temperature: 1, hard: true, klWeight: 'batch', logZero: 'free' },
  },
  walk: {
    ...{ prior: 'uniform', posterior: 'graph', form: 'symmetric', constant: 1, range: 'none' },
    ...{ isolated: 'uniform', expectation: 'sampled', temperature: 0.75, hard: true },
  },
  encoder: encoder('position'),
  objective: { kind: 'information', aggregation: 'mean', likelihood: 'bags-as-logits' },
  training: {
    ...{ steps: EPOCHS * FULL_BATCHES, batch: BATCH, rate: RATE, graphRate: RATE, decay: 0, clip: 'none' },
    ...{ warmup: 0, schedule: 'plateau', evaluateEvery: FULL_BATCHES, validateBy: 'likelihood' },
    patience: NO_PATIENCE,
    plateau: { factor: 0.25, patience: 2, least: 1e-8 },
  },
};

/** The settings of a synthetic experiment; the authors' prior has no p. */
export const syntheticPreset = (preset: PresetName, p: number): PresetSettings =>
  preset === 'paper' ? paper(p) : authors;

/**
 * The corpus of a synthetic experiment. Appendix E.2: 1000 tokens that bags may share, and links with probability 0.5.
 * The authors' data: 200 tokens in disjoint bags, and 2092 links.
 */
export function presetCorpus(
  preset: PresetName,
  graph: SyntheticGraph,
  { sentences, seed }: { sentences: number; seed: number },
): SyntheticSettings {
  const tokens = preset === 'paper' ? { tokens: 1000, disjoint: false } : { tokens: 200, disjoint: true };
  const probability = preset === 'paper' ? 0.5 : 2092 / 4950;
  const graphOptions = graph === 'erdos' ? { graphOptions: { probability } } : {};
  return {
    ...SYNTHETIC_DEFAULTS,
    ...tokens,
    graph,
    ...graphOptions,
    length: WALK_LENGTHS[graph],
    sentences,
    seed,
  };
}
