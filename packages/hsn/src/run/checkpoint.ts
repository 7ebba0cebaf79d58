import fs from 'node:fs';
import path from 'node:path';
import {
  freeBytes,
  hashFile,
  type JsonValue,
  openSealed,
  readJsonFile,
  readRegular,
  readText,
  reasonOf,
  sealedText,
  UserError,
  writeFileAtomic,
} from '@hidden-schema/base';
import { openSafetensors, type Tensor } from '@hidden-schema/torch';
import type { Run } from './run.ts';

export interface Checkpoint {
  step: number;
  model: Map<string, Tensor>;
  optimizer: Map<string, Tensor> | undefined;
  state: JsonValue;
  /** What the user should know, such as a damaged checkpoint that was passed over. */
  notes: string[];
}

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
  for (const step of [wanted, ...others])
    try {
      const read = readCheckpoint(run, step);
      const used = problems.map((problem) => `${problem}; step ${step} is used in its place`);
      return { step, ...read, notes: [...notes, ...used] };
    } catch (error) {
      problems.push(reasonOf(error));
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
  const state = readJsonFile(path.join(folder, STATE));
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
  const folder = writtenFolder(run, step);
  const { files } = readManifest(path.join(folder, MANIFEST), step);
  const [fault] = fileFaults(folder, files);
  if (fault !== undefined) throw new UserError(fault);
  return { folder, files };
}

/** Everything of a checkpoint that is not as it was written, a line each. */
export function checkpointFaults(run: Run, step: number): string[] {
  try {
    const folder = writtenFolder(run, step);
    return [...fileFaults(folder, readManifest(path.join(folder, MANIFEST), step).files)];
  } catch (error) {
    return [reasonOf(error)];
  }
}

/** A process killed between two renames leaves the old checkpoint of a step under its other name. */
function writtenFolder({ files }: Run, step: number): string {
  const name = files.exists('checkpoints', `step-${step}`) ? `step-${step}` : `.old-step-${step}`;
  // None of its files is read through a link.
  for (const part of [MANIFEST, MODEL, OPTIMIZER, STATE]) files.path('checkpoints', name, part);
  return files.path('checkpoints', name);
}

function* fileFaults(folder: string, files: Manifest['files']): Generator<string> {
  for (const [name, expected] of Object.entries(files)) {
    const file = path.join(folder, name);
    const fault = fileFault(file, expected);
    if (fault !== undefined) yield fault;
  }
}

function fileFault(file: string, expected: Manifest['files'][string]): string | undefined {
  let got: Manifest['files'][string];
  try {
    got = hashFile(file);
  } catch (error) {
    return `cannot read ${file}: ${reasonOf(error)}`;
  }
  if (got.size !== expected.size)
    return `${file} is damaged: expected ${expected.size} bytes, got ${got.size}`;
  if (got.sha256 !== expected.sha256)
    return `${file} is damaged: expected sha256 ${expected.sha256.slice(0, 12)}…, got ${got.sha256.slice(0, 12)}…`;
  return undefined;
}

/** What a user asks for by name. */
export function whichCheckpoint(text: string): 'best' | 'last' | number {
  if (text === 'best' || text === 'last') return text;
  const step = Number(text);
  if (!Number.isInteger(step) || step < 0)
    throw new UserError(`a checkpoint is "best", "last" or a step, got "${text}"`);
  return step;
}

/** Which step is the best, beside the checkpoints. */
export const BEST = 'best.json';
/** Bytes beyond the tensors: headers, manifest, and blocks that are not full. */
const SPACE_MARGIN = 1 << 20;

const stepFolder = (run: Run, step: number): string => run.path('checkpoints', `step-${step}`);

export function requireWritable(run: Run): void {
  if (!run.locked) throw new Error(`${run.directory} was opened to read; open it with { write: true }`);
}

/** Steps of all checkpoints, whole or not, smallest first; of a state before an edit where its place is named. */
export function checkpointSteps({ files }: Run, place: readonly string[] = []): number[] {
  const listed = place.length === 0 ? files.list('checkpoints') : files.names(...place, 'checkpoints');
  const names = listed.map((name) => /^(?:\.old-)?step-(\d+)$/.exec(name)?.[1]);
  return [...new Set(names.filter((step) => step !== undefined).map(Number))].sort((a, b) => a - b);
}

/** The step of the best checkpoint; nothing where none is named, or the mark is not as it was written. */
export function bestStep(run: Run): number | undefined {
  try {
    const file = run.path('checkpoints', BEST);
    const text = readRegular(file, undefined, { follow: false }).toString('utf8');
    const { step, ...rest } = JSON.parse(text) as { step: unknown };
    if (typeof step !== 'number') return undefined;
    // Marks had no sum before 0.3; no change of one bit takes it away.
    return Object.keys(rest).length === 0 || text === bestText(step) ? step : undefined;
  } catch {
    return undefined;
  }
}

