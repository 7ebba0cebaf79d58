import fs from 'node:fs';
import { harmless, hostile, trie } from '@hidden-schema/testing/hostile-tokenizers';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, describe, expect, test } from 'vitest';
import { gpt2Tokenizer } from '../src/tokenizer/byte-bpe.ts';
import { charsmapFault, patternFault } from '../src/tokenizer/definition.ts';
import { loadTokenizer, tokenizerFromJson } from '../src/tokenizer/tokenizer.ts';

const folder = temporaryFolder('tokenizer-safety');
folder.holdCache();
afterAll(folder.remove);
const stamps = () => fs.readdirSync(folder.path('cache', 'tokenizers'));

describe('a tokenizer.json that would end the process', () => {
  test.each(Object.entries(hostile))('%s is refused with its reason', (_, [definition, reason]) => {
    const open = () => tokenizerFromJson(JSON.stringify(definition), 'x/tokenizer.json');
    expect(open).toThrow(reason);
    expect(open).toThrow(
      /^x\/tokenizer\.json is (not a tokenizer\.json of Hugging Face's tokenizers|damaged): /,
    );
  });

  test('keys that stand twice are refused', () => {
    const json = JSON.stringify(harmless).replace('"a":0', '"a":0,"a":1');
    expect(() => tokenizerFromJson(json, 'x')).toThrow('expected every key once, got "a" twice');
  });
});

test('a good one is tried once, and known from then on', async () => {
  const json = JSON.stringify(harmless);
  fs.mkdirSync(folder.path('cache', 'tokenizers'), { recursive: true });
  expect(stamps()).toEqual([]);
  const tokenizer = tokenizerFromJson(json, 'good');
  expect(stamps()).toEqual([`${tokenizer.hash}-1`]);
  expect(Array.from((await tokenizer.encode('a b c')).ids)).toEqual([0, 1, 2]);
  // A program that cannot be started shows that none is: the stamp is believed.
  const { execPath } = process;
  process.execPath = '/nowhere/node';
  try {
    expect(tokenizerFromJson(json, 'good').vocabulary).toBe(3);
    expect(() => tokenizerFromJson(`${json} `, 'fresh')).toThrow('it could not be tried: spawnSync');
  } finally {
    process.execPath = execPath;
  }
});

test('GPT-2’s own passes every check, and is not slowed by it', () => {
  const { json, hash } = gpt2Tokenizer();
  expect(tokenizerFromJson(json, 'GPT-2').hash).toBe(hash);
  fs.writeFileSync(folder.path('tokenizer.json'), json);
  expect(loadTokenizer(folder.path()).vocabulary).toBe(50_257);
});

test('a charsmap is followed to its end', async () => {
  // Root at block 0: 'A' (65) leads by offset 256 >> … to a leaf whose text is at 0.
  const leaf = { 0: (1 << 10) >>> 0, 64: 65 | (1 << 8) | (2 << 10), 66: 0x80000000 | 0 };
  const good = trie(leaf, 'b\0');
  expect(charsmapFault(good.toString('base64'))).toBeUndefined();
  const definition = {
    ...harmless,
    normalizer: { type: 'Precompiled', precompiled_charsmap: good.toString('base64') },
  };
  const tokenizer = tokenizerFromJson(JSON.stringify(definition), 'mapped');
  expect((await tokenizer.encode('A a')).tokens).toEqual(['b', 'a']);
  const far = trie({ ...leaf, 66: 0x80000000 | 9 }, 'b\0');
  expect(charsmapFault(far.toString('base64'))).toBe('a text at 9 of 2 bytes');
});

test('patterns in use pass', () => {
  for (const pattern of [
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{M}]*[\\p{Ll}\\p{Lo}\\p{M}]+(?i:'s|'t)?|\\p{N}{1,3}| ?[^\\s\\p{L}]+[\\r\\n/]*|\\s*[\\r\\n]+",
    ' ?[^(\\s|[.,!?…。，、।۔،])]+',
    ' {2,}',
    '(?:ab){1,3}c+',
  ])
    expect(patternFault(pattern)).toBeUndefined();
  for (const pattern of ['(a*)*', '((a+)b)+', '(?:x{2,}y?)+?', '([a-z]+[0-9])*$'])
    expect(patternFault(pattern)).toMatch('repeats a group');
});
