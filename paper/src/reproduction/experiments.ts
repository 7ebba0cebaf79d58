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

/** What the paper reports for a row, as printed there. */
export interface Published {
  readonly [figure: string]: string;
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

/** Tables 1 and 5 of the paper. */
export const published: Record<string, Published> = {
  'barabasi/paper 0.1': {
    auc: '0.977 ± 0.003',
    edges_sampled: '1090 ± 143',
    frobenius_truth: '17 ± 2',
    frobenius_random: '27 ± 1',
    nll_authors: '53.08 ± 0.01',
    kl_walk: '0.10 ± 0.06',
    kl_graph: '9 ± 1',
  },
  'barabasi/paper 0.2': {
    auc: '0.989 ± 0.001',
    edges_sampled: '1360 ± 104',
    frobenius_truth: '17 ± 2',
    frobenius_random: '26 ± 1',
    nll_authors: '53.07 ± 0.02',
    kl_walk: '0.09 ± 0.06',
    kl_graph: '4.8 ± 0.5',
  },
  'barabasi/lstm': { nll_authors: '53.07 ± 0.01' },
  'erdos/paper 0.5': {
    auc: '0.95 ± 0.06',
    edges_sampled: '2812 ± 344',
    frobenius_truth: '34.8 ± 0.9',
    frobenius_random: '40 ± 5',
    nll_authors: '50.9 ± 0.8',
    kl_walk: '1.2 ± 0.3',
    kl_graph: '4 ± 6',
  },
  'erdos/paper 0.6': {
    auc: '0.94 ± 0.06',
    edges_sampled: '3131 ± 156',
    frobenius_truth: '36.8 ± 0.8',
    frobenius_random: '44 ± 2',
    nll_authors: '50.4 ± 0.6',
    kl_walk: '1.3 ± 0.1',
    kl_graph: '1 ± 2',
  },
  'erdos/lstm': { nll_authors: '48.24 ± 0.02' },
};
