import fs from 'node:fs';
import { writeSyntheticCorpus } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyFlags, tinySettings } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-eval');
afterAll(folder.remove);
const corpus = folder.path('corpus');
const run = folder.path('run');
beforeAll(async () => {
  writeSyntheticCorpus(tinySettings, corpus);
  expect((await hsn('train', '--corpus', corpus, '--out', run, ...tinyFlags)).code).toBe(0);
});

const figures = async (...args: string[]) => {
  const { code, stdout, stderr } = await hsn('eval', run, '--json', ...args);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, number>;
};

describe('hsn eval', () => {
  test('prints the figures of the paper as JSON, as training did', async () => {
    const found = await figures();
    const keys = [
      ...['auc', 'average_precision', 'frobenius_truth', 'frobenius_random', 'frobenius_truth_sampled'],
      ...['frobenius_random_sampled', 'edges_sampled', 'edges_expected', 'edges_truth', 'nll', 'nll_authors'],
      ...['kl_walk', 'kl_graph', 'hits'],
    ];
    for (const key of keys) expect(Number.isFinite(found[key]), key).toBe(true);
    expect(
      Object.keys(found)
        .filter((key) => !keys.includes(key))
        .sort(),
    ).toEqual(['edges_walked', 'kl_walk_sentence', 'sentences']);
    expect(found).toEqual(JSON.parse(fs.readFileSync(folder.path('run', 'evaluation.json'), 'utf8')));
  });

  test('prints lines with what each figure means', async () => {
    const { stdout, stderr } = await hsn('eval', run);
    const found = await figures();
    expect(stderr).toBe('');
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('on 40 test sentences:');
    expect(lines).toHaveLength(Object.keys(found).length);
    for (const line of lines.slice(1)) {
      const [name, value, ...words] = line.trim().split(/\s+/);
      expect(Number(value)).toBeCloseTo(found[name!]!, value!.split('.')[1]?.length ?? 0);
      expect(words.length).toBeGreaterThan(1);
    }
  });

  test('takes a checkpoint, a limit and another corpus', async () => {
    const last = await figures('--checkpoint', 'last');
    expect(await figures('--checkpoint', '15')).toEqual(last);
    expect(await figures('--checkpoint', '5')).not.toEqual(last);
    expect((await figures('--limit', '7')).sentences).toBe(7);
    const other = folder.path('other');
    writeSyntheticCorpus({ ...tinySettings, sentences: 800 }, other);
    expect((await figures('--corpus', other)).sentences).toBe(80);
  });

  test('measures of texts are refused', async () => {
    const { code, stderr } = await hsn('eval', run, '--judge', 'x');
    expect([code, stderr]).toEqual([1, expect.stringContaining('--judge is for language models')]);
  });

  test('refuses a corpus that is no longer the one of the training, unless it is named', async () => {
    const moved = folder.path('moved');
    fs.cpSync(corpus, moved, { recursive: true });
    const out = folder.path('on-moved');
    await hsn('train', '--corpus', moved, '--out', out, ...tinyFlags, '--set', 'training.steps=1');
    fs.appendFileSync(
      folder.path('moved', 'train.txt'),
      `${fs.readFileSync(folder.path('moved', 'train.txt'), 'utf8').split('\n')[0]}\n`,
    );
    fs.rmSync(folder.path('moved', 'train_walks.txt'));
    const changed = await hsn('eval', out);
    expect(changed.code).toBe(1);
    expect(changed.stderr).toMatch(
      /has changed since this run was trained on it \(sha256 \w{12}… → \w{12}…\); put it back/,
    );
    expect((await hsn('eval', out, '--corpus', moved)).code).toBe(0);
  });
});
