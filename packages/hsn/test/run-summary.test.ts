import fs from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diagnose } from '../src/run/diagnosis.ts';
import { Run } from '../src/run/run.ts';
import { describeRun, listRuns, verifyRun } from '../src/run/run-summary.ts';
import { Session } from '../src/run/session.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';

const folder = temporaryFolder('run-summary');
afterAll(folder.remove);
const corpus = tinyCorpus(folder.path('corpus'));
const info = { directory: corpus.directory, fingerprint: corpus.fingerprint };
const output = { write: () => true };

async function train(name: string, config = tinyConfig(), stopAt = Number.POSITIVE_INFINITY): Promise<Run> {
  const run = Run.create(folder.path('runs', name), config, info);
  const task = new SyntheticTask(config, corpus);
  const { signal } = new AbortController();
  Object.defineProperty(signal, 'aborted', { get: () => task.trainer.step >= stopAt });
  try {
    await new Session(run, task, { signal, output }).train();
  } finally {
    run.close();
  }
  return run;
}

const wild = tinyConfig({
  graph: { posterior: 'free', prior: 'bernoulli' },
  walk: { expectation: 'sampled' },
  encoder: { teacher: 'none' },
  training: { rate: 1e30, clip: 1e30, warmup: 0, evaluateEvery: 100 },
});

let finished: Run;
beforeAll(async () => {
  finished = await train('a-finished');
  await train('b-stopped', tinyConfig(), 3);
  await train('c-wild', wild).catch(() => undefined);
  fs.cpSync(folder.path('runs', 'b-stopped'), folder.path('runs', 'd-killed'), { recursive: true });
  const record = JSON.parse(fs.readFileSync(folder.path('runs', 'd-killed', 'run.json'), 'utf8'));
  fs.writeFileSync(
    folder.path('runs', 'd-killed', 'run.json'),
    JSON.stringify({ ...record, state: 'running' }),
  );
  fs.mkdirSync(folder.path('runs', 'e-damaged'));
  fs.writeFileSync(folder.path('runs', 'e-damaged', 'run.json'), '{"format": 1');
});

describe('a list of runs', () => {
  test('has the state, the last figures and the checkpoints of each', () => {
    const runs = listRuns(folder.path('runs'));
    expect(runs.map(({ run, state }) => [run.split('/').at(-1), state])).toEqual([
      ['a-finished', 'finished'],
      ['b-stopped', 'stopped'],
      ['c-wild', 'crashed'],
      ['d-killed', 'crashed'],
      ['e-damaged', 'damaged'],
    ]);
    expect(runs[0]).toMatchObject({ model: 'synthetic', step: 15, steps: 15, checkpoints: [5, 10, 15] });
    expect(runs[0]!.metrics).toMatchObject({ loss: expect.any(Number), validation: expect.any(Number) });
    expect(runs[0]!.best).toBeTypeOf('number');
    expect(runs[1]).toMatchObject({ step: 3, checkpoints: [3] });
    expect(runs[2]!.failure).toMatchObject({ step: expect.any(Number), term: expect.any(String) });
    expect(runs[4]!.fault).toContain('is damaged: expected JSON');
  });

  test('a run that a process holds is running; one folder may be named itself', () => {
    const held = Run.open(finished.directory, { write: true });
    held.setState('running');
    expect(describeRun(finished.directory).state).toBe('running');
    held.setState('finished');
    held.close();
    expect(listRuns(finished.directory)).toHaveLength(1);
    expect(() => listRuns(folder.path('none'))).toThrow('is no folder; expected one that holds runs');
  });
});

describe('verification', () => {
  test('finds nothing in a whole run, and every damaged file by name', () => {
    expect(verifyRun(finished.directory).faults).toEqual([]);
    const directory = folder.path('broken');
    fs.cpSync(finished.directory, directory, { recursive: true });
    const file = (...names: string[]) => [directory, ...names].join('/');
    fs.truncateSync(file('checkpoints', 'step-5', 'model.safetensors'), 50);
    fs.rmSync(file('checkpoints', 'step-10', 'state.json'));
    fs.appendFileSync(file('checkpoints', 'step-15', 'manifest.json'), ' ');
    fs.writeFileSync(file('checkpoints', 'best.json'), '{"step": 7}');
    fs.writeFileSync(file('graph.json'), '{');
    fs.appendFileSync(file('metrics.jsonl'), '{"step": 16');
    const events = fs.readdirSync(directory).find((name) => name.startsWith('events.'))!;
    fs.truncateSync(file(events), fs.statSync(file(events)).size - 3);
    const { faults, notes } = verifyRun(directory);
    expect(faults).toEqual([
      expect.stringContaining('step-5/model.safetensors is damaged: expected'),
      expect.stringMatching(/^cannot read .*step-10\/state\.json: ENOENT/),
      expect.stringContaining('step-15/manifest.json is damaged'),
      expect.stringContaining('best.json names step 7, which has no checkpoint'),
      expect.stringContaining('graph.json is damaged'),
      expect.stringContaining('metrics.jsonl: 1 lines are cut or damaged'),
    ]);
    expect(notes).toEqual([expect.stringMatching(/events.* can be read up to byte \d+ of \d+/)]);
  });
});

describe('diagnosis', () => {
  test('repeats the batch that failed, and names the operator and its place', async () => {
    const run = Run.open(folder.path('runs', 'c-wild'));
    const before = fs.readFileSync(run.path('run.json'), 'utf8');
    const diagnosis = await diagnose(run, new SyntheticTask(wild, corpus));
    expect(diagnosis.failure).toEqual(run.record.failure);
    expect(diagnosis.again).toEqual(run.record.failure);
    const fault = diagnosis.forward ?? diagnosis.backward!;
    expect(fault.operator).toMatch(/^\w+/);
    expect(fault.output.nan + fault.output.infinite).toBeGreaterThan(0);
    expect(fault.stack[0]).toMatch(/packages\/(hsn|transformers)\/src/);
    expect(fs.readFileSync(run.path('run.json'), 'utf8')).toBe(before);
  });

  test('of a run that did not stop on a number is refused', async () => {
    await expect(diagnose(finished, new SyntheticTask(tinyConfig(), corpus))).rejects.toThrow(
      /did not stop on a number gone wrong \(its state is finished\)/,
    );
  });
});
