import fs from 'node:fs';
import { Run, verifyRun } from '@hidden-schema/hsn';
import { symbolNames } from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts, type Subject, subjects } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-update');
const lines = (of: (subject: Subject, n: number) => boolean) =>
  plantedTexts().flatMap(([subject, text], n) => (of(subject, n) ? [`${subject}\t${text}`] : []));
const corpus = folder.path('all.tsv');
const small = [
  ...['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'],
  ...['training.steps=2', 'training.batch=16', 'training.evaluateEvery=2', 'training.warmup=1'],
];
const discover = (out: string, ...more: string[]) =>
  hsn(
    ...['train', '--stage', 'discover', '--out', folder.path(out), '--length', '3'],
    ...small.flatMap((setting) => ['--set', setting]),
    ...more,
  );

beforeAll(() => {
  folder.holdCache();
  writeTexts(
    corpus,
    lines(() => true),
  );
});
afterAll(folder.remove);

describe('--symbols auto and --seeds', () => {
  test('as many symbols as there are subjects, with the curve that decided; the seed is the first, by its name', async () => {
    const seeds = folder.path('seeds.tsv');
    fs.writeFileSync(seeds, 'my tunes\tguitar violin\n');
    const made = await discover('auto', '--corpus', corpus, '--symbols', 'auto', '--seeds', seeds);
    expect(made.code, made.stderr).toBe(0);
    expect(made.stdout).toContain('How many symbols: 3');
    const run = folder.path('auto');
    expect(Run.open(run).config).toMatchObject({ symbols: 3 });
    const { text } = Run.open(run).record as { text?: { chosen: { curve: object[] } } };
    expect(text!.chosen.curve[0]).toMatchObject({ symbols: 3 });
    expect(fs.existsSync(folder.path('auto', 'figures', 'symbols-auto.svg'))).toBe(true);
    expect(symbolNames(run).get(0)).toBe('my tunes');
    const { stdout } = await hsn('symbols', run, '0', '--json');
    const { words, usageByPosition } = JSON.parse(stdout) as {
      words: { word: string }[];
      usageByPosition: number[];
    };
    expect(subjects.music).toEqual(expect.arrayContaining(words.slice(0, 5).map(({ word }) => word)));
    expect(usageByPosition[0]).toBeCloseTo(1 / 3, 1);
  });

  test('seeds that no text has are named in one line, and no run is made', async () => {
    const seeds = folder.path('strange.tsv');
    fs.writeFileSync(seeds, 'my tunes\tguitar\ncars\tengine wheel\nships\tharbour\n');
    const { code, stderr } = await discover('none', '--corpus', corpus, '--symbols', '4', '--seeds', seeds);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'hsn: no training text has a word of the seeds cars (engine wheel), ships (harbour); give other words, or leave them out\n',
    );
    expect(fs.existsSync(folder.path('none'))).toBe(false);
  });
});

describe('hsn update', () => {
  const run = folder.path('run');

  test('encodes the added texts, keeps symbols, and gives a new theme a symbol of its own', async () => {
    const base = folder.path('base.tsv');
    const more = folder.path('more.tsv');
    writeTexts(
      base,
      lines((subject, n) => subject !== 'music' && n < 90),
    );
    writeTexts(
      more,
      lines((subject, n) => subject === 'music' || n >= 90),
    );
    const made = await discover('run', '--corpus', base, '--symbols', '4');
    expect(made.code, made.stderr).toBe(0);
    const names = [...symbolNames(run)];
    const { code, stdout, stderr } = await hsn('update', run, more);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('vectors of 120 of 120 texts were in the cache');
    expect(stdout).toContain('added 60 texts from more.tsv\n5 symbols');
    expect(stdout).toContain('100.0 % of the texts before are nearest to the same symbol');
    const told = /new theme: symbol 4, \d+ added texts: (.*)/.exec(stdout)![1]!.split(' ');
    expect(subjects.music).toEqual(expect.arrayContaining(told));
    expect([...symbolNames(run)]).toEqual(names);
    expect(verifyRun(run).faults).toEqual([]);
    const { stdout: figures } = await hsn('eval', run, '--json', '--no-stability');
    expect(JSON.parse(figures)).toMatchObject({ symbols: { texts: 120 } });
    const again = await hsn('update', run, more);
    expect(again.stderr).toBe(`hsn: ${more} was added to ${run} before; give other texts\n`);
  });

  test.each([
    [
      'bare.txt',
      'the guitar and violin\nthe drums and piano\n',
      /has no labels, and the texts of the run have; give the same columns/,
    ],
    ['other.csv', 'title,stars\nguitar,5\n', /text/],
    ['missing.tsv', undefined, /missing\.tsv/],
  ])('%s gets one clear line and changes nothing', async (name, text, line) => {
    const file = folder.path(name);
    if (text !== undefined) fs.writeFileSync(file, text);
    const was = fs.readFileSync(folder.path('run', 'run.json'), 'utf8');
    const { code, stderr } = await hsn('update', run, file);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(line);
    expect(
      stderr
        .trim()
        .split('\n')
        .filter((row) => row.startsWith('hsn: ')),
    ).toHaveLength(1);
    expect(fs.readFileSync(folder.path('run', 'run.json'), 'utf8')).toBe(was);
  });

  test('a decoder learns from all texts, those that were added too', async () => {
    const copy = folder.path('copy');
    fs.cpSync(run, copy, { recursive: true });
    const { code, stderr, stdout } = await hsn('train', '--out', copy, '--resume');
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/corpus: \d+ \+ \d+ \+ \d+ sentences, 3 labels/);
    expect(stdout).toContain('run finished at step 2');
  });

  test('is undone as other edits are', async () => {
    const { stdout } = await hsn('undo', run);
    expect(stdout).toContain('undone: added 60 texts from more.tsv\n4 symbols');
    const { stdout: figures } = await hsn('eval', run, '--json', '--no-stability');
    expect(JSON.parse(figures)).toMatchObject({ symbols: { texts: 60 } });
  });
});
