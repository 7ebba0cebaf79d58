import path from 'node:path';
import { hashFile, type JsonValue, readJsonFile, reasonOf, UserError } from '@hidden-schema/base';
import { openSafetensors, type Tensor } from '@hidden-schema/torch';
import { BEST, bestStep, checkpointSteps } from './checkpoint-folder.ts';
import { MANIFEST, type Manifest, MODEL, OPTIMIZER, readManifest, STATE } from './manifest.ts';
import type { Run } from './run.ts';

export { bestStep, checkpointSteps, discardCheckpointsAfter, markBest } from './checkpoint-folder.ts';
export {
  type CheckpointParts,
  CheckpointWriter,
  type SaveOptions,
  saveCheckpoint,
  saveElsewhere,
} from './checkpoint-writer.ts';

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
