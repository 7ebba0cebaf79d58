import { setImmediate } from 'node:timers/promises';
import type { Tensor } from '@hidden-schema/torch';
import { symbolWords } from '../measures/c-tf-idf.ts';
import type { DocumentTerms } from '../measures/document-terms.ts';
import { pmiWords } from '../measures/pmi-words.ts';
import { namesFromWords } from '../measures/symbol-names.ts';
import type { SymbolUses } from '../measures/symbol-uses.ts';
import { labelFigures, wordFigures } from '../measures/topic-figures.ts';
import { walkInformation } from '../measures/walk-information.ts';
import { type FittedTopics, fitTopics, type TopicModelName, topicModels } from './topic-models.ts';
import type { TopicCorpus } from './topic-texts.ts';

/** How a model's words are ranked: both scores for all models alike; NMF and LDA also rank their own. */
export type WordScore = 'PMI' | 'c-TF-IDF' | 'own';

export interface TopicRow {
  model: TopicModelName;
  words: WordScore;
  seed: number;
  npmi: number | null;
  cv: number | null;
  diversity: number | null;
  /** Of first symbols with labels, where there are some. */
  nmi?: number;
  ami?: number;
  purity?: number;
  reader?: number;
  /** Share of texts whose walk no other has; of walks alone. */
  toldApart?: number;
  linked?: number;
  seconds: number;
}

/** A symbol of the first seed, for people. */
export interface ShownSymbol {
  symbol: number;
  name: string;
  words: string[];
  /** Of texts whose walk begins with it. */
  share: number;
}

export interface TopicResult {
  corpus: string;
  texts: number;
  vocabulary: number;
  labels: number;
  note?: string;
  rows: TopicRow[];
  /** Commonest first. */
  symbols: ShownSymbol[];
}

export interface TopicOptions {
  symbols: number;
  length: number;
  seeds: number;
  signal?: AbortSignal;
  onModel?: (model: TopicModelName, seed: number) => void;
}

/** Symbols of a corpus and the topics of three peers, on the same texts, vectors [N, D] and words. */
export async function compareTopics(
  corpus: TopicCorpus,
  vectors: Tensor,
  options: TopicOptions,
): Promise<TopicResult> {
  const { symbols, length, signal, onModel } = options;
  const { matrix } = corpus;
  const result: TopicResult = {
    corpus: corpus.name,
    texts: corpus.texts.length,
    vocabulary: matrix.words.length,
    labels: new Set(corpus.labels?.filter((label) => label !== undefined)).size,
    ...(corpus.note ? { note: corpus.note } : {}),
    rows: [],
    symbols: [],
  };
  for (let seed = 0; seed < options.seeds; seed++)
    for (const model of topicModels) {
      await setImmediate();
      signal?.throwIfAborted();
      const task = { vectors, matrix, symbols, length, seed, ...(signal ? { signal } : {}) };
      const fitted = await fitTopics(model, task);
      const ranked = rankedWords(fitted, matrix, symbols);
      const { labels } = corpus;
      const shared = {
        ...(labels ? labelFigures(labels, fitted.uses, symbols) : {}),
        ...walkFigures(fitted),
      };
      for (const [score, lists] of ranked)
        result.rows.push({ model, words: score, seed, ...wordFigures(corpus.words, lists), ...shared });
      if (model === 'HSN' && seed === 0) result.symbols = shownSymbols(fitted.uses, ranked[0]![1]);
      onModel?.(model, seed);
    }
  return result;
}

type RankedLists = readonly (readonly string[])[];

/** A text counts for a symbol by a power of its coefficient: 4 in PMI, 2 in c-TF-IDF; a cluster's texts count alike. */
function rankedWords({ uses, coefficients, own }: FittedTopics, matrix: DocumentTerms, symbols: number) {
  const weighed = (power: number): SymbolUses =>
    coefficients ? { ...uses, weights: coefficients.map((a) => Math.abs(a) ** power) } : uses;
  const plain = (lists: readonly (readonly { word: string }[])[]) =>
    lists.map((list) => list.map(({ word }) => word));
  const ranked: [WordScore, RankedLists][] = [
    ['PMI', plain(pmiWords(matrix, weighed(4), { symbols }))],
    ['c-TF-IDF', plain(symbolWords(matrix, weighed(2), { symbols }))],
  ];
  if (own) ranked.push(['own', own]);
  return ranked;
}

function walkFigures({ uses, coefficients, linked, seconds }: FittedTopics) {
  return {
    ...(coefficients ? { toldApart: walkInformation(uses.symbols, uses.length).toldApart } : {}),
    ...(linked === undefined ? {} : { linked }),
    seconds,
  };
}

function shownSymbols({ symbols, length }: SymbolUses, lists: RankedLists): ShownSymbol[] {
  const texts = symbols.length / length;
  const counts = new Array<number>(lists.length).fill(0);
  for (let at = 0; at < symbols.length; at += length) counts[symbols[at]!]!++;
  const names = namesFromWords(lists.map((list) => list.map((word) => ({ word }))));
  return lists
    .map((words, symbol) => ({
      symbol,
      name: names[symbol]!,
      words: [...words],
      share: counts[symbol]! / texts,
    }))
    .sort((a, b) => b.share - a.share || a.symbol - b.symbol);
}
