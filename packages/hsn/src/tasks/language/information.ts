import type { TextCorpus } from '@hidden-schema/text/corpus';
import { batchesByLength, type Frames, type TextBatch } from '@hidden-schema/text/text-batches';
import { Generator, scope, stack, Tensor, withoutGrad } from '@hidden-schema/torch';
import { graphKl } from '../../objective/objective.ts';
import { mutualInformation } from '../../walk/aggregate.ts';
import type { WalkPosterior } from '../../walk/posterior.ts';
import { WalkableGraph } from '../../walk/walkable-graph.ts';
import type { LanguageNetwork } from './network.ts';
import { type DrawnGraph, decodedWalks, type PosteriorOf, rowsOf } from './perplexity.ts';

/** What walks are drawn from, and on which graphs. */
export interface Draws {
  posterior: PosteriorOf;
  graphs: readonly DrawnGraph[];
}

/** Information and divergences of all sentences together, means over graphs. */
export function information(model: LanguageNetwork, scores: readonly Tensor[], { graphs, posterior }: Draws) {
  const all = scope(() => catRows(scores));
  try {
    const each = graphs.map(({ adjacency }) =>
      withoutGrad(() => informationOn(model, all, adjacency, posterior)),
    );
    const mean = (of: (one: (typeof each)[number]) => number) =>
      each.reduce((sum, one) => sum + of(one), 0) / each.length;
    return {
      mutual_information: mean((one) => one.paper),
      mutual_information_exact: mean((one) => one.exact),
      mutual_information_bound: Math.log(all.dim(0)),
      kl_walk: mean((one) => one.kl),
      kl_walk_aggregated: mean((one) => one.kl - one.paper),
      paid: each[0]!.paid.map((_, i) => mean((one) => one.paid[i]!)),
      kl_graph: withoutGrad(() =>
        graphKl(model.graph.links(), model.graphPrior, model.config.graph.klOf).item(),
      ),
      symbols_used: new Set(each.flatMap(({ symbols }) => [...symbols])).size,
    };
  } finally {
    all.free();
  }
}

/** What walks of all sentences tell on one graph, and which symbols they use. */
function informationOn(model: LanguageNetwork, scores: Tensor, adjacency: Tensor, of: PosteriorOf) {
  const graph = new WalkableGraph(adjacency, model.config.walk.isolated);
  const posterior = of(scores, graph);
  const prior = model.walkPrior.on(graph);
  const nodes = posterior.sampleNodes(model.generator);
  return {
    paper: mutualInformation(posterior, prior, 'mean').item(),
    exact: exactInformation(posterior, nodes),
    kl: posterior.kl(prior).mean().item(),
    paid: posterior.stepKls(prior).map((step) => step.mean().item()),
    symbols: new Set(nodes.toNumbers()),
  };
}

/**
 * I(z; x) of the empirical sample: mean of log q(z_n|x_n) − log (1/N) Σ_m q(z_n|x_m), one walk a sentence. At most
 * log N, which the paper's estimator may exceed.
 */
export function exactInformation(
  posterior: Pick<WalkPosterior, 'logProb' | 'crossLogProb'>,
  nodes: Tensor,
): number {
  const N = nodes.dim(0);
  const own = posterior.logProb(nodes).sum().item();
  let mixed = 0;
  for (let first = 0; first < N; first += walksAtOnce)
    mixed += scope(() => {
      const some = nodes.narrow(0, first, Math.min(walksAtOnce, N - first));
      return posterior.crossLogProb(some).logSumExp(0).sum().item(); // [N sentences, walks]
    });
  return (own - mixed) / N + Math.log(N);
}

/** Bounds what is held of the [N, N] table, which for a whole test set would not fit into memory. */
const walksAtOnce = 256;

const catRows = (scores: readonly Tensor[]): Tensor => stack(scores.flatMap((batch) => batch.unbind(0)));

