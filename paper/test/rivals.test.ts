import fs from 'node:fs';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-rivals');
const run = folder.path('run');
const sizes = [
  'encoder.name=lstm',
  'encoder.width=16',
  'decoder.width=16',
  'decoder.layers=1',
  'decoder.heads=2',
  'decoder.vocabularySize=320',
  'training.steps=4',
  'training.batch=16',
  'latent=4',
].flatMap((setting) => ['--set', setting]);
beforeAll(async () => {
  folder.holdCache();
  const corpus = writeTexts(folder.path('reviews.tsv'));
  const ended = await hsn('train', '--corpus', corpus, '--out', run, '--set', 'model=optimus', ...sizes);
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stderr).toContain('model: Optimus, a Gaussian latent of 4 numbers, encoder lstm');
});
afterAll(folder.remove);

const lines = (text: string) => text.split('\n').slice(0, -1);

describe('a rival in the command line', () => {
  test('is measured, writes from its prior, and goes from one sentence to another', async () => {
    const measured = await hsn('eval', run, '--json', '--walks', '3');
    const figures = JSON.parse(measured.stdout);
    expect(Object.keys(figures)).toEqual(
      expect.arrayContaining(['perplexity', 'perplexity_bound', 'mutual_information_exact', 'active_units']),
    );
    const table = await hsn('eval', run, '--walks', '3');
    expect(table.stdout).toContain(`active_units`);
    const written = await hsn('generate', run, '--prior', '--count', '3', '--seed', '2', '--max-tokens', '5');
    expect(lines(written.stdout)).toHaveLength(3);
    const again = await hsn('generate', run, '--prior', '--count', '3', '--seed', '2', '--max-tokens', '5');
    expect(again.stdout).toBe(written.stdout);
    const way = await hsn(
      'interpolate',
      run,
      'the cat is cheap',
      'a dog was terrible',
      '--steps',
      '3',
      '--json',
    );
    expect(JSON.parse(way.stdout).steps).toHaveLength(4);
  });

  test('has a card that says what it is', () => {
    const card = fs.readFileSync(`${run}/MODEL.md`, 'utf8');
    expect(card).toContain('Optimus over texts, a model that Hidden Schema Networks are compared with');
    expect(card).not.toContain('hsn serve');
  });

  test.each([
    [['generate', run], /what about\? give either --like "a sentence" or --prior/],
    [['generate', run, '--walk', '1,2'], /has no walks; give --like "a sentence" or --prior/],
    [['generate', run, '--like', ' '], /a latent is read from a sentence, got an empty one/],
    [['interpolate', run, 'a', 'b', '--nodewise'], /has no walks, so that --nodewise has no meaning/],
    [['symbols', run], /is a run of Optimus, which has no graph and no walks; it can do hsn eval/],
    [['encode', run, 'nothing.txt'], /is a run of Optimus, which has no graph and no walks/],
    [['eval', run, '--stages'], /--stages is for language models/],
    [['export', run, '--out', folder.path('out')], /texts without walks \(Optimus\)/],
    [
      ['reproduce', 'table2', '--systems', 'optimus', '--corpus', 'yelp=x'],
      /--systems takes all, or some of alone/,
    ],
    [
      ['train', '--corpus', folder.path('reviews.tsv'), '--set', 'model=vq', '--stage', 'discover'],
      /--stage discover needs walks/,
    ],
  ] satisfies [string[], RegExp][])('%j is refused in a line', async (args, line) => {
    const ended = await hsn(...args);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(line);
    expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
  });
});
