import type { Replicas, Run, SessionResult } from '@hidden-schema/hsn';
import { print, say } from './terminal.ts';
import type { TrainFlags } from './train.ts';

/** What training is asked to do, whatever the model. */
export interface Asked {
  flags: TrainFlags;
  corpus: string;
  out: string;
  /** The run to continue. */
  earlier: Run | undefined;
  /** The processes that train; this one leads them. */
  replicas: Replicas;
}

/** Trains; a fault marks the run as crashed. */
export async function withRun<T>(run: Run, body: () => Promise<T>): Promise<T> {
  for (const note of run.notes) say(`${note}\n`);
  try {
    return await body();
  } catch (error) {
    markCrashed(run);
    throw error;
  } finally {
    run.close();
  }
}

function markCrashed(run: Run): void {
  try {
    run.setState('crashed');
  } catch {
    // The folder may be what was lost; the fault that ended training is the one to show.
  }
}

/** How training ended, and what to do next. */
export async function report(result: SessionResult<unknown>, out: string, figures: string): Promise<void> {
  const { writeModelCard } = await import('@hidden-schema/studies');
  writeModelCard(out);
  print(figures);
  const next =
    result.state === 'stopped'
      ? `continue with: hsn train --out ${out} --resume`
      : `look again with: hsn eval ${out}`;
  print(`run ${result.state} at step ${result.step}: ${out}\n${next}\n`);
}

export function refuseChanges(changes: string[], out: string, Fault: new (message: string) => Error): void {
  if (changes.length === 0) return;
  const lines = changes.map((line) => `\n  ${line}`).join('');
  throw new Fault(
    `${out} was trained with other settings:${lines}\n  resume without them, or add --force to go on with them`,
  );
}