// Shapes: B sentences, L steps, K symbols.

/** Shares that are tried for each step, from all of the evidence to none. A first step always has some. */
const shares = [1, 0.5, 0.25, 0.1, 0.05, 0] as const;
/** Validation sentences, and walks drawn of each. */
const mostSentences = 200;
const drawsEach = 2;
const batchSize = 50;

/**
 * The posterior that weighs a share m_i of each step's evidence by the walk prior (`WalkPrior.withEvidence`). Best walks of
 * texts are read with all evidence; this is what sentences are scored with, as sure as the decoder can make use of.
 */
export function weighedByPrior(model: LanguageNetwork, evidence: readonly number[]): PosteriorOf {
  return (scores, graph) => {
    const each = Tensor.fromArray(Float32Array.from(evidence), [1, evidence.length, 1]);
    return model.walkPrior.withEvidence(graph, scores.mul(each));
  };
}

interface ScoredBatch {
  /** [B, L, K] */
  scores: Tensor;
  tokens: Int32Array[];
}

/**
 * Shares m [L] of the evidence at which the mean evidence lower bound of validation sentences, E_q log p(x|z) − KL[q; p]
 * (Eq. 10), is greatest: coordinate ascent from the last step to the first, with the same random numbers for every try.
 * Nothing where walks have a fixed length, or no validation sentences are there.
 */
export function fitEvidenceShares(
  model: LanguageNetwork,
  { store, splits }: TextCorpus,
  frames: Frames,
  scoresOf: (batch: TextBatch) => Tensor,
): number[] | undefined {
  const rows = splits.valid.slice(0, mostSentences);
  if (!model.walkPrior.stays || rows.length === 0) return undefined;
  const batches = [...batchesByLength(store, rows, batchSize, frames)].map((batch) => ({
    scores: scoresOf(batch),
    tokens: tokensOf(batch),
  }));
  const adjacency = withoutGrad(() => model.graph.links().matrix().gt(0.5).to('float32'));
  try {
    return ascend(model.shape.length, (tried) => meanBound(model, batches, adjacency, tried));
  } finally {
    for (const { scores } of batches) scores.free();
    adjacency.free();
  }
}

function ascend(length: number, bound: (tried: readonly number[]) => number): number[] {
  let best = new Array<number>(length).fill(1);
  let value = bound(best);
  for (let step = length - 1; step >= 0; step--)
    for (const share of shares.slice(1)) {
      if (step === 0 && share === 0) continue;
      const tried = best.with(step, share);
      const now = bound(tried);
      if (now > value) [best, value] = [tried, now];
    }
  return best;
}

/** Mean over sentences of E_q log p(x|z) − KL[q; p], by a few draws each. */
function meanBound(
  model: LanguageNetwork,
  batches: readonly ScoredBatch[],
  adjacency: Tensor,
  evidence: readonly number[],
): number {
  const generator = new Generator(model.config.seed);
  const posteriorOf = weighedByPrior(model, evidence);
  let [sum, count] = [0, 0];
  for (const { scores, tokens } of batches) {
    sum += withoutGrad(() => {
      const graph = new WalkableGraph(adjacency, model.config.walk.isolated);
      const posterior = posteriorOf(scores, graph);
      const kl = posterior.kl(model.walkPrior.on(graph)).sum().item();
      const draws = Array.from({ length: drawsEach }, () => rowsOf(posterior.sampleNodes(generator)));
      const likelihoods = tokens.flatMap((ids, n) =>
        decodedWalks(
          model,
          draws.map((walks) => walks[n]!),
          ids,
        ),
      );
      return likelihoods.reduce((total, one) => total + one, 0) / drawsEach - kl;
    });
    count += tokens.length;
  }
  return sum / count;
}

const tokensOf = ({ decoder: { ids, lengths, width } }: TextBatch): Int32Array[] =>
  Array.from(lengths, (length, n) => ids.slice(n * width, n * width + length));
