import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Run } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguageFlags, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-language');
const corpus = folder.path('reviews.tsv');
beforeAll(() => {
  folder.holdCache();
  writeTexts(corpus);
});
afterAll(folder.remove);
const sizes = ['--symbols', '6', '--length', '3', ...tinyLanguageFlags];
const train = (out: string, ...args: string[]) =>
  hsn('train', '--corpus', corpus, '--out', folder.path(out), ...sizes, ...args);

describe('hsn train on texts', () => {
  test('recognises them, shows samples, and reports', async () => {
    const ended = await train('run');
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stderr).toMatch(/corpus: \d+ \+ \d+ \+ \d+ sentences, 2 labels, 320 tokens/);
    expect(ended.stderr).toMatch(/model: 6 symbols, walks of 3 steps, encoder transformer/);
    expect(ended.stderr).toMatch(/".+" → \d \d \d → ".*"/);
    expect(ended.stdout).toMatch(/ {2}perplexity +[\d.]+ {2}importance-weighted/);
    expect(ended.stdout).toMatch(
      /run finished at step 6: .*\nverbs use the checkpoint of step \d+, the best on validation texts.*\nlook again with: hsn eval/,
    );
    expect(Run.open(folder.path('run')).config).toMatchObject({ model: 'language', symbols: 6, length: 3 });
  });

  test('keeps a run that is there before it reads the corpus, and replaces it with --force', async () => {
    const refused = await train('run');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^hsn: .* already holds a run; [^\n]+\n$/);
    const { created } = Run.open(folder.path('run')).record;
    expect((await train('run', '--force')).code).toBe(0);
    expect(Run.open(folder.path('run')).record.created).not.toBe(created);
  });

  test('continues, and says which settings differ', async () => {
    const resume = (...args: string[]) => hsn('train', '--out', folder.path('run'), '--resume', ...args);
    const refused = await resume('--set', 'training.steps=9');
    expect(refused.stderr).toContain('training.steps: 6 → 9');
    const ended = await resume('--set', 'training.steps=9', '--force');
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain('run finished at step 9');
  });

  test('a folder with splits, and cut sentences are counted', async () => {
    const splits = folder.path('splits');
    fs.mkdirSync(splits);
    const lines = tinySentences(90).map((line) => line.split('\t')[1]!);
    lines[3] = Array.from({ length: 40 }, () => lines[3]).join(' and ');
    for (const [i, name] of ['train', 'valid', 'test'].entries())
      writeTexts(`${splits}/${name}.txt`, lines.slice(i * 30, (i + 1) * 30));
    const out = folder.path('from-splits');
    const ended = await hsn('train', '--corpus', splits, '--out', out, ...sizes);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stderr).toContain('corpus: 30 + 30 + 30 sentences');
    expect(ended.stderr).toContain("1 sentence longer than the encoder's positions");
  });

  test('standard input is kept in the run', async () => {
    const program = fileURLToPath(new URL('../bin/hsn.js', import.meta.url));
    const out = folder.path('piped');
    const args = ['train', '--corpus', '-', '--out', out, ...sizes];
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, HSN_THREADS: '1' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const text = tinySentences(120)
      .map((line) => line.split('\t')[1])
      .join('\n');
    child.stdin.end(text);
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(fs.readFileSync(`${out}/corpus.txt`, 'utf8')).toBe(text);
    const evaluated = await hsn('eval', out, '--json', '--walks', '5', '--graphs', '2');
    expect(evaluated).toMatchObject({ code: 0 });
    expect(JSON.parse(evaluated.stdout)).toHaveProperty('perplexity');
  });
});

describe('hsn eval of texts', () => {
  const keys = [
    ...['perplexity', 'mutual_information', 'mutual_information_exact', 'mutual_information_bound'],
    ...['reconstruction', 'kl_walk', 'kl_graph', 'symbols_used', 'baseline_perplexity'],
  ];

  test('has all figures, beside those of a baseline', async () => {
    expect((await train('baseline', '--set', 'baseline=true')).code).toBe(0);
    const args = ['eval', folder.path('run'), '--baseline', folder.path('baseline'), '--limit', '10'];
    const quick = [...args, '--walks', '5', '--graphs', '2'];
    const ended = await hsn(...quick, '--json');
    expect(ended).toMatchObject({ code: 0 });
    const figures = JSON.parse(ended.stdout);
    for (const key of keys) expect(figures[key], key).toBeTypeOf('number');
    expect(figures.sentences).toBe(10);
    expect((await hsn(...quick, '--json')).stdout).toBe(ended.stdout);
    const shown = await hsn(...quick);
    expect(shown.stdout).toMatch(/ {2}baseline_perplexity +[\d.]+ {2}of the same decoder without symbols/);
  });

  test('compares only with what can be compared', async () => {
    const self = await hsn('eval', folder.path('run'), '--baseline', folder.path('run'), '--limit', '5');
    expect(self.stderr).toMatch(/is no baseline; train one with --set baseline=true\n$/);
  });
});

describe('bad input: one clear line, and nothing written', () => {
  const cases: [string, () => string[], RegExp][] = [
    ['one symbol', () => ['--symbols', '1'], /symbols: expected a whole number of at least 2, got 1/],
    ['no steps', () => ['--length', '0'], /length: expected a whole number above 0, got 0/],
    ['a setting of the other model', () => ['--set', 'graph.sweeps=3'], /unknown key graph\.sweeps/],
    ['a hub name without network', () => ['--set', 'encoder.name=some/model'], /some\/model/],
    [
      'an unknown policy',
      () => ['--on-bad-utf8', 'ignore'],
      /--on-bad-utf8 takes one of error, replace, skip/,
    ],
    ['a missing encoder', () => ['--set', 'encoder.name=./gone'], /\.\/gone does not exist/],
  ];
  test.each(cases)('%s', async (_, args, line) => {
    const ended = await train('none', ...args());
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(line);
    expect(ended.stderr).toMatch(/^hsn: [^\n]+\n$/);
    expect(fs.existsSync(folder.path('none'))).toBe(false);
  });

  test('a label column that is not there', async () => {
    const file = folder.path('table.csv');
    fs.writeFileSync(file, 'text,mood\nthe cat is good,happy\nthe dog is bad,sad\n');
    const args = ['--label-column', 'stars', '--out', folder.path('none'), ...sizes];
    const ended = await hsn('train', '--corpus', file, ...args);
    expect(ended.stderr).toMatch(
      /^hsn: table\.csv has no column "stars"; its columns are "text", "mood"[^\n]+\n$/,
    );
    expect(fs.existsSync(folder.path('none'))).toBe(false);
  });

  test('an empty corpus', async () => {
    fs.writeFileSync(folder.path('empty.txt'), '\n\n');
    const out = folder.path('none');
    const ended = await hsn('train', '--corpus', folder.path('empty.txt'), '--out', out, ...sizes);
    expect(ended.stderr).toMatch(/^hsn: empty\.txt holds no sentence: [^\n]+\n$/);
    expect(fs.existsSync(out)).toBe(false);
  });
});
