import { type Random, UserError } from '@hidden-schema/base';
import {
  type Adjacency,
  degrees,
  edgeCount,
  type GraphModel,
  graphFaults,
  graphModel,
  isGraphKind,
  randomGraph,
} from './corpus/graphs.ts';
import type { CorpusRecord } from './corpus/writer.ts';

/** How well q(A) recovers the true graph G* (Table 1); every figure is over the pairs i < j. */
export interface Recovery {
  /** ROC AUC of link probabilities; null when the truth has no edge, or no pair without one. */
  auc: number | null;
  average_precision: number | null;
  /** ‖G* - q(A)‖_F over link probabilities, the only reading that fits the paper's 17. */
  frobenius_truth: number;
  /** The same with G^rand in place of G*: mean over fresh graphs of the true graph's model. */
  frobenius_random: number;
  /** ‖G* - G‖_F, G ~ q(A) a binary graph: mean over samples of the root of the number of differing pairs. */
  frobenius_truth_sampled: number;
  frobenius_random_sampled: number;
  /** Mean number of edges of G ~ q(A). */
  edges_sampled: number;
  /** Σ q(A_ij = 1). */
  edges_expected: number;
  edges_truth: number;
}

export interface RecoveryOptions {
  random: Random;
  /** How many G ~ q(A), each with a fresh G^rand, the means are taken over. */
  samples: number;
  /** What pairs are ranked by in place of their probabilities, which saturate: logits, row-major [K, K]. */
  scores?: Float64Array;
  /** The model G* came from; guessed from G* when not given. */
  model?: GraphModel;
}

/** Compares link probabilities (row-major [K, K], symmetric) with the true graph. */
export function recovery(links: Float64Array, truth: Adjacency, options: RecoveryOptions): Recovery {
  const { random, samples, model = guessGraphModel(truth) } = options;
  if (!Number.isInteger(samples) || samples < 1)
    throw new UserError(`recovery: samples must be a whole number of at least 1, got ${samples}`);

  if (links.length !== truth.nodes ** 2)
    throw new UserError(`recovery: expected ${truth.nodes ** 2} link probabilities, got ${links.length}`);

  const probabilities = upperTriangle(links, truth.nodes);
  const bad = probabilities.findIndex((p) => !(p >= 0 && p <= 1));
  if (bad >= 0)
    throw new UserError(`recovery: expected link probabilities from 0 to 1, got ${probabilities[bad]}`);
  const edges = upperTriangle(truth.data, truth.nodes);
  const ranked = options.scores ? upperTriangle(options.scores, truth.nodes) : probabilities;
  const sum = { random: 0, truthSampled: 0, randomSampled: 0, edges: 0 };
  for (let sample = 0; sample < samples; sample++) {
    const graph = probabilities.map((p) => (random.next() < p ? 1 : 0));
    const fresh = randomGraph(model.kind, truth.nodes, model.options, random).adjacency;
    const other = upperTriangle(fresh.data, truth.nodes);
    sum.random += distance(other, probabilities);
    sum.truthSampled += distance(edges, graph);
    sum.randomSampled += distance(other, graph);
    sum.edges += total(graph);
  }
  return {
    auc: rocAuc(ranked, edges),
    average_precision: averagePrecision(ranked, edges),
    frobenius_truth: distance(edges, probabilities),
    frobenius_random: sum.random / samples,
    frobenius_truth_sampled: sum.truthSampled / samples,
    frobenius_random_sampled: sum.randomSampled / samples,
    edges_sampled: sum.edges / samples,
    edges_expected: total(probabilities),
    edges_truth: total(edges),
  };
}

/** Entries i < j, row by row. */
export function upperTriangle(matrix: ArrayLike<number>, nodes: number): Float64Array {
  const result = new Float64Array((nodes * (nodes - 1)) / 2);
  let at = 0;
  for (let i = 0; i < nodes; i++) for (let j = i + 1; j < nodes; j++) result[at++] = matrix[i * nodes + j]!;

  return result;
}

