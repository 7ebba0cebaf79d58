import fs from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { afterAll, describe, expect, test } from 'vitest';
import type { SyntheticConfig } from '../src/config/network.ts';
import { syntheticConfig } from '../src/config/settings.ts';
import { bestStep, checkpointSteps } from '../src/run/checkpoint.ts';
import { readMetrics } from '../src/run/metrics.ts';
import { Run } from '../src/run/run.ts';
import { Session } from '../src/run/session.ts';
import type { SessionResult } from '../src/run/session-checkpoint.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';

const folder = temporaryFolder('resume');
afterAll(folder.remove);
const corpus = tinyCorpus(folder.path('corpus'));
const info = { directory: corpus.directory, fingerprint: corpus.fingerprint };

/** A stop asked for as soon as `when` holds, which a session looks for between steps. */
function stopWhen(when: () => boolean): AbortSignal {
  const { signal } = new AbortController();
  Object.defineProperty(signal, 'aborted', { get: when });
  return signal;
}

type Point = { step: number } | { sweep: number };

const rowsOf = (run: Run) => readMetrics(run.path('metrics.jsonl')).rows.map(({ time: _, ...row }) => row);

/** Trains until a point, or to the end. */
async function train(run: Run, resume: boolean, until?: Point, said: string[] = []): Promise<SessionResult> {
  const output = { write: (text: string) => said.push(text) };
  const reached: () => boolean = () => {
    if (until === undefined) return false;
    if ('step' in until) return session.trainer.step >= until.step;
    return rowsOf(run).filter((row) => row.sweep !== undefined).length >= until.sweep;
  };
  const task = new SyntheticTask(syntheticConfig(run.config), corpus);
  const session: Session = new Session(run, task, { resume, output, signal: stopWhen(reached) });
  return session.train();
}

/** One run, stopped at each of the points in turn and continued by a fresh session. */
async function trained(name: string, config: SyntheticConfig, points: readonly Point[] = []): Promise<Run> {
  let run = Run.create(folder.path(name), config, info);
  for (const [i, point] of [...points, undefined].entries()) {
    if (i > 0) run = Run.open(run.directory, { write: true });
    const result = await train(run, i > 0, point);
    expect(result.state).toBe(point === undefined ? 'finished' : 'stopped');
    if (point && 'step' in point) expect(result.step).toBe(point.step);
    if (point && 'sweep' in point) expect(result.step).toBe(0);
    run.close();
  }
  return run;
}

/** All that must not depend on stops: weights, moments, generator, place in the data, best, metrics, figures. */
function traces(run: Run) {
  const last = checkpointSteps(run).at(-1)!;
  const file = (...names: string[]) => fs.readFileSync(run.path(...names));
  const { seconds: _, ...state } = JSON.parse(file('checkpoints', `step-${last}`, 'state.json').toString());
  return {
    last,
    model: file('checkpoints', `step-${last}`, 'model.safetensors').toString('base64'),
    optimizer: file('checkpoints', `step-${last}`, 'optimizer.safetensors').toString('base64'),
    state,
    best: JSON.parse(file('checkpoints', 'best.json').toString()),
    rows: rowsOf(run),
    evaluation: JSON.parse(file('evaluation.json').toString()),
    graph: JSON.parse(file('graph.json').toString()),
  };
}

// 280 sentences in batches of 64 make epochs of 4 steps.
const training = { steps: 14, evaluateEvery: 5 };
const kinds: [string, SyntheticConfig][] = [
  ['closed-form', tinyConfig({ graph: { sweeps: 6 }, encoder: { dropout: 0.2 }, training })],
  [
    'pairs, sampled',
    tinyConfig({
      seed: 9,
      graph: { posterior: 'pairs', prior: 'power-law', temperature: { from: 1, to: 0.3, steps: 10 } },
      walk: { expectation: 'sampled', prior: 'trained', temperature: 0.5 },
      encoder: { dropout: 0.2, readout: 'queries' },
      objective: { beta: { kind: 'cyclical', steps: 6 } },
      training: { ...training, decay: 0.01, schedule: 'linear' },
    }),
  ],
];

