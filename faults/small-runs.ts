import assert from 'node:assert/strict';
import fs from 'node:fs';
import {
  checkpointSteps,
  createLanguageRun,
  type LanguageConfig,
  LanguageTask,
  prepareLanguage,
  Run,
  readMetrics,
  readSyntheticCorpus,
  Session,
  type SyntheticConfig,
  SyntheticTask,
  textInput,
  textRecord,
  writeSyntheticCorpus,
} from '@hidden-schema/hsn';
import { tinySettings } from '@hidden-schema/testing/tiny-corpus';
import { tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import type { Tally } from './tally.ts';

export interface TrainOptions {
  resume?: boolean;
  /** Stop as if by a signal once this step is done. */
  until?: number;
  /** What the session says. */
  said?: string[];
}

/** A signal that is found aborted as soon as `when` holds. */
function stopWhen(when: () => boolean): AbortSignal {
  const { signal } = new AbortController();
  Object.defineProperty(signal, 'aborted', { get: when });
  return signal;
}

/** The tiny synthetic corpus of a row. */
export function corpusOf(tally: Tally) {
  const folder = tally.path('corpus');
  if (!fs.existsSync(folder)) writeSyntheticCorpus(tinySettings, folder);
  return readSyntheticCorpus(folder);
}

/** Trains a small run on a synthetic language, in this process. */
export async function trained(
  tally: Tally,
  name: string,
  config: SyntheticConfig,
  { resume = false, until = Number.POSITIVE_INFINITY, said = [] }: TrainOptions = {},
): Promise<Run> {
  const corpus = corpusOf(tally);
  const info = { directory: corpus.directory, fingerprint: corpus.fingerprint };
  const run = resume
    ? Run.open(tally.path(name), { write: true })
    : Run.create(tally.path(name), config, info);
  const task = new SyntheticTask(config, corpus);
  const output = { write: (text: string) => said.push(text) };
  const signal = stopWhen(() => task.trainer.step >= until);
  try {
    await new Session(run, task, { resume, signal, output }).train();
  } finally {
    run.close();
  }
  return run;
}

/** The same on texts; a continued run reads all from its folder. */
export async function trainedOnTexts(
  tally: Tally,
  name: string,
  config: LanguageConfig,
  { resume = false, until = Number.POSITIVE_INFINITY }: TrainOptions = {},
): Promise<Run> {
  const cache = tally.path('cache');
  const input = tally.path('texts.tsv');
  if (!fs.existsSync(input)) writeTexts(input, tinySentences());
  const again = resume ? Run.open(tally.path(name), { write: true }) : undefined;
  const prepared = again
    ? await prepareLanguage(config, textInput(again), { cache, tokenizer: textRecord(again).tokenizer })
    : await prepareLanguage(config, { input, settings: {} }, { cache });
  const run = again ?? createLanguageRun(tally.path(name), prepared);
  assert.deepEqual(run.differences(config, prepared.info), []);
  const task = new LanguageTask(prepared);
  const signal = stopWhen(() => task.trainer.step >= until);
  try {
    await new Session(run, task, { resume, signal, output: { write: () => true } }).train();
  } finally {
    run.close();
    prepared.close();
  }
  return run;
}

/** All that must not depend on stops: weights, moments, generators, place in the data, best, losses, figures. */
export function traces(run: Run) {
  const last = checkpointSteps(run).at(-1)!;
  const file = (...names: string[]) => fs.readFileSync(run.path(...names));
  const { seconds: _, ...state } = JSON.parse(file('checkpoints', `step-${last}`, 'state.json').toString());
  const evaluation = run.path('evaluation.json');
  return {
    last,
    state,
    model: file('checkpoints', `step-${last}`, 'model.safetensors').toString('base64'),
    optimizer: file('checkpoints', `step-${last}`, 'optimizer.safetensors').toString('base64'),
    rows: readMetrics(run.path('metrics.jsonl')).rows.map(({ time: __, ...row }) => row),
    best: fs.existsSync(run.path('checkpoints', 'best.json'))
      ? JSON.parse(file('checkpoints', 'best.json').toString())
      : undefined,
    evaluation: fs.existsSync(evaluation) ? JSON.parse(file('evaluation.json').toString()) : undefined,
  };
}
