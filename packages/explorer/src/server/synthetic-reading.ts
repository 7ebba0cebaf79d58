import { type CorpusSplit, type HiddenSchemaNetwork, tokensFrom, WalkableGraph } from '@hidden-schema/hsn';
import { noGrad, scope, stack, Tensor } from '@hidden-schema/torch';

// Shapes: N sentences, L steps, K symbols.

/** What the encoder reads in a sample of sentences. */
export interface Reading {
  /** The most probable symbol of each step. [N, L] */
  walks: Int32Array;
  /** Mean probability of each symbol at each position. [L, K] */
  byPosition: Float64Array;
  sentences: number;
}

/** Numbers in the largest tensor of a chunk. */
const CHUNK_NUMBERS = 4_000_000;

export const quietly = <T>(body: () => T): T => scope(() => noGrad(body));

/**
 * The graph that sentences are read on: every link weighs its probability, so that no draw decides what is shown.
 * Made once for a model, to be freed with it.
 */
export function expectedGraph(model: HiddenSchemaNetwork): WalkableGraph {
  return quietly(() => {
    const graph = new WalkableGraph(model.graph.links().matrix(), model.config.walk.isolated);
    graph.rows.keep();
    graph.active.keep();
    return graph;
  });
}

export function freeGraph({ rows, active }: WalkableGraph): void {
  rows.free();
  active.free();
}

export function readSample(
  model: HiddenSchemaNetwork,
  graph: WalkableGraph,
  split: CorpusSplit,
  limit: number,
): Reading {
  const { length: L, symbols: K } = model.shape;
  const sentences = Math.min(limit, split.count);
  const chunk = Math.max(1, Math.min(500, Math.floor(CHUNK_NUMBERS / (L * K))));
  const walks = new Int32Array(sentences * L);
  const byPosition = new Float64Array(L * K);
  model.train(false);
  quietly(() => {
    for (let first = 0; first < sentences; first += chunk) {
      const count = Math.min(chunk, sentences - first);
      const { best, sums } = scope(() => {
        const { marginals } = model.encode(tokensFrom(split, L, first, count), graph);
        const all = stack(marginals, 1); // [N, L, K]
        return { best: all.argmax(-1).toNumbers(), sums: all.sum(0).toNumbers() };
      });
      walks.set(best, first * L);
      for (const [at, sum] of sums.entries()) byPosition[at]! += sum / sentences;
    }
  });
  return { walks, byPosition, sentences };
}

export interface WalkStep {
  symbol: number;
  probability: number;
  alternatives: { symbol: number; probability: number }[];
}

/** The walk of one sentence: at each step the most probable symbol and the next ones, and log q of the walk. */
export function readWalk(
  model: HiddenSchemaNetwork,
  graph: WalkableGraph,
  tokens: Int32Array,
  alternatives: number,
): { steps: WalkStep[]; logProbability: number } {
  const { length: L, symbols: K } = model.shape;
  model.train(false);
  return quietly(() => {
    const { posterior, marginals } = model.encode(Tensor.fromArray(tokens, [1, tokens.length]), graph);
    const shown = Math.min(K, alternatives + 1);
    const { values, indices } = stack(marginals, 1).topk(shown); // [1, L, shown]
    const [p, k] = [values.toNumbers(), indices.toNumbers()];
    const steps = Array.from({ length: L }, (_, i) => {
      const at = (rank: number) => ({
        symbol: k[i * shown + rank]!,
        probability: clamp(p[i * shown + rank]!),
      });
      const others = Array.from({ length: shown - 1 }, (__, rank) => at(rank + 1));
      return { ...at(0), alternatives: others };
    });
    const logProbability = posterior.logProb(indices.narrow(2, 0, 1).squeeze(2)).item();
    return { steps, logProbability };
  });
}

/** Sums of float32 may pass 1 by a rounding. */
export const clamp = (p: number): number => Math.min(1, Math.max(0, p));
