import { setImmediate } from 'node:timers/promises';
import type { Tensor } from '@hidden-schema/torch';
import { symbolWords } from '../measures/c-tf-idf.ts';
import type { DocumentTerms } from '../measures/document-terms.ts';
import { pmiWords } from '../measures/pmi-words.ts';
import { stability } from '../measures/stability.ts';
import { namesFromWords } from '../measures/symbol-names.ts';
import type { SymbolUses } from '../measures/symbol-uses.ts';
import { labelFigures, wordFigures } from '../measures/topic-figures.ts';
import { walkInformation } from '../measures/walk-information.ts';
import {
  type FittedTopics,
  fitTopics,
  type TopicModelName,
  type TopicTask,
  topicModels,
} from './topic-models.ts';
import { fitPython, type PythonModelName, pythonModels } from './topic-peers.ts';
import type { TopicCorpus } from './topic-texts.ts';

export type ComparedModel = TopicModelName | PythonModelName;

/** How a model's words are ranked: both scores for all models alike; topic models also rank their own. */
export type WordScore = 'PMI' | 'c-TF-IDF' | 'own';

export interface TopicRow {
  model: ComparedModel;
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
  reader_weighed?: number;
  /** Mean AMI of first symbols with those of the other seeds. */
  stability?: number;
  /** Share of texts whose walk no other different text has; of walks alone. */
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
  /** A Python that has BERTopic and KeyNMF, and the vectors of the vocabulary for it. [V, D] */
  peers?: { python: string; wordVectors: Tensor };
  signal?: AbortSignal;
  onModel?: (model: ComparedModel, seed: number) => void;
}

/** How many models are fitted for each seed. */
export function comparedModels(peers: boolean): ComparedModel[] {
  return [...topicModels, ...(peers ? pythonModels : [])];
}

/** Texts as the encoder has them: vectors [N, D], and tokens of each. */
export type EncodedTexts = Pick<TopicTask, 'vectors' | 'tokens'>;

/** Symbols of a corpus and the topics of its peers, on the same texts, vectors and words. */
export async function compareTopics(
  corpus: TopicCorpus,
  encoded: EncodedTexts,
  options: TopicOptions,
): Promise<TopicResult> {
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
  const firsts = new Map<ComparedModel, Int32Array[]>();
  for (let seed = 0; seed < options.seeds; seed++)
    for await (const [model, fitted] of fits(corpus, encoded, options, seed)) {
      const topics = fitted.topics ?? options.symbols;
      const ranked = rankedWords(fitted, matrix, topics);
      const { labels } = corpus;
      const shared = {
        ...(labels ? labelFigures(labels, fitted.uses, topics, fitted.coefficients) : {}),
        ...walkFigures(corpus, fitted),
      };
      for (const [score, lists] of ranked)
        result.rows.push({ model, words: score, seed, ...wordFigures(corpus.words, lists), ...shared });
      if (model === 'HSN' && seed === 0) result.symbols = shownSymbols(fitted.uses, ranked[0]![1]);
      firsts.set(model, [...(firsts.get(model) ?? []), firstSymbols(fitted.uses)]);
      options.onModel?.(model, seed);
    }
  addStability(result.rows, firsts);
  return result;
}

async function* fits(
  corpus: TopicCorpus,
  encoded: EncodedTexts,
  { symbols, length, peers, signal }: TopicOptions,
  seed: number,
): AsyncGenerator<[ComparedModel, FittedTopics]> {
  const { texts, matrix } = corpus;
  const { vectors } = encoded;
  const watch = signal ? { signal } : {};
  for (const model of topicModels) {
    await setImmediate();
    signal?.throwIfAborted();
    yield [model, await fitTopics(model, { ...encoded, matrix, symbols, length, seed, ...watch })];
  }
  if (peers)
    yield* await fitPython({ texts, vectors, words: matrix.words, symbols, ...peers, ...watch }, seed);
}

function firstSymbols({ symbols, length }: SymbolUses): Int32Array {
  return symbols.filter((_, at) => at % length === 0);
}

function addStability(rows: readonly TopicRow[], firsts: ReadonlyMap<ComparedModel, Int32Array[]>): void {
  for (const [model, runs] of firsts)
    for (const [seed, ami] of stability(runs).entries())
      for (const row of rows)
        if (ami !== null && row.model === model && row.seed === seed) row.stability = ami;
}

type RankedLists = readonly (readonly string[])[];

/** A text counts for a symbol by its squared coefficient; a cluster's texts count alike. */
function rankedWords({ uses, coefficients, own }: FittedTopics, matrix: DocumentTerms, symbols: number) {
  const weighed: SymbolUses = coefficients ? { ...uses, weights: coefficients.map((a) => a * a) } : uses;
  const plain = (lists: readonly (readonly { word: string }[])[]) =>
    lists.map((list) => list.map(({ word }) => word));
  const ranked: [WordScore, RankedLists][] = [
    ['PMI', plain(pmiWords(matrix, weighed, { symbols }))],
    ['c-TF-IDF', plain(symbolWords(matrix, weighed, { symbols }))],
  ];
  if (own) ranked.push(['own', own]);
  return ranked;
}

function walkFigures({ texts }: TopicCorpus, { uses, coefficients, linked, seconds }: FittedTopics) {
  return {
    ...(coefficients ? { toldApart: walkInformation(uses.symbols, uses.length, texts).toldApart } : {}),
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
