import { cat, type Generator, stack, Tensor } from '@hidden-schema/torch';
import { WalkDistribution } from '../../walk/chain.ts';
import type { WalkPosterior } from '../../walk/posterior.ts';
import { WalkableGraph } from '../../walk/walkable-graph.ts';
import { type LanguageNetwork, schemaOf } from './network.ts';

/** What one sentence says of the model. */
export interface SentenceEstimate {
  /** log p(x) by importance weighting: on the graph that sentences share, and with each graph's own weight (Eq. 34). */
  logLikelihood: number;
  paperLogLikelihood: number;
  /** −E_q log p(x|z) */
  reconstruction: number;
  tokens: number;
}

/** Weights of all R·S draws of a sentence, and log p(x|z) of each. */
export interface LogWeights {
  weights: Float64Array;
  /** The same with log p(A) − log q(A) of their graph, as Eq. 34 has them. */
  paperWeights: Float64Array;
  likelihoods: Float64Array;
}

/** The same, with the walks that were drawn. R·S of [L] */
export interface WalkWeights extends LogWeights {
  walks: number[][];
}

/** q(z|x, A) from scores [B, L, K]: the network's own, or one that weighs them by the prior (`fitEvidenceShares`). */
export type PosteriorOf = (scores: Tensor, graph: WalkableGraph) => WalkPosterior;

/** A sentence to estimate: scores [1, L, K], what walks are drawn from, tokens. */
export interface ScoredSentence {
  scores: Tensor;
  posterior: PosteriorOf;
  tokens: Int32Array;
}

/** A graph from q(A), with log p(A) − log q(A). */
export interface DrawnGraph {
  adjacency: Tensor;
  logRatio: number;
}

/**
 * log p(x|z) + log p(z|A) − log q(z|x, A) of R walks on each of S graphs (appendix F.2). The likelihood depends on the
 * walk alone and a peaked posterior repeats itself, so each distinct walk is decoded once. The paper's estimator also
 * has log p(A) − log q(A) in every sentence's weight (`paperWeights`); the graph is one for all sentences, so that its
 * cost belongs to the corpus (`kl_graph`) and not to each of them.
 */
export function logWeights(
  model: LanguageNetwork,
  sentence: ScoredSentence,
  graphs: readonly DrawnGraph[],
  walks: number,
): WalkWeights {
  const drawn = graphs.map(({ adjacency }) => drawWalks(model, sentence, adjacency, walks));
  const nodes = drawn.flatMap((one) => one.nodes);
  const likelihoods = decodedWalks(model, nodes, sentence.tokens);
  const ratios = drawn.flatMap(({ ratio }) => ratio);
  const weights = Float64Array.from(likelihoods, (likelihood, i) => likelihood + ratios[i]!);
  return {
    walks: nodes,
    weights,
    paperWeights: weights.map((weight, i) => weight + graphs[Math.floor(i / walks)]!.logRatio),
    likelihoods: Float64Array.from(likelihoods),
  };
}

/** R walks of one sentence [1, L, K] on a graph, with log p(z|A) − log q(z|x, A). */
function drawWalks(model: LanguageNetwork, sentence: ScoredSentence, adjacency: Tensor, count: number) {
  const graph = new WalkableGraph(adjacency, model.config.walk.isolated);
  const posterior = sentence.posterior(sentence.scores.expand(count, -1, -1), graph);
  const nodes = posterior.sampleNodes(model.generator); // [R, L]
  const ratio = model.walkPrior.on(graph).logProb(nodes).sub(posterior.logProb(nodes)).toNumbers();
  return { ratio, nodes: rowsOf(nodes) };
}

/** Walks [R, L] as lists of symbols. */
export function rowsOf(nodes: Tensor): number[][] {
  const [R, L] = nodes.shape as [number, number];
  const flat = nodes.toNumbers();
  return Array.from({ length: R }, (_, r) => flat.slice(r * L, (r + 1) * L));
}

const decodedAtOnce = 64;

/** log p(x|z) of one sentence under each of several walks; one that comes again is not decoded again. */
export function decodedWalks(
  model: LanguageNetwork,
  walks: readonly number[][],
  tokens: Int32Array,
): number[] {
  const keys = walks.map((walk) => walk.join(' '));
  const distinct = new Map(walks.map((walk, i) => [keys[i]!, walk]));
  const decoded = decodeWalks(model, [...distinct.values()], tokens);
  const places = new Map([...distinct.keys()].map((key, place) => [key, place]));
  return keys.map((key) => decoded[places.get(key)!]!);
}

/** log p(x|z) of one sentence under several walks, all of them different. */
function decodeWalks(model: LanguageNetwork, walks: readonly number[][], tokens: Int32Array): number[] {
  const out: number[] = [];
  for (let first = 0; first < walks.length; first += decodedAtOnce) {
    const some = walks.slice(first, first + decodedAtOnce);
    const schema = schemaOf(model, some);
    const repeated = stack(some.map(() => Tensor.fromArray(tokens, [tokens.length])));
    const { perSentence } = model.decoder.nll(
      repeated,
      schema,
      some.map(() => tokens.length),
    );
    for (const nll of perSentence.toNumbers()) out.push(-nll);
  }
  return out;
}

