import fs from 'node:fs';
import { Run, verifyRun } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts, subjects } from '@hidden-schema/testing/planted-subjects';
import { writeJudge } from '@hidden-schema/testing/small-judge';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-fast');
const corpus = folder.path('all.tsv');
const teacher = folder.path('teacher');
const small = [
  ...['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'],
  ...['training.steps=2', 'training.batch=16', 'training.evaluateEvery=2', 'training.warmup=1'],
];
const discover = (out: string, ...more: string[]) =>
  hsn(
    ...['train', '--stage', 'discover', '--out', folder.path(out), '--length', '2', '--symbols', '3'],
    ...['--corpus', corpus, ...small.flatMap((setting) => ['--set', setting])],
    ...more,
  );

beforeAll(() => {
  folder.holdCache();
  const texts = plantedTexts();
  writeTexts(
    corpus,
    texts.map(([subject, text]) => `${subject}\t${text}`),
  );
  writeJudge(
    teacher,
    texts.map(([, text]) => text),
  );
});
afterAll(folder.remove);

/** The subject that has most of a symbol's first words. */
const subjectOf = (words: readonly string[]): string =>
  Object.entries(subjects)
    .map(([name, own]) => ({ name, shared: words.filter((word) => own.includes(word as never)).length }))
    .sort((a, b) => b.shared - a.shared)[0]!.name;

describe('--encoder fast', () => {
  const run = folder.path('run');

  test('finds the subjects of texts, and says what it was fitted to', async () => {
    const made = await discover('run', '--encoder', `fast:${teacher}`);
    expect(made.code, made.stderr).toBe(0);
    expect(made.stderr).toMatch(
      /a bag of word pieces in place of .*teacher, fitted to its vectors of \d+ texts; mean cosine/,
    );
    expect(Run.open(run).config).toMatchObject({ encoder: { name: `fast:${teacher}` } });
    const found = new Set<string>();
    for (const symbol of ['0', '1', '2']) {
      const { stdout } = await hsn('symbols', run, symbol, '--json');
      found.add(
        subjectOf((JSON.parse(stdout) as { words: { word: string }[] }).words.map(({ word }) => word)),
      );
    }
    expect(found).toEqual(new Set(Object.keys(subjects)));
    expect(verifyRun(run).faults).toEqual([]);
  });

  test('reads texts, takes more, and learns to write without its teacher: the run has what it needs', async () => {
    const before = await hsn('encode', run, corpus);
    fs.renameSync(teacher, folder.path('away'));
    const after = await hsn('encode', run, corpus);
    expect(after.stdout).toBe(before.stdout);
    const more = folder.path('more.tsv');
    writeTexts(
      more,
      plantedTexts()
        .slice(0, 6)
        .map(([subject, text]) => `${subject}\t${text} again`),
    );
    const updated = await hsn('update', run, more);
    expect(updated.code, updated.stderr).toBe(0);
    const written = await hsn('train', '--out', run, '--resume', '--force');
    expect(written.code, written.stderr).toBe(0);
    fs.renameSync(folder.path('away'), teacher);
  });

  test('is for a new run of texts', async () => {
    const resumed = await hsn('train', '--out', run, '--resume', '--encoder', 'fast');
    expect(resumed.stderr).toBe('hsn: --encoder is for a new run; leave it out to go on with this one\n');
  });
});

describe('hsn encode', () => {
  test('reads known texts from the cache and says how many; a corpus with one more encodes that one', async () => {
    const made = await discover('plain', '--encoder', teacher);
    expect(made.code, made.stderr).toBe(0);
    const texts = plantedTexts().map(([, text]) => text);
    const distinct = new Set(texts).size;
    const all = folder.path('texts.txt');
    fs.writeFileSync(all, `a text that nobody knows\n${[...new Set(texts)].join('\n')}\n`);
    const first = await hsn('encode', folder.path('plain'), all);
    expect(first.stderr).toContain(
      `${distinct} of ${distinct + 1} texts were known: their vectors came from the cache`,
    );
    const again = await hsn('encode', folder.path('plain'), all);
    expect(again.stderr).toContain(`${distinct + 1} of ${distinct + 1} texts were known`);
    expect(again.stdout).toBe(first.stdout);
    const other = folder.path('other.tsv');
    fs.writeFileSync(other, `music\tone more of the guitar\n${fs.readFileSync(corpus, 'utf8')}`);
    const second = await discover('second', '--encoder', teacher, '--corpus', other);
    expect(second.stderr).toMatch(/vectors of 120 of 121 texts were in the cache/);
  });
});

describe('encoder.precision', () => {
  test('int8 is noted in the run, which reads texts by it', async () => {
    const made = await discover('int8', '--encoder', teacher, '--set', 'encoder.precision=int8');
    expect(made.code, made.stderr).toBe(0);
    expect(made.stderr).not.toContain('were in the cache');
    expect(Run.open(folder.path('int8')).config).toMatchObject({ encoder: { precision: 'int8' } });
    const { code } = await hsn('encode', folder.path('int8'), corpus);
    expect(code).toBe(0);
  });

  test.each([
    [
      ['encoder.walks=queries'],
      'is for symbols that are discovered; take encoder.walks: pursuit, or float32',
    ],
    [['encoder.name=transformer', 'encoder.walks=queries'], 'is for symbols that are discovered'],
  ])('%j refuses it in one line', async (settings, line) => {
    const flags = ['encoder.precision=int8', ...settings].flatMap((setting) => ['--set', setting]);
    const { code, stderr } = await hsn('train', '--corpus', corpus, '--out', folder.path('no'), ...flags);
    expect(code).toBe(1);
    expect(stderr).toContain(line);
    expect(fs.existsSync(folder.path('no'))).toBe(false);
  });
});
