import fs from 'node:fs';
import path from 'node:path';
import { openSafetensors, type Tensor, writeSafetensors } from '@hidden-schema/torch';
import { UserError } from '../errors.ts';
import {
  freeBytes,
  hashFile,
  type JsonValue,
  jsonText,
  reasonOf,
  syncFolder,
  writeJsonAtomic,
  writeSynced,
} from './files.ts';
import { MANIFEST, type Manifest, MODEL, manifestText, OPTIMIZER, readManifest, STATE } from './manifest.ts';
import type { Run } from './run.ts';

/** What a checkpoint holds. */
export interface CheckpointParts {
  model: Iterable<readonly [string, Tensor]>;
  optimizer?: Iterable<readonly [string, Tensor]>;
  state: JsonValue;
}

export interface SaveOptions {
  /** Marks this checkpoint as the best so far, which is kept. */
  best?: boolean;
  /** How many of the last to keep beside the best; 3 by default. */
  keep?: number;
}

export interface Checkpoint {
  step: number;
  model: Map<string, Tensor>;
  optimizer: Map<string, Tensor> | undefined;
  state: JsonValue;
  /** What the user should know, such as a damaged checkpoint that was passed over. */
  notes: string[];
}

const BEST = 'best.json';
/** Bytes beyond the tensors: headers, manifest, and blocks that are not full. */
const SPACE_MARGIN = 1 << 20;

const folderOf = (run: Run, step: number): string => run.path('checkpoints', `step-${step}`);

/** Writes `checkpoints/step-N` whole or not at all, then removes those that are neither last nor best. */
export function saveCheckpoint(
  run: Run,
  step: number,
  parts: CheckpointParts,
  options: SaveOptions = {},
): void {
  requireWritable(run);
  if (!Number.isSafeInteger(step) || step < 0) throw new RangeError(`a checkpoint's step cannot be ${step}`);
  const model = [...parts.model];
  const optimizer = parts.optimizer && [...parts.optimizer];
  const state = jsonText(parts.state);
  const folder = run.path('checkpoints');
  tidy(folder);
  checkSpace(folder, step, tensorBytes(model) + tensorBytes(optimizer ?? []) + Buffer.byteLength(state));
  const partial = path.join(folder, `.partial-step-${step}`);
  try {
    fs.mkdirSync(partial);
    writeSafetensors(path.join(partial, MODEL), model);
    if (optimizer) writeSafetensors(path.join(partial, OPTIMIZER), optimizer);
    writeSynced(path.join(partial, STATE), state);
    const names = fs.readdirSync(partial).sort();
    const files = Object.fromEntries(names.map((name) => [name, hashFile(path.join(partial, name))]));
    writeSynced(path.join(partial, MANIFEST), manifestText(step, files));
    syncFolder(partial);
    moveIntoPlace(partial, folder, step);
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true });
    throw new UserError(
      `cannot write the checkpoint ${folderOf(run, step)}: ${reasonOf(error)}; the checkpoints before it are kept`,
    );
  }
  if (options.best) writeJsonAtomic(path.join(folder, BEST), { step });
  prune(run, Math.max(1, options.keep ?? 3));
}

const tensorBytes = (tensors: readonly (readonly [string, Tensor])[]): number =>
  tensors.reduce(
    (sum, [name, tensor]) => sum + tensor.size * elementBytes(tensor) + 128 + 2 * name.length,
    0,
  );

function elementBytes({ dtype }: Tensor): number {
  const bits = /\d+$/.exec(dtype);
  return bits ? Number(bits[0]) / 8 : 1;
}

function checkSpace(folder: string, step: number, bytes: number): void {
  const needed = bytes + SPACE_MARGIN;
  const free = freeBytes(folder);
  if (free >= needed) return;
  const mb = (value: number) => `${(value / 1e6).toFixed(1)} MB`;
  throw new UserError(
    `not enough space for checkpoint step-${step}: it needs ${mb(needed)}, ${mb(free)} are free in ${folder}; the checkpoints before it are kept`,
  );
}

/** One that has the same step (as after a resume) is moved aside first, and back if the new one cannot follow. */
function moveIntoPlace(partial: string, folder: string, step: number): void {
  const target = path.join(folder, `step-${step}`);
  const old = path.join(folder, `.old-step-${step}`);
  const existed = fs.existsSync(target);
  if (existed) fs.renameSync(target, old);
  try {
    fs.renameSync(partial, target);
  } catch (error) {
    if (existed) fs.renameSync(old, target);
    throw error;
  }
  syncFolder(folder);
  if (existed) fs.rmSync(old, { recursive: true, force: true });
}

/** Puts right what a killed process left: half-written and half-removed folders go, one moved aside comes back. */
function tidy(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const step = /^\.old-step-(\d+)$/.exec(name)?.[1];
    const found = path.join(folder, name);
    const target = path.join(folder, `step-${step}`);
    if (step !== undefined && !fs.existsSync(target)) fs.renameSync(found, target);
    else if (/^\.(partial|old|gone)-step-\d+$|^\..+\.\d+\.tmp$/.test(name))
      fs.rmSync(found, { recursive: true, force: true });
  }
}

function prune(run: Run, keep: number): void {
  const best = bestStep(run);
  for (const step of checkpointSteps(run).slice(0, -keep)) if (step !== best) remove(run, step);
}

