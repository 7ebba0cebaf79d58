import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { readSyntheticCorpus } from '../src/corpus/index.ts';
import { evaluateSynthetic, validationLoss } from '../src/evaluation/synthetic.ts';
import { syntheticConfig } from '../src/settings.ts';
import { readMetrics } from '../src/trainer/metrics.ts';
import { openModel } from '../src/trainer/open.ts';
import { Run } from '../src/trainer/run.ts';
import { verifyRun } from '../src/trainer/run-summary.ts';
import { Session } from '../src/trainer/session.ts';
import { SyntheticTask } from '../src/trainer/synthetic-task.ts';
import { temporaryFolder } from './tiny-corpus.ts';

const folder = temporaryFolder('old-run');
afterAll(folder.remove);
const kept = fileURLToPath(new URL('../../../fixtures/runs', import.meta.url));
fs.cpSync(kept, folder.path(), { recursive: true });
const directory = folder.path('synthetic-0.1.0');
const rowAt = (step: number, name: string) =>
  readMetrics(`${directory}/metrics.jsonl`).rows.find((row) => row.step === step && row[name] !== undefined)!;

describe('a run of version 0.1.0', () => {
  test('opens, is whole, and evaluates to what it logged', () => {
    expect(Run.open(directory).record).toMatchObject({ format: 1, version: '0.1.0', state: 'stopped' });
    expect(verifyRun(directory).faults).toEqual([]);
    expect(verifyRun(directory).notes).toEqual([
      expect.stringContaining('were not recorded when it was made'),
    ]);
    const { model, corpus, step, notes } = openModel(directory);
    expect([step, notes]).toEqual([5, []]);
    // Another processor may round otherwise.
    expect(validationLoss(model, corpus)).toBeCloseTo(rowAt(5, 'validation').validation!, 3);
    expect(evaluateSynthetic(model, corpus)).toMatchObject({ sentences: 20, auc: 1 });
    model.free();
  });

  test('continues from where it was stopped', async () => {
    const run = Run.open(directory, { write: true });
    expect(run.notes).toEqual([expect.stringContaining('were not recorded when it was made')]);
    const config = syntheticConfig(run.config);
    const corpus = readSyntheticCorpus(folder.path('corpus'), { seed: config.seed });
    expect(run.differences(config, corpus)).toEqual([]);
    const said: string[] = [];
    const output = { write: (text: string) => said.push(text) };
    const session = new Session(run, new SyntheticTask(config, corpus), { resume: true, output });
    expect(session.trainer.step).toBe(7);
    const result = await session.train();
    run.close();
    expect(result).toMatchObject({ state: 'finished', step: 10 });
    expect(said.join('')).not.toContain('damaged');
    expect(Run.open(directory).record.format).toBe(2);
    expect(verifyRun(directory)).toMatchObject({ faults: [], notes: [] });
    // What the run that was not stopped logged when the fixture was made.
    expect(rowAt(8, 'loss').epoch).toBe(1);
    expect(rowAt(10, 'loss').loss).toBeCloseTo(45.135, 1);
  });

  test('of a later format, says which version it needs', () => {
    const later = folder.path('later');
    fs.cpSync(`${kept}/synthetic-0.1.0`, later, { recursive: true });
    const record = JSON.parse(fs.readFileSync(`${later}/run.json`, 'utf8'));
    fs.writeFileSync(`${later}/run.json`, JSON.stringify({ ...record, format: 3, version: '3.0.0' }));
    expect(() => Run.open(later)).toThrow(
      /has format 3, made by version 3\.0\.0; .*so open it with version 3\.0\.0 or later/,
    );
  });
});
