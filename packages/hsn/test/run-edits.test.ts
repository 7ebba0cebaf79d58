import fs from 'node:fs';
import path from 'node:path';
import { symbolNames } from '@hidden-schema/studies';
import { renameAtOnce } from '@hidden-schema/testing/renaming';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, describe, expect, test } from 'vitest';
import { dumpConfig } from '../src/config/settings.ts';
import { Run } from '../src/run/run.ts';
import { verifyRun } from '../src/run/run-summary.ts';

const folder = temporaryFolder('run-edits');
afterAll(folder.remove);
const config = tinyConfig({ seed: 3 });
const corpus = { directory: 'corpora/barabasi', fingerprint: 'f'.repeat(64) };
let made = 0;

function fresh(): string {
  const directory = folder.path(`run-${made++}`);
  const fill = (into: string) => fs.writeFileSync(path.join(into, 'tokenizer.json'), '{"vocabulary": 1}');
  const run = Run.create(directory, config, corpus, { extra: { text: { labels: ['good'] } }, fill });
  run.setState('stopped', { step: 4, seconds: 1 });
  run.close();
  return directory;
}

function edit(directory: string, name: string, from: string | RegExp, to: string): void {
  const file = path.join(directory, name);
  const before = fs.readFileSync(file, 'utf8');
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  fs.writeFileSync(file, after);
}

describe('a run that was edited by hand', () => {
  test.each([
    ['config.yaml', 'seed: 3', 'seed: 77', 'config.yaml: seed: 3 → 77'],
    ['config.yaml', /batch: 64/, 'batch: 32', 'config.yaml: training.batch: 64 → 32'],
    [
      'run.json',
      /f{60}/,
      'e'.repeat(60),
      `run.json: corpus.fingerprint: ${'f'.repeat(60)}… → ${'e'.repeat(60)}…`,
    ],
    ['run.json', '"good"', '"bad"', 'run.json: text.labels: ["good"] → ["bad"]'],
    ['tokenizer.json', '1', '2', 'tokenizer.json: sha256 '],
    ['manifest.json', 'seed: 3', 'seed: 4', 'manifest.json: is damaged, expected it as it was written'],
  ])('is not continued: %s, %s', (name, from, to, said) => {
    const directory = fresh();
    expect(verifyRun(directory).faults).toEqual([]);
    edit(directory, name, from, to);
    expect(() => Run.open(directory, { write: true })).toThrow(
      `${directory} was edited since it was trained:\n  ${said}`,
    );
    expect(() => Run.open(directory, { write: true })).toThrow(
      '\n  put this back as it was, or add --force to go on with it',
    );
    expect(verifyRun(directory).faults).toEqual([
      expect.stringContaining(`edited since it was written: ${said}`),
    ]);
    // It is still looked at, and its lock was given back.
    const run = Run.open(directory, { write: true, force: true });
    expect(run.differences(run.config, run.record.corpus)).toHaveLength(1);
    run.adopt(run.record.corpus);
    run.close();
    expect(verifyRun(directory).faults).toEqual([]);
    Run.open(directory, { write: true }).close();
  });

  test('a file that is gone is named, also the record itself', () => {
    for (const name of ['tokenizer.json', 'manifest.json']) {
      const directory = fresh();
      fs.rmSync(path.join(directory, name));
      expect(() => Run.open(directory, { write: true })).toThrow(`${name}: cannot be read (ENOENT`);
    }
  });

  test('the same settings written otherwise are the same; so is what training notes', () => {
    const directory = fresh();
    const file = path.join(directory, 'config.yaml');
    fs.writeFileSync(file, `# mine\n${dumpConfig(config)}\n`);
    const run = Run.open(directory, { write: true });
    run.setState('crashed', { failure: { step: 1, term: 'loss', value: 'NaN' } });
    run.close();
    expect(Run.open(directory).edits()).toEqual([]);
  });

  test('a run without a record opens, says so, and has one from then on', () => {
    const directory = fresh();
    fs.rmSync(path.join(directory, 'manifest.json'));
    edit(directory, 'run.json', '"format": 2', '"format": 1');
    edit(directory, 'config.yaml', 'seed: 3', 'seed: 8');
    expect(Run.open(directory).recorded).toBe(false);
    expect(verifyRun(directory).notes[0]).toContain('were not recorded when it was made');
    const run = Run.open(directory, { write: true });
    expect(run.notes).toEqual([expect.stringMatching(/not recorded .*; they are recorded from now on$/)]);
    run.setState('stopped');
    run.close();
    edit(directory, 'config.yaml', 'seed: 8', 'seed: 9');
    expect(() => Run.open(directory, { write: true })).toThrow('config.yaml: seed: 8 → 9');
  });
});

test('names that several processes give at once are all kept', async () => {
  const directory = fresh();
  await renameAtOnce(directory, 3, 20);
  const names = symbolNames(directory);
  expect([...names.keys()]).toEqual(Array.from({ length: 60 }, (_, symbol) => symbol));
  expect(names.get(41)).toBe('name 41');
});
