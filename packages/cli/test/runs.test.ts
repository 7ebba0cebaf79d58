import fs from 'node:fs';
import { writeSyntheticCorpus } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyFlags, tinySettings } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-runs');
afterAll(folder.remove);
const corpus = folder.path('corpus');
const set = (...settings: string[]) => settings.flatMap((setting) => ['--set', setting]);
const train = (name: string, ...rest: string[]) =>
  hsn('train', '--corpus', corpus, '--out', folder.path('runs', name), ...tinyFlags, ...rest);

beforeAll(async () => {
  writeSyntheticCorpus(tinySettings, corpus);
  expect(
    (await train('good', ...set('training.steps=6', 'checkpoints.every=2', 'checkpoints.keep=2'))).code,
  ).toBe(0);
  const wild = [
    'training.rate=1e30',
    'training.clip=1e30',
    'training.warmup=0',
    'training.evaluateEvery=100',
  ];
  expect((await train('wild', ...set(...wild))).code).toBe(1);
});

describe('hsn runs', () => {
  test('shows a table, or JSON', async () => {
    const shown = await hsn('runs', folder.path('runs'));
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    const [head, , ...rows] = shown.stdout.trimEnd().split('\n');
    expect(head).toMatch(/^run +state +step +last figures +checkpoints$/);
    expect(rows[0]).toMatch(/runs\/good +finished +6\/6 +loss .* validation .* auc .* +4, 6|5/);
    expect(rows[1]).toMatch(/runs\/wild +crashed +\d+\/15 +\S.* was (NaN|-?Infinity|not finite)/);
    const json = JSON.parse((await hsn('runs', folder.path('runs'), '--json')).stdout);
    expect(json.map(({ state }: { state: string }) => state)).toEqual(['finished', 'crashed']);
  });

  test('says so where there are none', async () => {
    expect((await hsn('runs', corpus)).stdout).toBe(`no runs in ${corpus}\n`);
    const missing = await hsn('runs', folder.path('gone'));
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toMatch(/^hsn: .*gone is no folder; expected one that holds runs\n$/);
  });
});

describe('hsn verify', () => {
  test('is 0 for a whole run, and 1 with the file’s name for a damaged one', async () => {
    const run = folder.path('runs', 'good');
    const whole = await hsn('verify', run);
    expect(whole).toMatchObject({ code: 0 });
    expect(whole.stdout).toMatch(/\d checkpoints and \d other files checked, all as written\n$/);
    const file = `${run}/checkpoints/step-6/optimizer.safetensors`;
    const bytes = fs.readFileSync(file);
    bytes[bytes.length - 1]! ^= 1;
    fs.writeFileSync(file, bytes);
    const broken = await hsn('verify', run);
    expect(broken).toMatchObject({ code: 1, stderr: '' });
    expect(broken.stdout).toContain(`${file} is damaged: expected sha256`);
    expect(broken.stdout).toMatch(/, 1 damaged\n$/);
    expect(JSON.parse((await hsn('verify', run, '--json')).stdout).faults).toHaveLength(1);
  });
});

describe('hsn train --diagnose', () => {
  test('names the operator, and leaves the run as it is', async () => {
    const run = folder.path('runs', 'wild');
    const before = fs.readFileSync(`${run}/run.json`, 'utf8');
    const { code, stdout } = await hsn('train', '--out', run, '--diagnose');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^repeated from .*: step \d+.*, where .* was (NaN|-?Infinity|not finite)\nit came again: /,
    );
    expect(stdout).toMatch(
      /first in the (values, from|gradients, going back through) \w+.*\n {2}(given|at) /,
    );
    expect(fs.readFileSync(`${run}/run.json`, 'utf8')).toBe(before);
  });

  test('is refused where there is nothing to diagnose', async () => {
    const { code, stderr } = await hsn('train', '--out', folder.path('runs', 'good'), '--diagnose');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^hsn: .*did not stop on a number gone wrong/);
    expect((await hsn('train', '--diagnose')).stderr).toMatch(/^hsn: --diagnose needs --out/);
  });
});
