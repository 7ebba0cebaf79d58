import { openLanguage } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguageFlags, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-generate');
const run = folder.path('run');
beforeAll(async () => {
  folder.holdCache();
  const corpus = writeTexts(folder.path('reviews.tsv'));
  // Long enough that text is made of words.
  const sizes = ['--symbols', '6', '--length', '3', ...tinyLanguageFlags, '--set', 'training.steps=60'];
  const rate = ['--set', 'training.rate=0.02', '--set', 'training.evaluateEvery=60'];
  expect((await hsn('train', '--corpus', corpus, '--out', run, ...sizes, ...rate)).code).toBe(0);
});
afterAll(folder.remove);
const lines = (text: string) => text.split('\n').slice(0, -1);

test('the same seed gives the same sentences in the command line and the library', async () => {
  const sampling = ['--count', '3', '--temperature', '0.9', '--top-k', '40', '--top-p', '0.95'];
  const args = [...sampling, '--repetition-penalty', '1.1', '--max-tokens', '15'];
  const ended = await hsn('generate', run, '--walk', '1,2,3', ...args, '--seed', '7');
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  const { texts, model } = await openLanguage(run);
  const options = { count: 3, temperature: 0.9, topK: 40, topP: 0.95, repetitionPenalty: 1.1, maxTokens: 15 };
  const written = await texts.write([1, 2, 3], { ...options, seed: 7 });
  model.free();
  expect(lines(ended.stdout)).toEqual(written.map((text) => text.replace(/\p{Cc}+/gu, ' ')));
  const other = await hsn('generate', run, '--walk', '1,2,3', ...args, '--seed', '8');
  expect(other.stdout).not.toBe(ended.stdout);
});

test('--like takes the walk of a sentence', async () => {
  const like = await hsn('generate', run, '--like', 'the cat is cheap', '--max-tokens', '15');
  const walk = /^walk ([\d,]+)\n$/.exec(like.stderr)![1]!;
  expect(walk.split(',')).toHaveLength(3);
  const same = await hsn('generate', run, '--walk', walk, '--max-tokens', '15');
  expect(same.stdout).toBe(like.stdout);
});

test.each([
  [[], /what about\? give either --walk 3,17,8 or --like/],
  [['--walk', '1', '--like', 'a'], /what about\?/],
  [['--walk', '1,9'], /the symbols of this model are 0 to 5, got 9/],
  [['--walk', '1,x'], /--walk takes numbers with commas between, got 1,x/],
  [['--like', ' '], /--like takes a sentence, got an empty one/],
  [
    ['--walk', '1', '--temperature', 'hot'],
    /--temperature takes a number from 0 \(always the best token\), got hot/,
  ],
  [['--walk', '1', '--top-p', '2'], /--top-p takes a probability above 0 and up to 1, got 2/],
  [['--walk', '1', '--count', '0'], /--count takes a whole number from 1, got 0/],
] satisfies [string[], RegExp][])('%j is refused in a line', async (args, line) => {
  const ended = await hsn('generate', run, ...args);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(line);
  expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
});