/** log of the mean weight of both kinds, and the mean reconstruction loss. */
export function sentenceEstimate(
  { weights, paperWeights, likelihoods }: LogWeights,
  tokens: number,
): SentenceEstimate {
  const reconstruction = -likelihoods.reduce((total, value) => total + value, 0) / likelihoods.length;
  return {
    logLikelihood: logMeanExp(weights),
    paperLogLikelihood: logMeanExp(paperWeights),
    reconstruction,
    tokens,
  };
}

/** log of the mean of exp(log). */
export function logMeanExp(logs: Float64Array): number {
  const most = logs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  // Walks that the prior forbids, all of them: no estimate above zero, and −∞ − −∞ is none at all.
  if (most === Number.NEGATIVE_INFINITY) return most;
  return most + Math.log(logs.reduce((total, log) => total + Math.exp(log - most), 0) / logs.length);
}

/** What scores are divided by: q itself, and the same less and less sure. */
const widths = [1, 4, 16] as const;

/**
 * log p(x) by importance weighting, with walks that come from q, from q with its scores made smaller, and from the prior
 * p(z|A), equally many of each and weighed by their mixture:
 *
 *   log (1/R) Σ_r p(x|z_r)·p(z_r|A) / m(z_r),   m = (q + q_4 + q_16 + p) / 4
 *
 * Its expectation is at most log p(x), whatever walks are drawn from, and comes the nearer the more of the walks that
 * explain a sentence are among them. A q that is surer than the posterior draws few of those; with the prior in the
 * mixture no weight is above 4·p(x|z). `walks` is R on each graph, rounded up to whole shares.
 */
export function wideLogLikelihood(
  model: LanguageNetwork,
  sentence: ScoredSentence,
  graphs: readonly DrawnGraph[],
  { walks, generator }: { walks: number; generator: Generator },
): number {
  const share = Math.ceil(walks / (widths.length + 1));
  const drawn = graphs.map(({ adjacency }) => drawWide(model, sentence, adjacency, { share, generator }));
  const likelihoods = decodedWalks(
    model,
    drawn.flatMap(({ nodes }) => nodes),
    sentence.tokens,
  );
  const ratios = drawn.flatMap(({ ratio }) => ratio);
  return logMeanExp(Float64Array.from(likelihoods, (likelihood, i) => likelihood + ratios[i]!));
}

/** As many walks from each part of the mixture, with log p(z|A) − log m(z). */
function drawWide(
  model: LanguageNetwork,
  { scores, posterior }: ScoredSentence,
  adjacency: Tensor,
  { share, generator }: { share: number; generator: Generator },
) {
  const graph = new WalkableGraph(adjacency, model.config.walk.isolated);
  const prior = model.walkPrior.on(graph);
  const repeated = new WalkDistribution(prior.logStart.expand(share, -1), prior.transitions, graph);
  const less = widths.map((width) => scores.div(width));
  const nodes = cat([
    ...less.map((h) => posterior(h.expand(share, -1, -1), graph).sampleNodes(generator)),
    repeated.sampleNodes(generator),
  ]); // [R, L]
  const own = prior.logProb(nodes);
  const parts = [...less.map((h) => posterior(h, graph).crossLogProb(nodes).select(0, 0)), own];
  const mixed = stack(parts).logSumExp(0).sub(Math.log(parts.length));
  return { ratio: own.sub(mixed).toNumbers(), nodes: rowsOf(nodes) };
}

/** What a step of walks costs and what it is worth to the decoder, nats a sentence. */
export interface StepNats {
  /** KL[q; p] of the step, given the steps before it. */
  paid: number;
  /** log p(x|z) with the step less the same without it; null where nothing says what there was without it. */
  gained: number | null;
}

/** Draws of a sentence that are cut; the most, since each is decoded once a step. */
const mostCut = 10;

/** A walk that ends after each of its steps and stays there. L walks of L steps */
const cutWalks = (walk: readonly number[]): number[][] =>
  walk.map((symbol, last) => walk.map((own, i) => (i < last ? own : symbol)));

/** log p(x|z) of walks that end after each step, means over draws; the last is that of whole walks. [L] */
export function cutLogLikelihoods(
  model: LanguageNetwork,
  draws: readonly (readonly number[])[],
  tokens: Int32Array,
): number[] {
  const every = Math.ceil(draws.length / mostCut);
  const cut = draws.filter((_, r) => r % every === 0).map(cutWalks);
  const logs = decodedWalks(model, cut.flat(), tokens);
  const L = cut[0]!.length;
  return Array.from(
    { length: L },
    (_, i) => cut.reduce((sum, _walks, r) => sum + logs[r * L + i]!, 0) / cut.length,
  );
}

/** What each step cost and gained, of log p(x|z) by where walks end; of the first, the decoder alone says it (`withAlone`). */
export function stepNats(paid: readonly number[], cut: readonly number[] | undefined): StepNats[] {
  return paid.map((nats, i) => ({ paid: nats, gained: cut && i > 0 ? cut[i]! - cut[i - 1]! : null }));
}

/** Adds what the first step gained, where `saved` is what all steps together save the decoder alone. */
export function withAlone(steps: readonly StepNats[], saved: number): StepNats[] {
  const [first, ...later] = steps;
  if (!first || later.some(({ gained }) => gained === null)) return [...steps];
  return [{ ...first, gained: later.reduce((rest, { gained }) => rest - gained!, saved) }, ...later];
}
