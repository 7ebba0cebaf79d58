import { type CorpusSplit, type SyntheticNetwork, tokensFrom, type WalkableGraph } from '@hidden-schema/hsn';
import { scope, stack, Tensor } from '@hidden-schema/torch';
import { closely, quietly, type WalkStep } from './close-reading.ts';

// Shapes: N sentences, L steps, K symbols.

/** What the encoder reads in a sample of sentences. */
export interface Reading {
  /** The most probable walk of each sentence. [N, L] */
  walks: Int32Array;
  /** Mean probability of each symbol at each position. [L, K] */
  byPosition: Float64Array;
  sentences: number;
}

/** Numbers in the largest tensor of a chunk. */
const CHUNK_NUMBERS = 4_000_000;

/**
 * The graph that sentences are read on: every link weighs its probability, so that no draw decides what is shown.
 * Made once for a model, to be freed with it.
 */
export function expectedGraph(model: SyntheticNetwork): WalkableGraph {
  return quietly(() => {
    const graph = model.expectedGraph();
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
  model: SyntheticNetwork,
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
        const posterior = model.encode({ tokens: tokensFrom(split, L, first, count) }, graph);
        const all = stack(posterior.marginals(), 1); // [N, L, K]
        return { best: posterior.best().flatMap(({ walk }) => walk), sums: all.sum(0).toNumbers() };
      });
      walks.set(best, first * L);
      for (const [at, sum] of sums.entries()) byPosition[at]! += sum / sentences;
    }
  });
  return { walks, byPosition, sentences };
}

/** The walk of one sentence: the most probable one, and what else could stand at each step. */
export function readWalk(
  model: SyntheticNetwork,
  graph: WalkableGraph,
  tokens: Int32Array,
  alternatives: number,
): { steps: WalkStep[]; logProbability: number } {
  model.train(false);
  return quietly(() =>
    closely(model.encode({ tokens: Tensor.fromArray(tokens, [1, tokens.length]) }, graph), alternatives),
  );
}
