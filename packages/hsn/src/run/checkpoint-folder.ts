import fs from 'node:fs';
import path from 'node:path';
import { freeBytes, readJsonFile, UserError, writeJsonAtomic } from '@hidden-schema/base';
import type { Run } from './run.ts';

/** Which step is the best, beside the checkpoints. */
export const BEST = 'best.json';
/** Bytes beyond the tensors: headers, manifest, and blocks that are not full. */
const SPACE_MARGIN = 1 << 20;

export const stepFolder = (run: Run, step: number): string => run.path('checkpoints', `step-${step}`);

export function requireWritable(run: Run): void {
  if (!run.locked) throw new Error(`${run.directory} was opened to read; open it with { write: true }`);
}

/** Steps of all checkpoints, whole or not, smallest first; of another folder where one is named. */
export function checkpointSteps(run: Run, place: string = run.directory): number[] {
  const folder = path.join(place, 'checkpoints');
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).map((name) => /^(?:\.old-)?step-(\d+)$/.exec(name)?.[1]);
  return [...new Set(names.filter((step) => step !== undefined).map(Number))].sort((a, b) => a - b);
}

export function bestStep(run: Run): number | undefined {
  try {
    const { step } = readJsonFile<{ step: unknown }>(run.path('checkpoints', BEST));
    return typeof step === 'number' ? step : undefined;
  } catch {
    return undefined;
  }
}

/** Names the best checkpoint, where it is there and another one is named. */
export function markBest(run: Run, step: number): void {
  requireWritable(run);
  if (bestStep(run) === step || !checkpointSteps(run).includes(step)) return;
  writeJsonAtomic(run.path('checkpoints', BEST), { step });
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
    else if (/^\.(partial|old|gone)-step-\d+$|^\..+\.\d+\.tmp$/.test(name))
      fs.rmSync(found, { recursive: true, force: true });
  }
}

/** Takes away those that are neither among the last `keep` nor the best nor `always` kept; gives the folders that remain to be removed. */
export function setAside(run: Run, keep: number, always?: number): string[] {
  const best = bestStep(run);
  return checkpointSteps(run)
    .slice(0, -Math.max(1, keep))
    .filter((step) => step !== best && step !== always)
    .map((step) => goneFolder(run, step));
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
