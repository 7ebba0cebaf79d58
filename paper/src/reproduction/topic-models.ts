import { encodePoints } from '@hidden-schema/hsn/discovery/encode';
import { type FittedSymbols, fitSymbols } from '@hidden-schema/hsn/discovery/fit';
import { discoveryDefaults, discoveryOptions } from '@hidden-schema/hsn/discovery/options';
import { fitPointSpace } from '@hidden-schema/hsn/discovery/point-space';
import { columnsOf, pieceCounts, tellingPieces, toPoints } from '@hidden-schema/hsn/discovery/points';
import type { DocumentTerms } from '@hidden-schema/studies/measures/document-terms';
import { oneSymbolEach, type SymbolUses } from '@hidden-schema/studies/measures/symbol-uses';
import { linkedShare } from '@hidden-schema/studies/measures/topic-figures';
import { scope } from '@hidden-schema/torch/scope';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { fitKMeans } from '../baselines/k-means.ts';
import { ldaTopics } from '../baselines/lda.ts';
import { nmfTopics } from '../baselines/nmf.ts';
import { tfIdf } from '../baselines/tf-idf.ts';

// Shapes: N texts, L steps, K symbols.

export const topicModels = ['HSN', 'k-means', 'NMF', 'LDA'] as const;
export type TopicModelName = (typeof topicModels)[number];

/** K-means takes the best of as many starts as HSN's symbols do. */
const { clusterStarts: restarts } = discoveryDefaults;

/** What every model of the table sees. */
export interface TopicTask {
  /** The encoder's vectors [N, D] and tokens of each text. */
  vectors: Tensor;
  tokens: readonly Int32Array[];
  matrix: DocumentTerms;
  symbols: number;
  length: number;
  seed: number;
  signal?: AbortSignal;
}

/** What a model makes of the texts, in the same form for all. */
export interface FittedTopics {
  /** Symbols of texts, with the coefficients of walks; a topic model has one a text. */
  uses: SymbolUses;
  coefficients?: Float32Array;
  /** Words that the model ranks itself. */
  own?: readonly (readonly string[])[];
  /** How many topics there are, where that is not as many as were asked for. */
  topics?: number;
  /** Share of steps along links of probability above one half. */
  linked?: number;
  /** All that comes after the vectors. */
  seconds: number;
}

export async function fitTopics(model: TopicModelName, task: TopicTask): Promise<FittedTopics> {
  const begin = performance.now();
  const found = model === 'HSN' ? await discovered(task) : peer(model, task);
  return { ...found, seconds: (performance.now() - begin) / 1000 };
}

function peer(
  model: Exclude<TopicModelName, 'HSN'>,
  { vectors, matrix, symbols: topics, seed }: TopicTask,
): Omit<FittedTopics, 'seconds'> {
  if (model === 'k-means')
    return { uses: oneSymbolEach(fitKMeans(vectors, { clusters: topics, seed, restarts }).clusters) };
  const { clusters, words } =
    model === 'NMF'
      ? nmfTopics(matrix, tfIdf(matrix), { topics, seed })
      : ldaTopics(matrix, { topics, seed });
  return { uses: oneSymbolEach(clusters), own: words };
}

async function discovered(task: TopicTask): Promise<Omit<FittedTopics, 'seconds'>> {
  const { vectors, tokens, symbols, length, seed, signal } = task;
  const counts = pieceCounts(tokens, columnsOf(tellingPieces(tokens)));
  const points = scope(() => toPoints(fitPointSpace(vectors, counts, { seed }), vectors, counts));
  let fitted: FittedSymbols | undefined;
  try {
    fitted = await fitSymbols(points, { symbols, length, seed, ...(signal ? { signal } : {}) });
    // As a run reads texts: the walk that pursues best, step by step.
    const { discovered } = fitted;
    const alone = { ...discovered, options: { ...discovered.options, candidates: 1 } };
    return scope(() => {
      const { walks, coefficients } = encodePoints(alone, points);
      const uses = { symbols: Int32Array.from(walks.toNumbers()), length };
      const linked = linkedShare(uses, discovered.linkProbabilities.toArray() as Float32Array);
      return {
        uses,
        coefficients: coefficients.toArray() as Float32Array,
        ...(linked === undefined ? {} : { linked }),
      };
    });
  } finally {
    points.free();
    fitted?.discovered.symbols.free();
    fitted?.discovered.linkProbabilities.free();
    for (const tensor of Object.values(fitted?.encoded ?? {})) tensor.free();
  }
}

/** Refuses, before anything is encoded, what no model could be fitted with. */
export function checkTopicSizes(symbols: number, length: number): void {
  discoveryOptions({ symbols, length });
}
