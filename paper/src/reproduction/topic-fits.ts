import { setImmediate } from 'node:timers/promises';
import { coherentWords, RERANKED_WORDS, rowsByWord } from '@hidden-schema/studies/measures/coherent-words';
import type { DocumentTerms } from '@hidden-schema/studies/measures/document-terms';
import { pmiWords } from '@hidden-schema/studies/measures/pmi-words';
import type { SymbolUses } from '@hidden-schema/studies/measures/symbol-uses';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { symbolWords } from './c-tf-idf.ts';
import {
  type FittedTopics,
  fitTopics,
  type TopicModelName,
  type TopicTask,
  topicModels,
} from './topic-models.ts';
import { fitPython, type PythonModelName, pythonModels } from './topic-peers.ts';

export type ComparedModel = TopicModelName | PythonModelName;

/** The models that are fitted for each seed. */
export function comparedModels(peers: boolean): ComparedModel[] {
  return [...topicModels, ...(peers ? pythonModels : [])];
}

/** Texts with all that models read of them: vectors [N, D], tokens, counts of words. */
export interface TopicInputs extends Pick<TopicTask, 'vectors' | 'tokens' | 'matrix'> {
  texts: readonly string[];
}

export interface TopicFitOptions {
  symbols: number;
  length: number;
  /** A Python that has the models of others, and the vectors of the vocabulary for it. [V, D] */
  peers?: { python: string; wordVectors: Tensor };
  /** The same vectors, by which walks rank their own words. [V, D] */
  wordVectors?: Tensor;
  signal?: AbortSignal;
  /** Hears of a model of others that could not be fitted. */
  onFailure?: (model: PythonModelName, reason: string) => void;
}

/** Every model on the same texts, one after another. */
export async function* fits(
  { texts, ...inputs }: TopicInputs,
  { symbols, length, peers, signal, onFailure }: TopicFitOptions,
  seed: number,
): AsyncGenerator<[ComparedModel, FittedTopics]> {
  const { vectors, matrix } = inputs;
  const watch = signal ? { signal } : {};
  for (const model of topicModels) {
    await setImmediate();
    signal?.throwIfAborted();
    yield [model, await fitTopics(model, { ...inputs, symbols, length, seed, ...watch })];
  }
  if (!peers) return;
  const task = { texts, vectors, words: matrix.words, symbols, ...peers, ...watch };
  const { fitted, failures } = await fitPython(task, seed);
  for (const [model, reason] of failures) onFailure?.(model, reason);
  yield* fitted;
}

/** How a model's words are ranked: both scores for all models alike; topic models, and walks by word vectors, also rank their own. */
export type WordScore = 'PMI' | 'c-TF-IDF' | 'own';

export type RankedLists = readonly (readonly string[])[];

/** A text counts for a symbol by its squared coefficient; a cluster's texts count alike. */
export function rankedWords(
  { uses, coefficients, own }: FittedTopics,
  matrix: DocumentTerms,
  { symbols, wordVectors }: Pick<TopicFitOptions, 'symbols' | 'wordVectors'>,
) {
  const weighed: SymbolUses = coefficients ? { ...uses, weights: coefficients.map((a) => a * a) } : uses;
  const plain = (lists: readonly (readonly { word: string }[])[]) =>
    lists.map((list) => list.map(({ word }) => word));
  const ranked: [WordScore, RankedLists][] = [
    ['PMI', plain(pmiWords(matrix, weighed, { symbols }))],
    ['c-TF-IDF', plain(symbolWords(matrix, weighed, { symbols }))],
  ];
  if (own) ranked.push(['own', own]);
  if (coefficients && wordVectors) {
    const lists = pmiWords(matrix, weighed, { symbols, words: RERANKED_WORDS, leastDifferent: 0 });
    const vectorOf = rowsByWord(matrix.words, wordVectors.toArray() as Float32Array);
    ranked.push(['own', plain(coherentWords(lists, vectorOf, { words: 10 }))]);
  }
  return ranked;
}