/** The mark of the best checkpoint, with a sum of itself. */
export const bestText = (step: number): string => sealedText({ step });

/** Names the best checkpoint, where it is there and another one is named. */
export function markBest(run: Run, step: number): void {
  requireWritable(run);
  if (bestStep(run) === step || !checkpointSteps(run).includes(step)) return;
  writeFileAtomic(run.path('checkpoints', BEST), bestText(step));
}

/** Refuses a checkpoint that the disk has no room for, before anything is written. */
export function checkSpace(folder: string, step: number, bytes: number): void {
  const needed = bytes + SPACE_MARGIN;
  const free = freeBytes(folder);
  if (free >= needed) return;
  const mb = (value: number) => `${(value / 1e6).toFixed(1)} MB`;
  throw new UserError(
    `not enough space for checkpoint step-${step}: it needs ${mb(needed)}, ${mb(free)} are free in ${folder}; the checkpoints before it are kept`,
  );
}

/** Puts right what a killed process left: half-written and half-removed folders go, one moved aside comes back. */
export function tidy(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const step = /^\.old-step-(\d+)$/.exec(name)?.[1];
    const found = path.join(folder, name);
    const target = path.join(folder, `step-${step}`);
    if (step !== undefined && !fs.existsSync(target)) fs.renameSync(found, target);
    else if (/^\.gone-step-\d+$/.test(name)) removeIfPossible(found);
    else if (/^\.(partial|old)-step-\d+$|^\..+\.\d+\.tmp$/.test(name))
      fs.rmSync(found, { recursive: true, force: true });
  }
}

/** What cannot be removed was told when that was tried first. */
function removeIfPossible(folder: string): void {
  try {
    fs.rmSync(folder, { recursive: true, force: true });
  } catch {
    // It harms nothing: its name is that of no checkpoint.
  }
}

/**
 * Takes away those that are neither among the last `keep` nor the best nor `always` kept; gives the folders that remain to
 * be removed, and why others could not be taken away.
 */
export function setAside(run: Run, keep: number, always?: number): { old: string[]; faults: unknown[] } {
  const best = bestStep(run);
  const steps = checkpointSteps(run)
    .slice(0, -Math.max(1, keep))
    .filter((step) => step !== best && step !== always);
  const [old, faults]: [string[], unknown[]] = [[], []];
  for (const step of steps)
    try {
      old.push(goneFolder(run, step));
    } catch (error) {
      faults.push(error);
    }
  return { old, faults };
}

/** Renamed first, so that one that is half removed does not look like a checkpoint. */
function goneFolder(run: Run, step: number): string {
  const gone = run.path('checkpoints', `.gone-step-${step}`);
  fs.rmSync(gone, { recursive: true, force: true });
  fs.renameSync(stepFolder(run, step), gone);
  return gone;
}

/** Removes the checkpoints of later steps when a run continues from this one: it will write them again. */
export function discardCheckpointsAfter(run: Run, step: number): void {
  requireWritable(run);
  tidy(run.path('checkpoints'));
  if ((bestStep(run) ?? step) > step) fs.rmSync(run.path('checkpoints', BEST), { force: true });
  for (const later of checkpointSteps(run))
    if (later > step) fs.rmSync(goneFolder(run, later), { recursive: true, force: true });
}

export const MODEL = 'model.safetensors';
export const OPTIMIZER = 'optimizer.safetensors';
export const STATE = 'state.json';
export const MANIFEST = 'manifest.json';
const MANIFEST_FORMAT = 1;
const PARTS = new Set([MODEL, OPTIMIZER, STATE]);

/** Hashes and sizes of a checkpoint's files, written after them. */
export interface Manifest {
  format: number;
  step: number;
  files: Record<string, { sha256: string; size: number }>;
}

/** The manifest as it is written (`sealedText`). */
export const manifestText = (step: number, files: Manifest['files'], format = MANIFEST_FORMAT): string =>
  sealedText({ format, step, files });

/** Reads a manifest and checks it against its own hash. */
export function readManifest(file: string, step: number): Manifest {
  const manifest = openSealed(readText(file)) as Manifest | undefined;
  if (manifest && manifest.format > MANIFEST_FORMAT)
    throw new UserError(`${file} has format ${manifest.format}; this version reads up to ${MANIFEST_FORMAT}`);
  const names = Object.keys(manifest?.files ?? {});
  const complete = names.includes(MODEL) && names.includes(STATE) && names.every((name) => PARTS.has(name));
  if (manifest?.step !== step || !complete)
    throw new UserError(`${file} is damaged: expected the manifest of step ${step} as it was written`);
  return manifest;
}
