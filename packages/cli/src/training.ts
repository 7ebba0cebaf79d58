import type { SessionResult } from '@hidden-schema/hsn';
import type { Source, TrainEvent } from '@hidden-schema/hsn/driver/prepared';
import type { TrainOptions } from '@hidden-schema/hsn/driver/train';
import type { Command } from 'commander';
import { stoppable } from './stopping.ts';
import { live, print, say } from './terminal.ts';

/** The flags that every training has. */
export interface TrainingFlags {
  set: string[];
  resume?: boolean;
  force?: boolean;
  diagnose?: boolean;
  profile?: string;
  threads?: string;
  device?: string;
  processes?: string;
}

/** Adds the flags that every training has. */
export function addTrainingOptions(command: Command): Command {
  return command
    .option(
      '--set <key=value>',
      'override a setting; may be given several times',
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option('--resume', 'continue from the last checkpoint')
    .option('--diagnose', 'repeat the batch on which the run stopped, and say which operator failed')
    .option('--force', 'replace a run that is there, or resume with changed settings')
    .option('--profile <file>', 'record a few steps as a Chrome trace: operators, shapes, time, memory')
    .option('--threads <n>', 'threads for matrix products (default: all cores)')
    .option(
      '--processes <n>',
      'discover and train in several processes of this machine, each on its part of texts and batches',
    );
}

/** What to train, beside what the flags of every training say. */
export type Asked = Omit<TrainOptions, 'resume' | 'force' | 'signal' | 'around' | 'diagnose'>;

/** Trains as flags say, alone or as rank 0, and shows it on the terminal; gives nothing where it made no run. */
export async function trainShown(
  source: Source,
  { onEvent = () => {}, ...asked }: Asked,
  { resume = false, force = false, diagnose, profile }: TrainingFlags,
): Promise<SessionResult | undefined> {
  const { train } = await import('@hidden-schema/hsn/driver/train');
  const { showEvents } = await import('@hidden-schema/hsn/run/progress');
  const show = showEvents(live);
  let opened = false;
  const onTrainEvent = (event: TrainEvent) => {
    if (event.type === 'run') opened = true;
    show(event);
    return onEvent(event);
  };
  return stoppable(async (signal) => {
    try {
      return await train(source, {
        ...{ ...asked, resume, force, signal, onEvent: onTrainEvent },
        ...(diagnose ? { diagnose: (await import('./diagnose.ts')).diagnoseRun } : {}),
        ...(profile === undefined ? {} : { around: await profiling(profile) }),
      });
    } catch (error) {
      if (!signal.aborted || opened) throw error;
      say(`stopped while the corpus was read; ${resume ? 'the run is as it was' : 'no run was made'}\n`);
      return undefined;
    }
  });
}

async function profiling(file: string): Promise<NonNullable<TrainOptions['around']>> {
  const { profiled } = await import('./profiling.ts');
  return (session) => profiled(session, file);
}

/** How training ended, and what to do next. */
export async function report(out: string, result: SessionResult): Promise<void> {
  const next = {
    discovered: `teach it to write with: hsn train --out ${out} --resume`,
    stopped: `continue with: hsn train --out ${out} --resume`,
    finished: `look again with: hsn eval ${out}`,
  };
  const how = result.state === 'discovered' ? 'discovered' : `${result.state} at step ${result.step}`;
  const why = result.reason === undefined || result.state === 'stopped' ? '' : ` (${result.reason})`;
  print(`run ${how}${why}: ${out}\n${await checkpointLine(out, result)}${next[result.state]}\n`);
}

/** Which weights verbs use from now on. */
async function checkpointLine(out: string, { state, step }: SessionResult): Promise<string> {
  const { bestStep } = await import('@hidden-schema/hsn/run/checkpoint');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const best = state === 'discovered' ? undefined : bestStep(Run.open(out));
  if (best === undefined) return '';
  const other = best === step ? '' : `; --checkpoint last takes step ${step}`;
  return `verbs use the checkpoint of step ${best}, the best on validation texts${other}\n`;
}

/** Symbols that are shown when they are discovered. */
const shownSymbols = 12;

/** What was discovered, which can be looked at from now on. */
export async function showDiscovered(out: string, seconds: number): Promise<void> {
  const { showSheets } = await import('./analysis.ts');
  const { openRun } = await import('@hidden-schema/studies/runs/opened');
  const { storedMeanings } = await import('@hidden-schema/studies/symbols/stored-meanings');
  const { symbolSheet } = await import('@hidden-schema/studies/analyses/sheets');
  const run = await openRun(out, { checkpoint: 'last' });
  try {
    const meanings = await storedMeanings(run);
    const sheet = symbolSheet(meanings);
    const rows = sheet.rows.slice(0, shownSymbols);
    const caption = `The ${rows.length} most used of ${meanings.length} symbols, discovered after ${seconds.toFixed(0)} s.`;
    await showSheets([{ ...sheet, title: 'Symbols', caption, rows }]);
    say(`look at all of them now:\n  hsn symbols ${out}\n  hsn serve ${out}\n`);
  } finally {
    run.model.free();
  }
}
