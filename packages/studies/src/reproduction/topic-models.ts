import {
  discoveryDefaults,
  discoveryOptions,
  type FittedSymbols,
  fitPointSpace,
  fitSymbols,
  type SparseRows,
  toPoints,
} from '@hidden-schema/hsn';
import { scope, type Tensor } from '@hidden-schema/torch';
import { fitKMeans } from '../baselines/k-means.ts';
import { ldaTopics } from '../baselines/lda.ts';
import { nmfTopics } from '../baselines/nmf.ts';
import type { DocumentTerms } from '../measures/document-terms.ts';
import { oneSymbolEach, type SymbolUses } from '../measures/symbol-uses.ts';
import { tfIdf } from '../measures/tf-idf.ts';

// Shapes: N texts, L steps, K symbols.

export const topicModels = ['HSN', 'k-means', 'NMF', 'LDA'] as const;
export type TopicModelName = (typeof topicModels)[number];

/** K-means takes the best of as many starts as HSN's symbols do. */
const { clusterStarts: restarts } = discoveryDefaults;

/** What every model of the table sees. */
export interface TopicGiven {
  /** The encoder's. [N, D] */
  vectors: Tensor;
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

export async function fitTopics(model: TopicModelName, given: TopicGiven): Promise<FittedTopics> {
  const begin = performance.now();
  const found = model === 'HSN' ? await discovered(given) : peer(model, given);
  return { ...found, seconds: (performance.now() - begin) / 1000 };
}

function peer(
  model: Exclude<TopicModelName, 'HSN'>,
  { vectors, matrix, symbols: topics, seed }: TopicGiven,
): Omit<FittedTopics, 'seconds'> {
  if (model === 'k-means')
    return { uses: oneSymbolEach(fitKMeans(vectors, { clusters: topics, seed, restarts }).clusters) };
  const { clusters, words } =
    model === 'NMF'
      ? nmfTopics(matrix, tfIdf(matrix), { topics, seed })
      : ldaTopics(matrix, { topics, seed });
  return { uses: oneSymbolEach(clusters), own: words };
}

async function discovered(given: TopicGiven): Promise<Omit<FittedTopics, 'seconds'>> {
  const { vectors, matrix, symbols, length, seed, signal } = given;
  const counts = countRows(matrix);
  const points = scope(() => toPoints(fitPointSpace(vectors, counts, { seed }), vectors, counts));
  let fitted: FittedSymbols | undefined;
  try {
    fitted = await fitSymbols(points, { symbols, length, seed, ...(signal ? { signal } : {}) });
    const { walks, coefficients } = fitted.encoded;
    const steps = Int32Array.from(walks.toNumbers());
    const links = fitted.discovered.linkProbabilities.toArray() as Float32Array;
    return {
      uses: { symbols: steps, length },
      coefficients: coefficients.toArray() as Float32Array,
      ...(length > 1 ? { linked: linkedShare(steps, length, links) } : {}),
    };
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

function countRows({ words, starts, terms, counts }: DocumentTerms): SparseRows {
  return {
    columns: words.length,
    indptr: Int32Array.from(starts),
    indices: Int32Array.from(terms),
    values: counts,
  };
}

function linkedShare(steps: Int32Array, length: number, links: Float32Array): number {
  const K = Math.sqrt(links.length);
  let [moves, linked] = [0, 0];
  for (let at = 0; at < steps.length; at++) {
    if (at % length === 0) continue;
    moves++;
    if (links[steps[at - 1]! * K + steps[at]!]! > 0.5) linked++;
  }
  return linked / moves;
}
