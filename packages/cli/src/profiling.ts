import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base/errors';
import type { TaskTrainer } from '@hidden-schema/hsn';
import type { Profile } from '@hidden-schema/torch/profile';
import { outputWriter } from './output-files.ts';
import { say } from './terminal.ts';

/** Steps before the profile, in which memory, threads and compiler warm up; and steps in it. */
const [skipped, recorded] = [5, 3];

/** Refuses a file that cannot be written, before any training. */
export async function checkProfileFile(file: string): Promise<void> {
  const folder = path.dirname(path.resolve(file));
  if (!fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(
      `--profile ${file}: the folder ${folder} does not exist; make it, or name another file`,
    );
  if (fs.statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(
      `--profile ${file} is a folder; name a file, for example ${path.join(file, 'trace.json')}`,
    );
}

/** Trains; with a file, some of the steps are recorded in it. */
export async function profiled<Result>(
  session: { readonly trainer: TaskTrainer; train(): Promise<Result> },
  file: string | undefined,
): Promise<Result> {
  if (file === undefined) return session.train();
  const finish = await profileSteps(session.trainer, file);
  try {
    return await session.train();
  } finally {
    finish();
  }
}

/** Records some of a trainer's next steps and writes them to a file; returns what to call when training has ended. */
async function profileSteps(trainer: TaskTrainer, file: string): Promise<() => void> {
  const { span, startProfile, stopProfile } = await import('@hidden-schema/torch/profile');
  const write = await writer(file);
  const original = trainer.trainStep.bind(trainer);
  let [steps, running] = [0, false];
  const finish = (): void => {
    if (!running) return;
    running = false;
    write(stopProfile());
  };
  trainer.trainStep = () => {
    if (steps === skipped) {
      startProfile();
      running = true;
    }
    const metrics = running ? span('step', original) : original();
    if (++steps === skipped + recorded) finish();
    return metrics;
  };
  return () => {
    finish();
    if (steps <= skipped)
      say(`no profile: training ended after ${steps} steps, and the first ${skipped} only warm up\n`);
  };
}

async function writer(file: string): Promise<(profile: Profile) => void> {
  const write = await outputWriter();
  const { chromeTrace, operatorTotals } = await import('@hidden-schema/torch/profile');
  return (profile) => {
    write(file, JSON.stringify(chromeTrace(profile)));
    const wall = sum(profile.spans.filter(({ name }) => name === 'step').map((s) => s.nanoseconds / 1e6));
    const totals = operatorTotals(profile);
    const inside = sum(totals.map(({ milliseconds }) => milliseconds));
    const lines = totals.slice(0, 8).map(({ name, calls, milliseconds }) => {
      const share = `${((100 * milliseconds) / wall).toFixed(1)} %`.padStart(7);
      return `  ${share} ${milliseconds.toFixed(1).padStart(8)} ms ${String(calls).padStart(6)} calls  ${name}`;
    });
    say(
      `\nprofile of ${recorded} steps, ${wall.toFixed(0)} ms, ${(100 - (100 * inside) / wall).toFixed(1)} % of it outside of operators: ${file}\n${lines.join('\n')}\n`,
    );
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
