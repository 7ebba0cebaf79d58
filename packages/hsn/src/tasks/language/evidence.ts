import type { TextCorpus } from '@hidden-schema/text/corpus';
import { batchesByLength, type Frames, type TextBatch } from '@hidden-schema/text/text-batches';
import { Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { WalkableGraph } from '../../walk/walkable-graph.ts';
import type { LanguageNetwork } from './network.ts';
import { decodedWalks, type PosteriorOf, rowsOf } from './perplexity.ts';

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
  const adjacency = noGrad(() => scope(() => model.graph.links().matrix().gt(0.5).to('float32')));
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
    sum += scope(() =>
      noGrad(() => {
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
      }),
    );
    count += tokens.length;
  }
  return sum / count;
}

function tokensOf({ decoder: { ids, lengths, width } }: TextBatch): Int32Array[] {
  return Array.from(lengths, (length, n) => ids.slice(n * width, n * width + length));
}
