import fs from 'node:fs';
import { WORD_DEFAULTS, writeWordsCorpus } from '@hidden-schema/hsn';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, expect, test } from 'vitest';
import { corpusKind } from '../src/training-settings.ts';

const folder = temporaryFolder('corpus-kind');
afterAll(folder.remove);

test('drawn readable sentences are texts, though their graph lies beside them', () => {
  writeWordsCorpus({ ...WORD_DEFAULTS, sentences: 50 }, folder.path('words'));
  expect(fs.existsSync(folder.path('words', 'adjacency.txt'))).toBe(true);
  expect(corpusKind(folder.path('words'))).toBe('language');
});

test('a file and standard input are texts', () => {
  fs.writeFileSync(folder.path('texts.txt'), 'one two\nthree four\n');
  expect(corpusKind(folder.path('texts.txt'))).toBe('language');
  expect(corpusKind('-')).toBe('language');
});

test('a folder of sentences that are all as long is a synthetic language', () => {
  fs.mkdirSync(folder.path('even'));
  fs.writeFileSync(folder.path('even', 'train.txt'), 'a b c\nb c d\n');
  expect(corpusKind(folder.path('even'))).toBe('synthetic');
});
