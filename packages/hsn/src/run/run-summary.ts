import fs from 'node:fs';
import path from 'node:path';
import {
  hashFile,
  parseJson,
  readJsonFile,
  readRegular,
  readText,
  reasonOf,
  UserError,
} from '@hidden-schema/base';
import type { ModelKind } from '../config/settings.ts';
import type { Failure } from '../train/updater.ts';
import { BEST, bestStep, checkpointFaults, checkpointSteps, STATE } from './checkpoint.ts';
import { readConsistently } from './consistent.ts';
import { editsIn } from './edits.ts';
import { checkEvents } from './events.ts';
import { evaluationFigures, lastMetrics, type MetricsFile, type MetricsRow, readMetrics } from './metrics.ts';
import { Run, type RunState } from './run.ts';
import { isRunFolder } from './run-record.ts';
import type { SessionState } from './session-checkpoint.ts';
import { readSums, SUMS, sumFault } from './sums.ts';

/** A run at a glance. */
export interface RunSummary {
  /** The folder, as given. */
  run: string;
  /** damaged: it cannot be opened; `fault` says why. */
  state: RunState | 'damaged';
  model?: ModelKind;
  version?: string;
  created?: string;
  /** The last step that was logged, of so many. */
  step?: number;
  steps?: number;
  /** The figures of the last logged step, and of the last evaluation. */
  metrics?: Record<string, number>;
  /** Of its evaluation, once there is one. */
  figures?: Record<string, number | null>;
  checkpoints?: number[];
  best?: number;
  failure?: Failure;
  fault?: string;
}

/**
 * The runs in a folder, also one and two folders down; or the one that the folder is.
 *
 * @example
 * for (const { run, state } of listRuns('runs')) console.log(run, state);
 */
export function listRuns(directory: string): RunSummary[] {
  if (!fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`${directory} is no folder; expected one that holds runs`);
  return runFolders(directory, 2).map(describeRun);
}

function runFolders(directory: string, depth: number): string[] {
  if (isRunFolder(directory)) return [directory];
  if (depth === 0) return [];
  const inner = fs.readdirSync(directory, { withFileTypes: true });
  return inner
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => runFolders(path.join(directory, name), depth - 1));
}

export function describeRun(directory: string): RunSummary {
  return readConsistently(
    directory,
    () => summaryOf(directory),
    ({ fault }) => fault !== undefined,
  );
}

function summaryOf(directory: string): RunSummary {
  try {
    const run = Run.open(directory);
    const { version, created, failure } = run.record;
    if (run.files.exists('checkpoints', BEST))
      readRegular(run.path('checkpoints', BEST), undefined, { follow: false });
    const best = bestStep(run);
    const { rows, ...lines } = lastMetrics(run.path('metrics.jsonl'), 1000);
    const { fault } = metricsFault(run, lines);
    if (fault !== undefined) throw new UserError(fault);
    const last = rows.at(-1);
    const figures = evaluationFigures(run);
    return {
      run: directory,
      state: run.state,
      model: run.config.model,
      version,
      created,
      ...(last ? { step: last.step } : {}),
      steps: run.config.training.steps,
      metrics: lastFigures(rows),
      ...(figures ? { figures } : {}),
      checkpoints: checkpointSteps(run),
      ...(best === undefined ? {} : { best }),
      ...(failure ? { failure: failure as Failure } : {}),
    };
  } catch (error) {
    return { run: directory, state: 'damaged', fault: reasonOf(error) };
  }
}

/** What is wrong with metrics; half a line at the end is no fault where a process may have been killed. */
function metricsFault(
  run: Run,
  { skipped, cut }: Pick<MetricsFile, 'skipped' | 'cut'>,
): { fault?: string; note?: string } {
  const tail = cut && ['running', 'crashed'].includes(run.state);
  const text = (lines: number) => `${run.path('metrics.jsonl')}: ${lines} lines are cut or damaged`;
  const damaged = skipped - Number(tail);
  return { ...(damaged > 0 ? { fault: text(damaged) } : {}), ...(tail ? { note: text(1) } : {}) };
}

/** The last value of each figure; a step's and an evaluation's stand in rows of their own. */
function lastFigures(rows: readonly MetricsRow[]): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const { step: _step, epoch: _epoch, time: _time, ...row } of rows) Object.assign(figures, row);
  return figures;
}

/** What is wrong with a run, if anything. */
export interface Verification {
  run: string;
  /** What was looked at. */
  checked: string[];
  /** What is wrong, a line each, with the file's name. */
  faults: string[];
  /** What a run survives, such as the cut tail of an event file. */
  notes: string[];
}

/**
 * Checks every file of a run: hashes of checkpoints, and that the rest can be read.
 *
 * @example
 * const { faults } = verifyRun('run');
 * if (faults.length > 0) throw new Error(faults.join('\n'));
 */
