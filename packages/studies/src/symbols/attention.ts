import { UserError } from '@hidden-schema/base';
import type { LanguageRun } from '@hidden-schema/hsn';
import { klDivergence, shares, smoothedShares } from '../measures/divergence.ts';
import type { EncodedCorpus } from '../texts/encoded.ts';
import { wordsOf } from '../texts/words.ts';
import {
  type AttentionOptions,
  type AttentionPart,
  type AttentionReading,
  meanWeights,
  readAttention,
} from './attention-reading.ts';

/** One sentence's attention, for a heat map of words and symbols. */
export interface SentenceAttention {
  /** Parts of the text, a token each. */
  tokens: string[];
  walk: number[];
  layers: number;
  heads: number;
  /** Weights on the walk's steps when each token is generated, of the layers and heads that were asked for. [T][L] */
  weights: number[][];
}

/** What the decoder attends to while it writes a text about its own walk. */
export async function sentenceAttention(
  run: LanguageRun,
  text: string,
  part: AttentionPart = {},
): Promise<SentenceAttention> {
  if (text.trim() === '') throw new UserError('attention takes a sentence, got an empty one');
  const { walk } = (await run.texts.read([text])).walks[0]!;
  for await (const reading of readAttention(run, [{ text, walk }])) {
    const { pieces, layers, heads } = reading;
    const weights = pieces.map((_, t) => Array.from(meanWeights(reading, part, [t])));
    return { tokens: pieces, walk, layers, heads, weights };
  }
  throw new UserError('the decoder has no token for this sentence');
}

/** KL between two words' distributions. */
export interface WordDivergence {
  a: string;
  b: string;
  kl: number;
}

/** Which symbols words attend to (appendix G). Distributions are over K symbols. */
export interface AttentionStudy {
  words: { word: string; occurrences: number }[];
  sentences: number;
  layers: number;
  heads: number;
  symbols: number;
  /** Of the most attended symbol, for each head. [word][layer][head] */
  byHead: Float64Array[][][];
  /** The same of attention averaged over heads. [word][layer] */
  byLayer: Float64Array[][];
  /** The same of attention averaged over layers and heads. [word] */
  overall: Float64Array[];
  /** KL[a; b] in nats of each layer, for each head and then averaged (Table 7); layers count from 1. */
  kl: { layer: number; pairs: WordDivergence[] }[];
  /** KL of the distributions `overall`. */
  klOverall: WordDivergence[];
}

/** Counts of the most attended symbol: one row for each head, then one for the heads together, of each layer; then all. */
interface WordCounts {
  occurrences: number;
  byHead: Float64Array[][];
  byLayer: Float64Array[];
  overall: Float64Array;
}

function count(counts: WordCounts, reading: AttentionReading, tokens: readonly number[]): void {
  const { byHead, byLayer, overall } = counts;
  counts.occurrences++;
  const empty = () => new Float64Array(overall.length);
  const note = (of: Float64Array, weights: Float64Array) => {
    // The paper takes the symbol with the highest attention value, so a symbol visited twice is not summed.
    of[reading.walk[weights.indexOf(weights.reduce((a, b) => Math.max(a, b)))]!]!++;
  };
  for (let layer = 0; layer < reading.layers; layer++) {
    byHead[layer] ??= Array.from({ length: reading.heads }, empty);
    byLayer[layer] ??= empty();
    for (const [head, of] of byHead[layer]!.entries())
      note(of, meanWeights(reading, { layer, head }, tokens));
    note(byLayer[layer]!, meanWeights(reading, { layer }, tokens));
  }
  note(overall, meanWeights(reading, {}, tokens));
}

/** For each word the distribution of the symbol most attended to when it is generated, over the encoded sentences. */
export async function studyAttention(
  run: LanguageRun,
  encoded: EncodedCorpus,
  words: readonly string[],
  options: AttentionOptions = {},
): Promise<AttentionStudy> {
  const wanted = words
    .map((word) => word.trim().toLowerCase())
    .filter((word, i, all) => all.indexOf(word) === i);
  if (wanted.length < 2 || wanted.includes(''))
    throw new UserError(`the study compares words, at least two; got ${words.join(', ') || 'none'}`);
  const chosen = sentencesWith(encoded, wanted, options.limit ?? Number.POSITIVE_INFINITY);
  const counts = wanted.map((): WordCounts => {
    return { occurrences: 0, byHead: [], byLayer: [], overall: new Float64Array(run.symbols) };
  });
  let done = 0;
  let sizes = { layers: 0, heads: 0 };
  for await (const reading of readAttention(run, texts(encoded, chosen))) {
    options.signal?.throwIfAborted();
    sizes = reading;
    for (const { word, tokens } of reading.words) {
      const own = counts[wanted.indexOf(word)];
      if (own) count(own, reading, tokens);
    }
    options.onProgress?.(++done, chosen.length);
  }
  checkFound(wanted, counts, encoded);
  const found = wanted.map((word, w) => ({ word, occurrences: counts[w]!.occurrences }));
  return {
    ...{ words: found, sentences: chosen.length, layers: sizes.layers, heads: sizes.heads },
    symbols: run.symbols,
    byHead: counts.map(({ byHead }) => byHead.map((layer) => layer.map(shares))),
    byLayer: counts.map(({ byLayer }) => byLayer.map(shares)),
    overall: counts.map(({ overall }) => shares(overall)),
    ...divergences(wanted, counts),
  };
}

function* texts(encoded: EncodedCorpus, chosen: readonly number[]) {
  for (const index of chosen) yield encoded.sentence(index);
}

function sentencesWith(encoded: EncodedCorpus, wanted: readonly string[], limit: number): number[] {
  const chosen: number[] = [];
  for (let n = 0; n < encoded.count && chosen.length < limit; n++)
    if (wordsOf(encoded.sentence(n).text).some(({ word }) => wanted.includes(word))) chosen.push(n);
  return chosen;
}

function checkFound(
  wanted: readonly string[],
  counts: readonly WordCounts[],
  { count }: EncodedCorpus,
): void {
  const missing = wanted.filter((_, w) => counts[w]!.occurrences === 0);
  if (missing.length > 0)
    throw new UserError(
      `none of the ${count} encoded sentences has the word ${missing.map((word) => `"${word}"`).join(', ')}: choose other words, or encode more sentences with --limit`,
    );
}

/** Every word against each other, both ways; counts are smoothed, since a symbol never seen would make KL infinite. */
function divergences(wanted: readonly string[], counts: readonly WordCounts[]) {
  const kl = (a: Float64Array, b: Float64Array) => klDivergence(smoothedShares(a), smoothedShares(b));
  const pairs = wanted.flatMap((_, a) => wanted.flatMap((__, b) => (a === b ? [] : [[a, b] as const])));
  const over = (value: (a: WordCounts, b: WordCounts) => number): WordDivergence[] =>
    pairs.map(([a, b]) => ({ a: wanted[a]!, b: wanted[b]!, kl: value(counts[a]!, counts[b]!) }));
  return {
    kl: counts[0]!.byHead.map((heads, layer) => ({
      layer: layer + 1,
      pairs: over((a, b) => {
        const each = heads.map((_, head) => kl(a.byHead[layer]![head]!, b.byHead[layer]![head]!));
        return each.reduce((sum, value) => sum + value, 0) / each.length;
      }),
    })),
    klOverall: over((a, b) => kl(a.overall, b.overall)),
  };
}
