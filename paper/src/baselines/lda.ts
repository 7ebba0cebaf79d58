import { Random } from '@hidden-schema/base/random';
import { digamma } from '@hidden-schema/hsn/gamma';
import type { DocumentTerms } from '@hidden-schema/studies/measures/document-terms';
import { textCount } from '@hidden-schema/studies/measures/text-words';
import { ldaBound } from './lda-bound.ts';
import { largestOfRows, type TopicModel, wordsByWeight } from './topic-model.ts';

// Shapes: N texts, V words, K topics.

interface LdaOptions {
  topics: number;
  seed: number;
  /** Passes over all texts. */
  iterations?: number;
}

interface LdaFit {
  /** Dirichlet parameters of each text's topics. [N, K] */
  readonly texts: Float64Array;
  /** Dirichlet parameters of each topic's words, a row a word. [V, K] */
  readonly words: Float64Array;
  /** exp(−bound / words): what the variational bound says of a word's perplexity. */
  readonly perplexity: number;
}

/** Inner steps of a text, and the mean change of its parameters that ends them. */
const innerSteps = 100;
const innerChange = 1e-3;
/** So that no probability of a word is zero. */
const tiny = 1e-100;

/**
 * Latent Dirichlet allocation by batch variational Bayes (Blei, Ng & Jordan 2003; Hoffman, Blei & Bach 2010), both
 * priors 1/K as in scikit-learn.
 */
export function fitLda(matrix: DocumentTerms, { topics: K, seed, iterations = 10 }: LdaOptions): LdaFit {
  const random = new Random(seed);
  // Near 1 with deviation 0.1, as the usual Gamma(100, 1/100).
  const words = Float64Array.from({ length: matrix.words.length * K }, () =>
    Math.max(0.1, 1 + 0.1 * random.normal()),
  );
  const texts = new Float64Array(textCount(matrix) * K);
  for (let i = 0; i < iterations; i++)
    words.set(pass(matrix, texts, expectedLogs(words, K).map(Math.exp), K));
  const logs = expectedLogs(words, K);
  pass(matrix, texts, logs.map(Math.exp), K);
  return { texts, words, perplexity: Math.exp(-ldaBound(matrix, { texts, words, logs }, K)) };
}

/** Topics by LDA; the text's is the one it has most of, none where it has no words. */
export function ldaTopics(matrix: DocumentTerms, options: LdaOptions): TopicModel {
  const { texts, words } = fitLda(matrix, options);
  const clusters = largestOfRows(texts, options.topics);
  return {
    words: wordsByWeight(matrix.words, words, { topics: options.topics }),
    clusters: clusters.map((topic, text) => (matrix.starts[text] === matrix.starts[text + 1] ? -1 : topic)),
  };
}

/** E[ln β] of each topic's Dirichlet over words. [V, K] */
function expectedLogs(words: Float64Array, K: number): Float64Array {
  const totals = new Float64Array(K);
  for (let at = 0; at < words.length; at++) totals[at % K]! += words[at]!;
  const logs = totals.map(digamma);
  return words.map((value, at) => digamma(value) - logs[at % K]!);
}

/** Fits each text's topics and returns the words' new parameters. [V, K] */
function pass(matrix: DocumentTerms, texts: Float64Array, beta: Float64Array, K: number): Float64Array {
  const sums = new Float64Array(beta.length);
  for (let text = 0; text < textCount(matrix); text++) {
    const from = matrix.starts[text]!;
    const row = {
      terms: matrix.terms.subarray(from, matrix.starts[text + 1]!),
      counts: matrix.counts.subarray(from, matrix.starts[text + 1]!),
    };
    const gamma = texts.subarray(text * K, (text + 1) * K);
    // Started anew, or a text stays with the topics it had while they meant little yet.
    const theta = fitText(row, gamma.fill(1), beta);
    for (const [at, term] of row.terms.entries()) {
      const share = row.counts[at]! / wordProbability(theta, beta, term * K);
      for (let k = 0; k < K; k++) sums[term * K + k]! += share * theta[k]!;
    }
  }
  return sums.map((sum, at) => 1 / K + sum * beta[at]!);
}

/** Moves a text's parameters to where they fit its words; returns exp E[ln θ] there. */
function fitText(
  { terms, counts }: { terms: Uint32Array; counts: Float32Array },
  gamma: Float64Array,
  beta: Float64Array,
): Float64Array {
  const K = gamma.length;
  const theta = new Float64Array(K);
  const next = new Float64Array(K);
  fillTheta(gamma, theta);
  for (let step = 0; step < innerSteps; step++) {
    next.fill(0);
    for (const [at, term] of terms.entries()) {
      const share = counts[at]! / wordProbability(theta, beta, term * K);
      for (let k = 0; k < K; k++) next[k]! += share * beta[term * K + k]!;
    }
    let change = 0;
    for (let k = 0; k < K; k++) {
      const value = 1 / K + theta[k]! * next[k]!;
      change += Math.abs(value - gamma[k]!);
      gamma[k] = value;
    }
    fillTheta(gamma, theta);
    if (change < innerChange * K) break;
  }
  return theta;
}

function fillTheta(gamma: Float64Array, theta: Float64Array): void {
  let total = 0;
  for (let k = 0; k < gamma.length; k++) total += gamma[k]!;
  const log = digamma(total);
  for (let k = 0; k < gamma.length; k++) theta[k] = Math.exp(digamma(gamma[k]!) - log);
}

function wordProbability(theta: Float64Array, beta: Float64Array, from: number): number {
  let sum = tiny;
  for (let k = 0; k < theta.length; k++) sum += theta[k]! * beta[from + k]!;
  return sum;
}
