import { type SyntheticConfig, syntheticOptions } from '@hidden-schema/hsn/config/network';
import {
  SYNTHETIC_DEFAULTS,
  type SyntheticSettings,
} from '@hidden-schema/hsn/tasks/synthetic/corpus/synthetic';

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

/** The published corpora have disjoint bags of two tokens, and 2092 links in the Erdős–Rényi graph. */
export function datasets(sentences: number, seed: number): Dataset[] {
  const disjoint = { ...SYNTHETIC_DEFAULTS, disjoint: true, tokens: 200, sentences, seed };
  return [
    {
      name: 'barabasi',
      title: 'Barabási',
      settings: { ...disjoint, graph: 'barabasi', length: 11 },
      priors: [0.1, 0.2],
    },
    {
      name: 'erdos',
      title: 'Erdős',
      settings: { ...disjoint, graph: 'erdos', graphOptions: { probability: 2092 / 4950 }, length: 10 },
      priors: [0.5, 0.6],
    },
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

/** How near to the paper's settings its rows are: in steps that end today, or as appendix E has them. */
export type PaperSettings = 'near' | 'written';

/** The paper's settings with a prior link probability. */
export function paperConfig(
  seed: number,
  steps: number,
  p: number,
  settings: PaperSettings = 'near',
): SyntheticConfig {
  const length = { steps, evaluateEvery: steps };
  return syntheticOptions.parse(settings === 'near' ? near(seed, p, length) : written(seed, p, length));
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

/** Appendix E, as experiments/synthetic/paper-barabasi.yaml has it. */
const written = (seed: number, p: number, length: object) => ({
  seed,
  symbols: 100,
  graph: { posterior: 'pairs', prior: 'bernoulli', p, symbols: 'bags', hard: false, klWeight: 'one' },
  walk: { range: 'none', expectation: 'sampled', hard: false },
  encoder: { readout: 'queries', teacher: 'none' },
  objective: { aggregation: 'mean' },
  training: {
    ...{ ...length, rate: 1e-4, graphRate: 1e-4, clip: 'none', warmup: 0 },
    ...{ schedule: 'constant', patience: 1_000_000 },
  },
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