describe.each(kinds)('a run that was stopped and continued (%s)', (kind, config) => {
  const whole = trained(`${kind}-whole`, config).then(traces);

  test.each([
    ['at step 1', [{ step: 1 }]],
    ['in the middle of an epoch', [{ step: 6 }]],
    ["at an epoch's end", [{ step: 8 }]],
    ['at an evaluation', [{ step: 10 }]],
    ['again and again', [{ step: 1 }, { step: 2 }, { step: 4 }, { step: 5 }, { step: 13 }]],
    ['at the last step', [{ step: 14 }]],
  ] satisfies [string, Point[]][])('%s ends as if it had not been', async (name, points) => {
    const stopped = traces(await trained(`${kind}-${name}`, config, points));
    const expected = await whole;
    // At the last step the stop comes after the end of training, and only the evaluation is left to do.
    expect(stopped).toEqual(expected);
    expect(stopped.last).toBe(14);
  });

  test('a lost checkpoint is made up for by the one before', async () => {
    const name = `${kind}-lost`;
    const first = Run.create(folder.path(name), config, info);
    await train(first, false, { step: 8 });
    first.close();
    expect(checkpointSteps(first)).toEqual([5, 8]);
    fs.rmSync(first.path('checkpoints', 'step-8'), { recursive: true });
    const again = Run.open(first.directory, { write: true });
    await train(again, true);
    again.close();
    expect(traces(again)).toEqual(await whole);
  });

  test('a kill between the best checkpoint and its mark loses neither', async () => {
    const first = Run.create(folder.path(`${kind}-mark`), config, info);
    await train(first, false, { step: 11 });
    first.close();
    const best = bestStep(first)!;
    // As the process leaves it that wrote step-N, but did not come to say that it is the best.
    const state = JSON.parse(fs.readFileSync(first.path('checkpoints', 'step-11', 'state.json'), 'utf8'));
    expect(state.bestStep).toBe(best);
    fs.writeFileSync(first.path('checkpoints', 'best.json'), '{"step": 0}');
    const again = Run.open(first.directory, { write: true });
    await train(again, true);
    again.close();
    expect(traces(again)).toEqual(await whole);
  });

  test('without any checkpoint it begins again', async () => {
    const first = Run.create(folder.path(`${kind}-none`), config, info);
    await train(first, false, { step: 3 });
    first.close();
    fs.rmSync(first.path('checkpoints', 'step-3'), { recursive: true });
    const again = Run.open(first.directory, { write: true });
    const said: string[] = [];
    await train(again, true, undefined, said);
    again.close();
    expect(said.join('')).toContain('no checkpoint was written yet: training begins again');
    expect(traces(again)).toEqual(await whole);
  });
});

describe('graph sweeps', () => {
  const config = tinyConfig({ training: { steps: 3, evaluateEvery: 3 } });
  const whole = trained('sweeps-whole', config).then(traces);

  test.each([
    ['during them', [{ sweep: 1 }, { sweep: 4 }]],
    ['between them and the first step', [{ sweep: 1000 }]],
  ] satisfies [string, Point[]][])('a stop %s changes nothing', async (name, points) => {
    const expected = await whole;
    const sweeps = expected.rows.filter((row) => row.sweep !== undefined).length;
    expect(sweeps).toBeGreaterThan(5);
    expect(sweeps).toBeLessThan(config.graph.sweeps);
    const given = points.map(({ sweep }) => ({ sweep: Math.min(sweep, sweeps) }));
    expect(traces(await trained(`sweeps-${name}`, config, given))).toEqual(expected);
  });

  test('rows that a killed process wrote after its checkpoint are written again, not twice', async () => {
    const run = Run.create(folder.path('sweeps-killed'), config, info);
    await train(run, false, { sweep: 2 });
    run.close();
    const saved = folder.path('sweeps-killed-checkpoints');
    fs.cpSync(run.path('checkpoints'), saved, { recursive: true });
    const second = Run.open(run.directory, { write: true });
    await train(second, true, { sweep: 5 });
    second.close();
    fs.rmSync(run.path('checkpoints'), { recursive: true });
    fs.cpSync(saved, run.path('checkpoints'), { recursive: true });
    const third = Run.open(run.directory, { write: true });
    await train(third, true);
    third.close();
    expect(traces(third)).toEqual(await whole);
  });
});

test('a run whose patience ended does not go on when it is continued', async () => {
  const config = tinyConfig({
    training: { steps: 60, rate: 0.5, warmup: 0, schedule: 'constant', evaluateEvery: 2, patience: 2 },
  });
  const run = await trained('patience', config);
  const before = traces(run);
  expect(before.last).toBeLessThan(60);
  const again = Run.open(run.directory, { write: true });
  const result = await train(again, true);
  again.close();
  expect(result).toMatchObject({
    state: 'finished',
    reason: 'no better validation objective in 2 evaluations',
  });
  expect(traces(again)).toEqual(before);
});

describe('other settings', () => {
  test('replace those of the run only when the checkpoint fits them', async () => {
    const run = await trained('changed', tinyConfig({ training: { steps: 4 } }), [{ step: 2 }]);
    const longer = tinyConfig({ training: { steps: 6 } });
    expect(Run.open(run.directory).differences(longer, info)).toEqual(['training.steps: 4 → 6']);
    const forced = Run.open(run.directory, { write: true, config: longer });
    expect(await train(forced, true)).toMatchObject({ state: 'finished', step: 6 });
    expect(Run.open(run.directory).config.training.steps).toBe(4);
    forced.adopt({ directory: 'elsewhere', fingerprint: 'f'.repeat(64) });
    forced.close();
    const opened = Run.open(run.directory);
    expect(opened.config).toEqual(longer);
    expect(opened.record).toMatchObject({ state: 'finished', corpus: { directory: 'elsewhere' } });
    const wide = tinyConfig({ encoder: { width: 32 } });
    const misfit = Run.open(run.directory, { write: true, config: wide });
    expect(() => new Session(misfit, new SyntheticTask(wide, corpus), { resume: true })).toThrow(
      /^the checkpoint of step 6 needs the settings it was made with: .*encoder/,
    );
    misfit.close();
    expect(Run.open(run.directory).config).toEqual(longer);
  });
});