/** Renamed first, so that one that is half removed does not look like a checkpoint. */
function remove(run: Run, step: number): void {
  const gone = run.path('checkpoints', `.gone-step-${step}`);
  fs.rmSync(gone, { recursive: true, force: true });
  fs.renameSync(folderOf(run, step), gone);
  fs.rmSync(gone, { recursive: true, force: true });
}

/** Removes the checkpoints of later steps when a run continues from this one: it will write them again. */
export function discardCheckpointsAfter(run: Run, step: number): void {
  requireWritable(run);
  tidy(run.path('checkpoints'));
  if ((bestStep(run) ?? step) > step) fs.rmSync(run.path('checkpoints', BEST), { force: true });
  for (const later of checkpointSteps(run)) if (later > step) remove(run, later);
}

function requireWritable(run: Run): void {
  if (!run.locked) throw new Error(`${run.directory} was opened to read; open it with { write: true }`);
}

/** Steps of all checkpoints, whole or not, smallest first. */
export function checkpointSteps(run: Run): number[] {
  const folder = run.path('checkpoints');
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).map((name) => /^(?:\.old-)?step-(\d+)$/.exec(name)?.[1]);
  return [...new Set(names.filter((step) => step !== undefined).map(Number))].sort((a, b) => a - b);
}

export function bestStep(run: Run): number | undefined {
  try {
    const { step } = JSON.parse(fs.readFileSync(run.path('checkpoints', BEST), 'utf8')) as { step: unknown };
    return typeof step === 'number' ? step : undefined;
  } catch {
    return undefined;
  }
}

// Reading

/** Loads a checkpoint after checking every hash; from a damaged one it goes back to the last good one before. */
export function loadCheckpoint(run: Run, which: 'last' | 'best' | number): Checkpoint {
  const steps = checkpointSteps(run);
  const [wanted, ...others] = candidates(run, which, steps);
  if (wanted === undefined) {
    const known = steps.length > 0 ? `it has steps ${steps.join(', ')}` : 'it has none';
    const asked = typeof which === 'number' ? `of step ${which}` : 'yet';
    throw new UserError(`${run.directory} has no checkpoint ${asked}: ${known}`);
  }
  const notes: string[] = [];
  if (which === 'best' && bestStep(run) !== wanted)
    notes.push(`${run.path('checkpoints', BEST)} names no checkpoint; the last one is used`);
  const problems: string[] = [];
  for (const step of [wanted, ...others]) {
    try {
      const read = readCheckpoint(run, step);
      const used = problems.map((problem) => `${problem}; step ${step} is used in its place`);
      return { step, ...read, notes: [...notes, ...used] };
    } catch (error) {
      problems.push(reasonOf(error));
    }
  }
  throw new UserError(`no checkpoint of ${run.directory} can be read: ${problems.join('; ')}`);
}

/** Steps to try in turn. */
function candidates(run: Run, which: 'last' | 'best' | number, steps: readonly number[]): number[] {
  const latest = steps.toReversed();
  const first = which === 'best' ? bestStep(run) : which === 'last' ? latest[0] : which;
  if (first === undefined || !steps.includes(first)) return which === 'best' ? latest : [];
  // Beside a damaged best one, the last serves best; else only earlier steps do, which training can repeat.
  return [first, ...latest.filter((step) => (which === 'best' ? step !== first : step < first))];
}

function readCheckpoint(run: Run, step: number): Omit<Checkpoint, 'step' | 'notes'> {
  const { folder, files } = verifyCheckpoint(run, step);
  const state = JSON.parse(fs.readFileSync(path.join(folder, STATE), 'utf8')) as JsonValue;
  const model = readTensors(path.join(folder, MODEL));
  return {
    model,
    optimizer: OPTIMIZER in files ? readTensors(path.join(folder, OPTIMIZER)) : undefined,
    state,
  };
}

function readTensors(file: string): Map<string, Tensor> {
  const weights = openSafetensors(file);
  try {
    return new Map(weights.names.map((name) => [name, weights.get(name)]));
  } finally {
    weights.close();
  }
}

/** Checks every file of a checkpoint against its manifest; throws naming the first that is not as written. */
export function verifyCheckpoint(run: Run, step: number): { folder: string; files: Manifest['files'] } {
  const whole = folderOf(run, step);
  // A process killed between two renames leaves the old checkpoint of this step under its other name.
  const folder = fs.existsSync(whole) ? whole : run.path('checkpoints', `.old-step-${step}`);
  const { files } = readManifest(path.join(folder, MANIFEST), step);
  for (const [name, expected] of Object.entries(files)) {
    const file = path.join(folder, name);
    const got = hashed(file);
    if (got.size !== expected.size)
      throw new UserError(`${file} is damaged: expected ${expected.size} bytes, got ${got.size}`);
    if (got.sha256 !== expected.sha256)
      throw new UserError(
        `${file} is damaged: expected sha256 ${expected.sha256.slice(0, 12)}…, got ${got.sha256.slice(0, 12)}…`,
      );
  }
  return { folder, files };
}

function hashed(file: string): ReturnType<typeof hashFile> {
  try {
    return hashFile(file);
  } catch (error) {
    throw new UserError(`cannot read ${file}: ${reasonOf(error)}`);
  }
}
