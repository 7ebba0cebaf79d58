import { type SyntheticConfig, syntheticOptions } from '@hidden-schema/hsn/config/network';
import {
  SYNTHETIC_DEFAULTS,
  type SyntheticSettings,
} from '@hidden-schema/hsn/tasks/synthetic/corpus/synthetic';
import type { PresetName } from './presets/preset.ts';
import { presetCorpus, syntheticPreset } from './presets/synthetic.ts';

/** A corpus of Table 1, or one that the paper's text describes and its data do not have. */
export interface Dataset {
  readonly name: 'barabasi' | 'erdos' | 'shared';
  readonly title: string;
  readonly settings: SyntheticSettings;
  /** Prior link probabilities that the paper reports of this graph (Table 5). */
  readonly priors: readonly number[];
}

/**
 * The corpora: the authors' data have disjoint bags of two tokens and 2092 links in the Erdős–Rényi graph; with the
 * `paper` preset they are as appendix E.2 has them.
 */
export function datasets(sentences: number, seed: number, settings: PaperSettings = 'near'): Dataset[] {
  const drawn = (graph: 'barabasi' | 'erdos') =>
    presetCorpus(settings === 'paper' ? 'paper' : 'authors', graph, { sentences, seed });
  return [
    { name: 'barabasi', title: 'Barabási', settings: drawn('barabasi'), priors: [0.1, 0.2] },
    { name: 'erdos', title: 'Erdős', settings: drawn('erdos'), priors: [0.5, 0.6] },
    {
      name: 'shared',
      title: 'Barabási, shared tokens',
      settings: { ...SYNTHETIC_DEFAULTS, graph: 'barabasi', tokens: 120, length: 11, sentences, seed },
      priors: [],
    },
  ];
}

/** Our settings: closed-form graph, learned density, exact expectations. */
export function ourConfig(seed: number, steps: number): SyntheticConfig {
  return syntheticOptions.parse({ seed, training: { steps, evaluateEvery: steps } });
}

/** Settings of the paper's rows: near it, in steps that end today; or a preset. */
export type PaperSettings = 'near' | PresetName;

/** The paper's settings with a prior link probability. */
export function paperConfig(
  seed: number,
  steps: number,
  p: number,
  settings: PaperSettings = 'near',
): SyntheticConfig {
  if (settings === 'near') return syntheticOptions.parse(near(seed, p, { steps, evaluateEvery: steps }));
  const { training, ...rest } = syntheticPreset(settings, p);
  // The authors' rates look at every epoch's validation.
  const length = { steps, ...(settings === 'authors' ? {} : { evaluateEvery: steps }) };
  return syntheticOptions.parse({ ...rest, seed, training: { ...(training as object), ...length } });
}

/**
 * The paper's prior, network, objective and sampling. The graph's KL is divided by the batch size, as in the program
 * behind the published numbers. Links start near the prior and node weights have a bounded range, without which samples
 * of missing links drown the gradient; rates are higher than the paper's 0.0001, which needs its 200 epochs.
 */
const near = (seed: number, p: number, length: object) => ({
  seed,
  graph: { posterior: 'pairs', prior: 'bernoulli', p, klWeight: 'batch', hard: false },
  walk: { expectation: 'sampled', hard: false, range: 5 },
  encoder: { teacher: 'none' },
  objective: { aggregation: 'mean' },
  training: { ...length, rate: 1e-3, graphRate: 3e-3, schedule: 'constant' },
});
