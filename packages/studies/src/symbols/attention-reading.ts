import type { LanguageRun } from '@hidden-schema/hsn';
import { schemaOf } from '@hidden-schema/hsn/tasks/language/network';
import { idsTensor, padded } from '@hidden-schema/text/text-batches';
import { noGrad, scope } from '@hidden-schema/torch';
import type { EncodedCorpus } from '../texts/encoded.ts';
import { type PlacedWord, wordsOf } from '../texts/words.ts';

// Shapes: B sentences, T tokens, L walk steps; H heads of each layer.

/** What the decoder attends to while it writes a sentence. */
export interface AttentionReading {
  text: string;
  walk: readonly number[];
  /** The part of the text that each token stands for. */
  pieces: string[];
  words: (PlacedWord & { tokens: number[] })[];
  layers: number;
  heads: number;
  /** Weights on the walk's steps when token t is generated. [layers, H, T, L] */
  weights: Float32Array;
}

const atOnce = 16;

/** Reads the attention onto symbols of sentences with their walks, a few at a time. */
export async function* readAttention(
  run: LanguageRun,
  sentences: Iterable<{ text: string; walk: readonly number[] }>,
): AsyncGenerator<AttentionReading> {
  let some: { text: string; walk: readonly number[] }[] = [];
  for (const sentence of sentences) {
    some.push(sentence);
    if (some.length < atOnce) continue;
    yield* await readSome(run, some);
    some = [];
  }
  if (some.length > 0) yield* await readSome(run, some);
}

async function readSome(
  run: LanguageRun,
  sentences: readonly { text: string; walk: readonly number[] }[],
): Promise<AttentionReading[]> {
  const { decoder } = run.model;
  const longest = Math.min(run.config.decoder.longest, decoder.maxPositions - 2);
  const encoded = await Promise.all(
    sentences.map(({ text }) =>
      run.tokenizers.decoder.encode(text, { specials: false, literal: true, longest }),
    ),
  );
  const kept = sentences.flatMap((sentence, i) =>
    encoded[i]!.ids.length === 0 ? [] : [{ ...sentence, ...encoded[i]! }],
  );
  if (kept.length === 0) return [];
  const layers = weightsOf(
    run,
    kept.map(({ ids }) => ids),
    kept.map(({ walk }) => walk),
  );
  return kept.map(({ text, walk, ids, offsets }, b) => {
    const pieces = Array.from(ids, (_, t) => text.slice(offsets[2 * t]!, offsets[2 * t + 1]!));
    return { text, walk, pieces, words: placed(text, offsets), ...layers.of(b, ids.length) };
  });
}

/** Runs the decoder over the batch; row t of a layer is the query that generates token t. */
function weightsOf(run: LanguageRun, ids: readonly Int32Array[], walks: readonly (readonly number[])[]) {
  const { decoder } = run.model;
  const { begin, pad } = run.texts.frames.decoder;
  const inputs = padded(
    ids.map((tokens) => tokens.subarray(0, -1)),
    { pad, begin: begin! },
  );
  run.model.train(false);
  const layers = scope(() =>
    noGrad(() => {
      const attention: Parameters<typeof decoder.hidden>[2] = { attention: [] };
      decoder.hidden(idsTensor(inputs), schemaOf(run.model, walks), attention);
      return attention.attention!.map((layer) => ({ shape: layer.shape, data: layer.toNumbers() }));
    }),
  );
  const [, heads = 0, width = 0, length = 0] = layers[0]?.shape ?? [];
  const of = (b: number, tokens: number) => {
    const weights = new Float32Array(layers.length * heads * tokens * length);
    for (const [layer, { data }] of layers.entries()) {
      for (let head = 0; head < heads; head++) {
        const from = (b * heads + head) * width * length;
        const to = (layer * heads + head) * tokens * length;
        for (let at = 0; at < tokens * length; at++) weights[to + at] = data[from + at]!;
      }
    }
    return { layers: layers.length, heads, weights };
  };
  return { of };
}

/** The words of a text with the tokens that write them. */
function placed(text: string, offsets: Int32Array): AttentionReading['words'] {
  const words = wordsOf(text).map((word) => ({ ...word, tokens: [] as number[] }));
  let first = 0;
  for (let t = 0; t < offsets.length / 2; t++) {
    const [start, end] = [offsets[2 * t]!, offsets[2 * t + 1]!];
    while (first < words.length && words[first]!.end <= start) first++;
    for (let at = first; at < words.length && words[at]!.start < end; at++) words[at]!.tokens.push(t);
  }
  return words.filter(({ tokens }) => tokens.length > 0);
}

/** Which attention is looked at: of one layer, one head, or both; of all where none is named. */
export interface AttentionPart {
  layer?: number | undefined;
  head?: number | undefined;
}

/** Weights of some tokens on the steps, averaged over them and over the layers and heads that are looked at. [L] */
export function meanWeights(
  { layers, heads, weights, walk, pieces }: AttentionReading,
  { layer, head }: AttentionPart,
  tokens: readonly number[],
): Float64Array {
  const L = walk.length;
  const mean = new Float64Array(L);
  const each = range(layers, layer).flatMap((l) => range(heads, head).map((h) => l * heads + h));
  for (const at of each)
    for (const t of tokens)
      for (let i = 0; i < L; i++)
        mean[i]! += weights[(at * pieces.length + t) * L + i]! / (tokens.length * each.length);
  return mean;
}

const range = (count: number, one: number | undefined): number[] =>
  one === undefined ? Array.from({ length: count }, (_, at) => at) : [one];

export interface AttentionOptions {
  /** Sentences that have one of the words, at most. */
  limit?: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Occurrences below which a word's mean attention says little. */
const leastCount = 3;
const defaultLimit = 500;

/** The words that attend most to a symbol, of all attention they pay to symbols. */
export type AttendingWords = (
  symbol: number,
  most: number,
) => { word: string; share: number; count: number }[];

/** Reads what words attend to while they are generated, in the first encoded sentences, 500 unless told otherwise. */
export async function attentionWords(
  run: LanguageRun,
  encoded: EncodedCorpus,
  options: AttentionOptions = {},
): Promise<AttendingWords> {
  const total = Math.min(encoded.count, options.limit ?? defaultLimit);
  const seen = new Map<string, { count: number; attention: Float64Array }>();
  let done = 0;
  const sentences = function* () {
    for (let n = 0; n < total; n++) yield encoded.sentence(n);
  };
  for await (const reading of readAttention(run, sentences())) {
    options.signal?.throwIfAborted();
    for (const { word, tokens } of reading.words) {
      const weights = meanWeights(reading, {}, tokens);
      const all = weights.reduce((sum, weight) => sum + weight, 0);
      if (all === 0) continue;
      const own = seen.get(word) ?? { count: 0, attention: new Float64Array(run.symbols) };
      own.count++;
      for (const [i, symbol] of reading.walk.entries()) own.attention[symbol]! += weights[i]! / all;
      seen.set(word, own);
    }
    options.onProgress?.(++done, total);
  }
  return (symbol, most) =>
    [...seen]
      .map(([word, { count, attention }]) => ({ word, count, share: attention[symbol]! / count }))
      .filter(({ count, share }) => count >= leastCount && share > 0)
      .sort((a, b) => b.share - a.share || b.count - a.count || (a.word < b.word ? -1 : 1))
      .slice(0, most);
}
