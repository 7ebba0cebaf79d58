import fs from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguage, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { DEFAULT_ENCODER } from '@hidden-schema/transformers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LanguageConfig } from '../src/config/language.ts';
import { checkpointSteps } from '../src/run/checkpoint.ts';
import { readMetrics } from '../src/run/metrics.ts';
import { Run } from '../src/run/run.ts';
import { Session } from '../src/run/session.ts';
import { prepareLanguage } from '../src/tasks/language/prepare.ts';
import { LanguageTask } from '../src/tasks/language/task.ts';
import { createLanguageRun, textInput, textRecord } from '../src/tasks/language/text-record.ts';

const folder = temporaryFolder('language-resume');
afterAll(folder.remove);
const cache = folder.path('cache');
const input = folder.path('texts.tsv');
beforeAll(() => {
  // Of many lengths, so that a sentence meets batches of several widths.
  const lines = tinySentences();
  writeTexts(
    input,
    lines.map((line, i) =>
      [line, ...lines.slice(i, i + (i % 7)).map((more) => more.split('\t')[1])].join(' and '),
    ),
  );
});

/** Stops in the warm start are counted from below: −60 is after 60 of its updates at the earliest. */
const stopsAt = ({ trainer, preparation }: LanguageTask, stop: number): boolean =>
  stop < 0 ? preparation.state.count >= -stop : trainer.step >= stop;

/** One run, stopped after each of these steps and continued by a fresh session that reads all from the folder. */
async function trained(name: string, config: LanguageConfig, stops: readonly number[] = []): Promise<Run> {
  let run: Run | undefined;
  for (const stop of [...stops, Number.POSITIVE_INFINITY]) {
    const again = run && Run.open(run.directory, { write: true });
    const prepared = again
      ? await prepareLanguage(config, textInput(again), { cache, tokenizer: textRecord(again).tokenizer })
      : await prepareLanguage(config, { input, settings: {} }, { cache });
    const current: Run = again ?? createLanguageRun(folder.path(name), prepared);
    expect(current.differences(config, prepared.info)).toEqual([]);
    const task = new LanguageTask(prepared);
    const { signal } = new AbortController();
    Object.defineProperty(signal, 'aborted', { get: () => stopsAt(task, stop) });
    const output = { write: () => true };
    const result = await new Session(current, task, { resume: run !== undefined, signal, output }).train();
    expect(result.state).toBe(stop === Number.POSITIVE_INFINITY ? 'finished' : 'stopped');
    current.close();
    prepared.close();
    run = current;
  }
  return run!;
}

/** All that must not depend on stops. */
function traces(run: Run) {
  const last = checkpointSteps(run).at(-1)!;
  const file = (...names: string[]) => fs.readFileSync(run.path(...names));
  const { seconds: _, ...state } = JSON.parse(file('checkpoints', `step-${last}`, 'state.json').toString());
  return {
    last,
    state,
    model: file('checkpoints', `step-${last}`, 'model.safetensors').toString('base64'),
    optimizer: file('checkpoints', `step-${last}`, 'optimizer.safetensors').toString('base64'),
    best: JSON.parse(file('checkpoints', 'best.json').toString()),
    rows: readMetrics(run.path('metrics.jsonl')).rows.map(({ time: __, ...row }) => row),
    evaluation: JSON.parse(file('evaluation.json').toString()),
  };
}

// 135 or so sentences in batches of 16 make epochs of about 8 steps.
const training = { steps: 11, evaluateEvery: 4 };
const kinds: [string, LanguageConfig][] = [
  ['network', tinyLanguage({ training })],
  [
    'annealed',
    tinyLanguage({
      seed: 3,
      graph: { prior: 'power-law', temperature: { from: 1, to: 0.5, steps: 8 } },
      objective: { beta: { kind: 'cyclical', steps: 5 } },
      decoder: { name: 'llama' },
      training,
    }),
  ],
  ['warm start', tinyLanguage({ warmStart: { steps: 170, hold: 3 }, training })],
  ['baseline', tinyLanguage({ baseline: true, training })],
  // Into the third epoch: from the second on, states come from memory in a run that was not stopped.
  [
    'frozen MiniLM',
    tinyLanguage({
      encoder: { name: DEFAULT_ENCODER },
      training: { ...training, steps: 24, evaluateEvery: 12 },
    }),
  ],
];

test.each(kinds)(
  'a run that was stopped and continued ends as if it had not been (%s)',
  async (kind, config) => {
    const whole = traces(await trained(`${kind}-whole`, config));
    const stops = config.warmStart.steps > 100 ? [-50, -120, 1, 4] : [1, 4, 9];
    expect(traces(await trained(`${kind}-stopped`, config, stops))).toEqual(whole);
    expect(whole.last).toBe(config.training.steps);
  },
  // MiniLM reads sentences one by one where the place in a batch would change bits.
  180_000,
);
