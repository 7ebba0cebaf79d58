import type { OpenedRun } from '@hidden-schema/hsn';
import { linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import { textRecord } from '@hidden-schema/hsn/tasks/language/text-record';
import { linkStrengths } from '../measures/link-strength.ts';
import type { Interval } from '../measures/proportions.ts';
import type { EncodedCorpus, EncodedSentence } from '../texts/encoded.ts';
import type { ReadPassage } from '../texts/run-corpus.ts';
import { tokensOf, wordsOf } from '../texts/words.ts';
import type { AttendingWords } from './attention-reading.ts';
import { symbolNames } from './names.ts';
import { SymbolTally } from './symbol-tally.ts';
import { WeighedSentences, type WordSettings } from './weighed-words.ts';

/** A sentence whose walk visits a symbol. */
export interface SymbolExample {
  index: number;
  text: string;
  label: string | null;
  walk: number[];
  /** Steps, from 0, at which the walk is on the symbol. */
  positions: number[];
  /** Of those steps, in sum: what examples are ranked by. */
  weight: number;
}

/** What is known of a symbol from the sentences whose walks visit it. */
export interface SymbolMeaning {
  symbol: number;
  name: string | null;
  /** What a language model said of it, where one was asked. */
  description?: string;
  /** Share of all that walks say: a sentence's first symbol counts fully, later ones by how much they tell of it, stays not. */
  usage: number;
  /** Share of sentences that come to it at each step. [L] */
  usageByPosition: number[];
  /** Sentences that visit it. */
  sentences: number;
  /** By pointwise mutual information of word and symbol in a sentence, in bits, discounted for rare words. */
  words: { word: string; pmi: number; count: number }[];
  /** By the mean share of attention that the symbol gets when the word is generated. */
  attended: { word: string; share: number; count: number }[];
  examples: SymbolExample[];
  /** Share of its sentences that have a label, and times the label's share of all. */
  labels: { label: string; share: number; lift: number }[];
  /** Symbols that walks go to and come from, the strongest link first. */
  neighbours: SymbolNeighbour[];
}

/** A symbol beside another: how strong their link is, and how probable. */
export interface SymbolNeighbour {
  symbol: number;
  name: string | null;
  /** Posterior probability of the link. */
  probability: number;
  /** Walks that go between the two, and their share of all moves. */
  flow: number;
  traversals: number;
  /** Times as many as by chance, with an interval of 95 %. */
  lift: number;
  interval: Interval;
}

export interface MeaningOptions {
  /** What `attentionWords` found. */
  attention?: AttendingWords | undefined;
  /** Passages of long texts with their own walks, from which words are chosen in place of the texts. */
  passages?: Iterable<ReadPassage> | undefined;
}

/** Sentences whose words are counted, at most. */
const mostSentences = 200_000;
const mostNeighbours = 20;
/** Words of each kind. */
const mostWords = 12;
const mostExamples = 8;

/** Words of a text, as each kind of run has them; of a tuple those of its event and object. */
const splitters: Record<OpenedRun['kind'], (text: string) => { word: string }[]> = {
  synthetic: tokensOf,
  language: wordsOf,
  reasoning: (tuple) => {
    const [head, , object] = tuple.split('\t');
    return wordsOf(`${head} ${object}`);
  },
};

/** What each symbol means. */
export async function symbolMeanings(
  run: OpenedRun,
  encoded: EncodedCorpus,
  options: MeaningOptions = {},
): Promise<SymbolMeaning[]> {
  const split = splitters[run.kind];
  const settings = wordSettings(run);
  const tally = new SymbolTally(encoded.symbols, encoded.length, encoded.labels.length);
  const weighed = new WeighedSentences(encoded.symbols, encoded.length);
  const found = Array.from({ length: encoded.symbols }, (): SymbolExample[] => []);
  for (let n = 0; n < Math.min(encoded.count, mostSentences); n++) {
    const sentence = encoded.sentence(n);
    const distinct = new Set(
      split(sentence.text).flatMap(({ word }) => (settings.stopWords.has(word) ? [] : word)),
    );
    tally.add(sentence, encoded.labelOf[n]!, distinct);
    if (!options.passages) weighed.add(sentence);
    for (const symbol of new Set(sentence.walk)) offer(found[symbol]!, { sentence, symbol });
  }
  for (const passage of firstOf(options.passages ?? [], mostSentences)) weighed.add(passage);
  const near = neighboursOf(run, encoded);
  const telling =
    run.kind === 'language'
      ? await weighed.words(mostWords, settings, (all) => run.texts.vectors(all))
      : undefined;
  const names = symbolNames(run.run);
  return found.map((best, symbol) => ({
    symbol,
    name: names.get(symbol) ?? null,
    ...tally.usage(symbol),
    words: telling ? tally.these(symbol, telling[symbol]!) : tally.words(symbol, mostWords),
    attended: options.attention?.(symbol, mostWords) ?? [],
    examples: best,
    labels: tally.labels(symbol).map(({ label, ...rest }) => ({ label: encoded.labels[label]!, ...rest })),
    neighbours: near[symbol]!.map((other) => ({ ...other, name: names.get(other.symbol) ?? null })),
  }));
}

function* firstOf<T>(items: Iterable<T>, most: number): Generator<T> {
  let count = 0;
  for (const item of items) {
    if (count++ === most) return;
    yield item;
  }
}

/** What of a run's texts is no word of a symbol; runs of 0.2.0 count all. */
function wordSettings(run: OpenedRun): WordSettings {
  const { clean = false, stopWords = [] } =
    run.kind === 'language' ? textRecord(run.run).record.settings : {};
  return { clean, stopWords: new Set(stopWords.map((word) => word.toLowerCase())) };
}

function neighboursOf(run: OpenedRun, encoded: EncodedCorpus): Omit<SymbolNeighbour, 'name'>[][] {
  const probabilities = linkProbabilities(run.model);
  const strengths = linkStrengths(encoded);
  const moves = strengths.reduce((sum, { flow }) => sum + flow, 0);
  const near = Array.from({ length: run.symbols }, (): Omit<SymbolNeighbour, 'name'>[] => []);
  for (const { i, j, flow, lift, interval } of strengths) {
    const probability = Math.min(1, probabilities[i * run.symbols + j]!);
    const link = { probability, flow, traversals: flow / moves, lift, interval };
    near[i]!.push({ symbol: j, ...link });
    near[j]!.push({ symbol: i, ...link });
  }
  return near.map((list) => list.slice(0, mostNeighbours));
}

/** Keeps the sentences that are most surely on a symbol, each text once. */
function offer(
  list: SymbolExample[],
  { sentence, symbol }: { sentence: EncodedSentence; symbol: number },
): void {
  const { index, text, label, walk, probabilities, weights = probabilities } = sentence;
  const positions = walk.flatMap((other, i) => (other === symbol ? [i] : []));
  const weight = positions.reduce((sum, i) => sum + weights[i]!, 0);
  if (list.length >= mostExamples && weight <= (list.at(-1)?.weight ?? 0)) return;
  if (list.some((other) => other.text === text)) return;
  const place = list.findIndex((other) => other.weight < weight);
  const example = { index, text, label, walk, positions, weight };
  list.splice(place < 0 ? list.length : place, 0, example);
  if (list.length > mostExamples) list.pop();
}
