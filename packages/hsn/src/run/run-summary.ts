import fs from 'node:fs';
import path from 'node:path';
import { parseJson, readJsonFile, readJsonIfThere, readText, reasonOf, UserError } from '@hidden-schema/base';
import type { ModelKind } from '../config/settings.ts';
import type { Failure } from '../train/number-failure.ts';
import { bestStep, checkpointFaults, checkpointSteps } from './checkpoint.ts';
import { readEvents } from './events.ts';
import { type MetricsRow, readMetrics } from './metrics.ts';
import { lastMetrics } from './metrics-tail.ts';
import { Run, type RunState } from './run.ts';
import { isRunFolder } from './run-record.ts';
import type { SessionState } from './session-terms.ts';

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
  try {
    const run = Run.open(directory);
    const { version, created, failure } = run.record;
    readJsonIfThere(run.path('checkpoints', 'best.json'));
    const best = bestStep(run);
    const rows = lastMetrics(run.path('metrics.jsonl'), 1000);
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

/** The last value of each figure; a step's and an evaluation's stand in rows of their own. */
function lastFigures(rows: readonly MetricsRow[]): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const { step: _step, epoch: _epoch, time: _time, ...row } of rows) Object.assign(figures, row);
  return figures;
}

/** The figures at the end of training; none before. */
export function evaluationFigures(run: Run): Record<string, number | null> | undefined {
  const figures = readJsonIfThere<Record<string, unknown>>(run.path('evaluation.json'));
  if (figures === undefined) return undefined;
  if (typeof figures !== 'object' || figures === null || Array.isArray(figures))
    throw new UserError(`${run.path('evaluation.json')} is damaged: expected figures by their names`);
  const pairs = Object.entries(figures).map(([name, x]) => [name, typeof x === 'number' ? x : null]);
  return Object.fromEntries(pairs) as Record<string, number | null>;
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
  if (fs.existsSync(run.path('checkpoints', 'best.json'))) {
    checked.push('checkpoints/best.json');
    faults.push(...bestFault(run, steps));
  }
  for (const name of fs.readdirSync(run.directory).sort()) verifyFile(run, name, { checked, faults, notes });
  return { run: directory, checked, faults, notes };
}

function bestFault(run: Run, steps: readonly number[]): string[] {
  const file = run.path('checkpoints', 'best.json');
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
    const file = run.path('checkpoints', `step-${steps.at(-1)}`, 'state.json');
    return readJsonFile<Partial<SessionState>>(file).bestStep;
  } catch {
    return undefined;
  }
}

function verifyFile(run: Run, name: string, found: Pick<Verification, 'checked' | 'faults' | 'notes'>): void {
  const file = run.path(name);
  try {
    if (name === 'metrics.jsonl') {
      const { skipped } = readMetrics(file);
      // A process that was killed leaves half a line; the next one removes it.
      const tail = skipped === 1 && ['running', 'crashed'].includes(run.state);
      if (skipped > 0) found[tail ? 'notes' : 'faults'].push(`${file}: ${skipped} lines are cut or damaged`);
    } else if (name.startsWith('events.out.tfevents.')) {
      const { validBytes, size } = readEvents(file);
      if (validBytes < size)
        found.notes.push(`${file} can be read up to byte ${validBytes} of ${size}, as after a kill`);
    } else if (name === 'tokenizer.json') parseJson(readText(file), file, { anyKey: true });
    else if (name.endsWith('.json') && name !== 'run.json') readJsonFile(file);
    else return;
    found.checked.push(name);
  } catch (error) {
    found.faults.push(error instanceof UserError ? error.message : `cannot read ${file}: ${reasonOf(error)}`);
  }
}