const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

const distance = (a: Float64Array, b: Float64Array) =>
  Math.sqrt(a.reduce((sum, x, at) => sum + (x - b[at]!) ** 2, 0));

/** The model a corpus was drawn from: its record if there is one, else a guess from the graph. */
export function corpusGraphModel(corpus: {
  truth?: Adjacency;
  generator?: CorpusRecord;
}): GraphModel | undefined {
  const settings = corpus.generator?.settings;
  const { truth } = corpus;
  if (!truth) return undefined;
  if (settings && isGraphKind(settings.graph)) {
    const options = settings.graphOptions ?? {};
    if (graphFaults(settings.graph, truth.nodes, options).length === 0)
      return graphModel(settings.graph, options);
  }
  return guessGraphModel(truth);
}

/**
 * Barabási-Albert where both its marks are there: m·(K - m) edges for a whole m, and degrees that vary far more
 * than independent links would let them. Otherwise Erdős-Rényi of the same density.
 */
export function guessGraphModel(truth: Adjacency): GraphModel {
  const { nodes } = truth;
  const edges = edgeCount(truth);
  const degree = degrees(truth);
  const mean = degree.reduce((sum, d) => sum + d, 0) / nodes;
  const variance = degree.reduce((sum, d) => sum + (d - mean) ** 2, 0) / nodes;
  const attach = Math.round((nodes - Math.sqrt(Math.max(0, nodes * nodes - 4 * edges))) / 2);
  if (attach >= 1 && attach * (nodes - attach) === edges && variance > 2 * mean)
    return graphModel('barabasi', { attach });

  return graphModel('erdos', {
    probability: total(upperTriangle(truth.data, nodes)) / ((nodes * (nodes - 1)) / 2),
  });
}

/** Cumulative true and false positives after each group of equal scores, highest score first. */
function* tieGroups(scores: ArrayLike<number>, labels: ArrayLike<number>) {
  if (scores.length !== labels.length)
    throw new RangeError(
      `expected as many labels as scores, got ${labels.length} labels and ${scores.length} scores`,
    );

  const order = Uint32Array.from({ length: scores.length }, (_, at) => at);
  for (const at of order) if (Number.isNaN(scores[at])) throw new RangeError(`score ${at} is NaN`);
  // Compared, not subtracted: the difference of two infinite scores is NaN.
  order.sort((a, b) => (scores[a]! > scores[b]! ? -1 : scores[a]! < scores[b]! ? 1 : 0));
  let truePositives = 0;
  let falsePositives = 0;
  for (let at = 0; at < order.length; at++) {
    if (labels[order[at]!]) truePositives++;
    else falsePositives++;
    if (at + 1 < order.length && scores[order[at + 1]!] === scores[order[at]!]) continue;
    yield { truePositives, falsePositives };
  }
}

/** Area under the ROC curve: the chance that a positive outranks a negative, ties one half; null with one class. */
export function rocAuc(scores: ArrayLike<number>, labels: ArrayLike<number>): number | null {
  let area = 0;
  let last = { truePositives: 0, falsePositives: 0 };
  for (const group of tieGroups(scores, labels)) {
    const width = group.falsePositives - last.falsePositives;
    area += (width * (group.truePositives + last.truePositives)) / 2;
    last = group;
  }
  const pairs = last.truePositives * last.falsePositives;
  return pairs === 0 ? null : area / pairs;
}

/** Σ (R_n - R_{n-1}) P_n over distinct thresholds; null without positives. */
export function averagePrecision(scores: ArrayLike<number>, labels: ArrayLike<number>): number | null {
  let sum = 0;
  let found = 0;
  for (const { truePositives, falsePositives } of tieGroups(scores, labels)) {
    sum += ((truePositives - found) * truePositives) / (truePositives + falsePositives);
    found = truePositives;
  }
  return found === 0 ? null : sum / found;
}
