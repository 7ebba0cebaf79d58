import path from 'node:path';
import type { JsonValue } from '@hidden-schema/base';
import type { CorpusInfo, Replicas, Run, RunConfig, SessionResult, Task } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { diagnoseRun } from './diagnose.ts';
import { profiled } from './profiling.ts';
import { type Assignment, assign } from './replicas.ts';
import { live, print, say } from './terminal.ts';

/** The flags that every training has. */
export interface TrainingFlags {
  set: string[];
  /** Where training ends early: after "discover". */
  stage?: string;
  resume?: boolean;
  force?: boolean;
  diagnose?: boolean;
  profile?: string;
  threads?: string;
  device?: string;
  processes?: string;
}

/** What training is asked to do, whatever the model. */
export interface TrainRequest<Flags extends TrainingFlags = TrainingFlags> {
  flags: Flags;
  out: string;
  /** The run to continue. */
  earlier: Run | undefined;
  /** The processes that train; this one leads them. */
  replicas: Replicas;
}

/** A training of one kind: its task, its run, and what is said of it. */
export interface Plan<Evaluation> {
  config: RunConfig;
  info: CorpusInfo;
  task(): Task<Evaluation>;
  create(): Run;
  /** Says what will be trained. */
  describe(): void;
  /** What run.json notes of the corpus beside `info`. */
  noted?: Readonly<Record<string, JsonValue>>;
  /** Says what can be looked at before the first step, where something can. */
  onPrepared?(seconds: number): void | Promise<void>;
  /** What the other ranks need, where they were not told when texts were read. */
  assignment?: Assignment;
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

/** Trains as planned, as rank 0 or alone; with `--diagnose` it repeats what went wrong instead, and gives nothing. */
export async function trainPlan<Evaluation>(
  plan: Plan<Evaluation>,
  { flags, out, earlier, replicas }: TrainRequest,
  signal: AbortSignal,
): Promise<SessionResult<Evaluation> | undefined> {
  const { UserError } = await import('@hidden-schema/base');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const { Session } = await import('@hidden-schema/hsn/run/session');
  const { config, info } = plan;
  const force = flags.force ?? false;
  const changes = earlier?.differences(config, info) ?? [];
  if (!force) refuseChanges(changes, out, UserError);
  const task = plan.task();
  if (flags.diagnose && earlier) {
    await diagnoseRun(earlier, task);
    return undefined;
  }
  const run = earlier ? Run.open(out, { write: true, config, force }) : plan.create();
  plan.describe();
  return withRun(run, async () => {
    const session = new Session(run, task, {
      resume: flags.resume ?? false,
      signal: AbortSignal.any([signal, replicas.stopped]),
      output: live,
      replicas,
      onlyPrepare: flags.stage === 'discover',
      ...(plan.onPrepared ? { onPrepared: plan.onPrepared } : {}),
    });
    // Only now: settings that the checkpoint does not fit must not replace those it does.
    if (earlier) await adopt(run, earlier, plan, changes.length > 0);
    if (plan.assignment) await assign(replicas, plan.assignment);
    return profiled(session, flags.profile);
  });
}

/** Makes settings and corpus of the plan those of a continued run, where they differ; a corpus that the user named is noted. */
async function adopt(run: Run, earlier: Run, { info, noted }: Plan<unknown>, differ: boolean): Promise<void> {
  const { corpusPlaces, recordedPlaces, rememberCorpus } = await import(
    '@hidden-schema/hsn/run/corpus-places'
  );
  const { corpus: before, state } = earlier.record;
  const same = info.fingerprint === before.fingerprint;
  const named = info.directory !== before.directory;
  // What was made of the corpus before is of another one.
  if (!same) run.setState(state, { ...noted, edited: new Date().toISOString() });
  if (differ) run.adopt(info);
  if (!same) rememberCorpus(run);
  else if (named && recordedPlaces(run).length === 1)
    rememberCorpus(run, [path.resolve(run.directory, info.directory)]);
  else if (differ) rememberCorpus(run, corpusPlaces(earlier));
}

/** Trains, and says what the run has to say; a fault marks it as crashed. */
export async function withRun<T>(run: Run, body: () => Promise<T>): Promise<T> {
  const { closingRun } = await import('@hidden-schema/hsn/run/closing');
  for (const note of run.notes) say(`${note}\n`);
  return closingRun(run, body);
}

/** How training ended, and what to do next. */
export async function report(result: SessionResult<unknown>, out: string, figures: string): Promise<void> {
  const { writeModelCard } = await import('@hidden-schema/studies/analysis/model-card');
  writeModelCard(out);
  print(figures);
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
async function checkpointLine(out: string, { state, step }: SessionResult<unknown>): Promise<string> {
  const { bestStep } = await import('@hidden-schema/hsn/run/checkpoint-folder');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const best = state === 'discovered' ? undefined : bestStep(Run.open(out));
  if (best === undefined) return '';
  const other = best === step ? '' : `; --checkpoint last takes step ${step}`;
  return `verbs use the checkpoint of step ${best}, the best on validation texts${other}\n`;
}

function refuseChanges(changes: string[], out: string, Fault: new (message: string) => Error): void {
  if (changes.length === 0) return;
  const lines = changes.map((line) => `\n  ${line}`).join('');
  throw new Fault(
    `${out} was trained with other settings:${lines}\n  resume without them, or add --force to go on with them`,
  );
}