export function verifyRun(directory: string): Verification {
  return readConsistently(
    directory,
    () => verification(directory),
    ({ faults }) => faults.length > 0,
  );
}

function verification(directory: string): Verification {
  const run = Run.open(directory);
  const checked = ['run.json', 'config.yaml'];
  const faults = run.edits().map((edit) => `edited since it was written: ${edit}`);
  const notes = run.recorded
    ? []
    : ['its settings and files were not recorded when it was made, so edits cannot be seen'];
  const steps = checkpointSteps(run);
  for (const step of steps) {
    checked.push(`checkpoints/step-${step}`);
    faults.push(...checkpointFaults(run, step));
  }
  if (steps.length === 0) notes.push('no checkpoint was written yet');
  if (run.files.exists('checkpoints', BEST)) {
    checked.push('checkpoints/best.json');
    faults.push(...bestFault(run, steps));
  }
  const found = { checked, faults, notes };
  for (const name of run.files.entries()) verifyFile(run, name, found);
  verifyAnswers(run, found);
  verifyEdits(run, found);
  for (const name of run.files.list('paths'))
    if (isRunFolder(run.path('paths', name))) verifyPath(run.path('paths', name), `paths/${name}`, found);
  return { run: directory, ...found };
}

type Found = Pick<Verification, 'checked' | 'faults' | 'notes'>;

/** A path model is a run in the folder of its network. */
function verifyPath(folder: string, shown: string, found: Found): void {
  const { checked, faults, notes } = verifyRun(folder);
  found.checked.push(...checked.map((name) => `${shown}/${name}`));
  found.faults.push(...faults);
  found.notes.push(...notes.map((note) => `${shown}: ${note}`));
}

/** What `undo` would believe. */
function verifyEdits({ files }: Run, { checked, faults }: Found): void {
  try {
    checked.push(...editsIn(files).map(({ number }) => `edits/${number}`));
  } catch (error) {
    faults.push(reasonOf(error));
  }
}

/** Compares what answers are made of with the sums that were recorded. */
function verifyAnswers({ files }: Run, { checked, faults, notes }: Found): void {
  try {
    const sums = readSums(files.path(SUMS));
    const present = files.answerFiles();
    for (const name of present) {
      const file = files.path(...name.split('/'));
      const known = sums.get(name);
      const fault = known && sumFault(hashFile(file).sha256, known);
      if (fault !== undefined && !faults.some((line) => line.startsWith(file)))
        faults.push(`${file} is damaged: ${fault}`);
      if (!checked.includes(name)) checked.push(name);
    }
    const gone = [...sums.keys()].filter((name) => !present.includes(name) && !name.startsWith('analysis/'));
    notes.push(...gone.map((name) => `${name} is gone`));
  } catch (error) {
    if (!faults.includes(reasonOf(error))) faults.push(reasonOf(error));
  }
}

function bestFault(run: Run, steps: readonly number[]): string[] {
  const file = run.path('checkpoints', BEST);
  const step = bestStep(run);
  if (step === undefined) return [`${file} is damaged: expected {"step": N}`];
  if (!steps.includes(step)) return [`${file} names step ${step}, which has no checkpoint`];
  // A process that was killed may have left the mark a checkpoint behind; continuing puts it right.
  const noted = ['finished', 'stopped'].includes(run.state) ? bestOfLast(run, steps) : undefined;
  return noted === undefined || noted === step
    ? []
    : [`${file} names step ${step}, but the last checkpoint says that step ${noted} is the best`];
}

/** The best step as the last checkpoint knows it; its damage is said where checkpoints are. */
function bestOfLast(run: Run, steps: readonly number[]): number | undefined {
  try {
    const file = run.path('checkpoints', `step-${steps.at(-1)}`, STATE);
    return readJsonFile<Partial<SessionState>>(file).bestStep;
  } catch {
    return undefined;
  }
}

function verifyFile(run: Run, name: string, found: Found): void {
  let file = name;
  try {
    file = run.path(name);
    if (name === 'metrics.jsonl') {
      const { fault, note } = metricsFault(run, readMetrics(file));
      if (fault !== undefined) found.faults.push(fault);
      if (note !== undefined) found.notes.push(note);
    } else if (name.startsWith('events.out.tfevents.')) {
      const { validBytes, size } = checkEvents(file);
      if (validBytes < size)
        found.notes.push(`${file} can be read up to byte ${validBytes} of ${size}, as after a kill`);
    } else if (name === 'tokenizer.json') parseJson(readText(file), file, { anyKey: true });
    else if (name.endsWith('.json') && name !== 'run.json' && name !== SUMS) readJsonFile(file);
    else return;
    found.checked.push(name);
  } catch (error) {
    found.faults.push(error instanceof UserError ? error.message : `cannot read ${file}: ${reasonOf(error)}`);
  }
}
