import { type Config, configSchema, SYNTHETIC_DEFAULTS, type SyntheticSettings } from '@hidden-schema/hsn';

/** A corpus of Table 1, or one that the paper's text describes and its data do not have. */
export interface Dataset {
  readonly name: 'barabasi' | 'erdos' | 'shared';
  readonly title: string;
  readonly settings: SyntheticSettings;
  /** The prior link probability the paper trains this graph with. */
  readonly paperP: number;
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
      paperP: 0.2,
    },
    {
      name: 'erdos',
      title: 'Erdős',
      settings: { ...disjoint, graph: 'erdos', graphOptions: { probability: 2092 / 4950 }, length: 10 },
      paperP: 0.6,
    },
    {
      name: 'shared',
      title: 'Barabási, shared tokens',
      settings: { ...SYNTHETIC_DEFAULTS, graph: 'barabasi', tokens: 120, length: 11, sentences, seed },
      paperP: 0.2,
    },
  ];
}

/** Our settings: closed-form graph, learned density, exact expectations. */
export function ourConfig(seed: number, steps: number): Config {
  return configSchema.parse({ seed, training: { steps, evaluateEvery: steps } });
}

/**
 * The paper's: Bernoulli prior, network g over pairs, mean transition matrices, sampled walks and graphs.
 * The graph's KL is divided by the batch size, as in the program behind the published numbers. Links start near the
 * prior and node weights have a bounded range, without which samples of missing links drown the gradient; rates are
 * higher than the paper's 0.0001, which needs its 200 epochs.
 */
export function paperConfig(seed: number, steps: number, p: number): Config {
  return configSchema.parse({
    seed,
    graph: { posterior: 'pairs', prior: 'bernoulli', p, klWeight: 'batch', hard: false },
    walk: { expectation: 'sampled', hard: false, range: 5 },
    encoder: { teacher: 'none' },
    objective: { aggregation: 'mean' },
    training: { steps, rate: 1e-3, graphRate: 3e-3, schedule: 'constant', evaluateEvery: steps },
  });
}

/** Tables 1 and 5 of the paper. */
export const published: Record<string, Published> = {
  'barabasi/paper': {
    auc: '0.989 ± 0.001',
    edges_sampled: '1360 ± 104',
    frobenius_truth: '17 ± 2',
    frobenius_random: '26 ± 1',
    nll_authors: '53.07 ± 0.02',
    kl_walk: '0.09 ± 0.06',
  },
  'barabasi/lstm': { nll_authors: '53.07 ± 0.01' },
  'erdos/paper': {
    auc: '0.94 ± 0.06',
    edges_sampled: '3131 ± 156',
    frobenius_truth: '36.8 ± 0.8',
    frobenius_random: '44 ± 2',
    nll_authors: '50.4 ± 0.6',
    kl_walk: '1.3 ± 0.1',
  },
  'erdos/lstm': { nll_authors: '48.24 ± 0.02' },
};
