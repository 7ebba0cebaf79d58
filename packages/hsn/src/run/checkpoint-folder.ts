import fs from 'node:fs';
import path from 'node:path';
import { freeBytes, readRegular, sealedText, UserError, writeFileAtomic } from '@hidden-schema/base';
import type { Run } from './run.ts';

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
