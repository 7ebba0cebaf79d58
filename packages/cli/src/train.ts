import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config, Run, SessionResult, SyntheticCorpus } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { evaluationText } from './evaluation-text.ts';
import { stoppable } from './stopping.ts';

interface TrainFlags {
  corpus?: string;
  out?: string;
  set: string[];
  resume?: boolean;
  force?: boolean;
  threads?: string;
}

const examples = `
Examples:
  $ hsn synth --out corpus && hsn train --corpus corpus --out run
  $ hsn train experiments/synthetic/barabasi.yaml --corpus corpus --out run
  $ hsn train --corpus corpus --out run --set training.steps=2000 --set graph.p=0.1
  $ hsn train --out run --resume          continue where it stopped

The model with the best validation objective (lowest -L, Eq. 28, on the validation split) is kept as "best" and
evaluated at the end; training stops early after training.patience evaluations without a better one. Ctrl-C saves and
stops; the run can be continued or evaluated.
`;

export function register(program: Command): void {
  program
    .command('train')
    .summary('train a model on a corpus')
    .description('Train a Hidden Schema Network and write everything about it to a run folder.')
    .argument('[config]', 'YAML file with settings; without it, the defaults')
    .option('--corpus <folder>', 'corpus folder, as "hsn synth" writes it')
    .option('--out <folder>', 'run folder to make (default: runs/<corpus name>-<seed>)')
    .option(
      '--set <key=value>',
      'override a setting; may be given several times',
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option('--resume', 'continue the run in --out from its last checkpoint')
    .option('--force', 'replace a run in --out, or resume with changed settings')
    .option('--threads <n>', 'threads for matrix products (default: all cores)')
    .addHelpText('after', examples)
    .action(train);
}

async function train(file: string | undefined, flags: TrainFlags): Promise<void> {
  const { checkTrainable, readSyntheticCorpus, Run, Session, UserError } = await import('@hidden-schema/hsn');
  await useThreads(flags.threads);
  if (flags.resume && !flags.out)
    throw new UserError('--resume needs --out: the folder of the run to continue');
  const earlier = flags.resume ? Run.open(flags.out!) : undefined;
  const directory = flags.corpus ?? earlier?.record.corpus.directory;
  if (directory === undefined) {
    throw new UserError('which corpus? give --corpus <folder>; "hsn synth --out <folder>" draws one');
  }
  const config = await settings(file, flags.set, earlier);
  const corpus = readSyntheticCorpus(directory, { seed: config.seed });
  const out = flags.out ?? path.join('runs', `${path.basename(path.resolve(directory))}-${config.seed}`);
  const info = { directory: path.resolve(directory), fingerprint: corpus.fingerprint };
  const changes = earlier?.differences(config, info) ?? [];
  if (!flags.force) refuseChanges(changes, out, UserError);
  checkTrainable(config, corpus);
  const run = earlier
    ? Run.open(out, { write: true, config })
    : Run.create(out, config, info, { force: flags.force ?? false });
  describe(corpus);
  const result = await withRun(run, (signal) => {
    const session = new Session(run, corpus, {
      resume: flags.resume ?? false,
      signal,
      output: process.stderr,
    });
    // Only now: settings that the checkpoint does not fit must not replace those it does.
    if (changes.length > 0) run.adopt(info);
    return session.train();
  });
  report(result, out);
}

/** The settings to train with: a file's or the earlier run's own or the defaults, with `--set` on top. */
async function settings(
  file: string | undefined,
  overrides: readonly string[],
  earlier: Run | undefined,
): Promise<Config> {
  const { dumpConfig, loadConfig, UserError } = await import('@hidden-schema/hsn');
  if (file !== undefined) return loadConfig(readConfig(file, UserError), file, overrides);
  return loadConfig(earlier ? dumpConfig(earlier.config) : '', 'settings', overrides);
}

/** Trains under a stop signal; a fault marks the run as crashed. */
async function withRun(
  run: Run,
  body: (signal: AbortSignal) => Promise<SessionResult>,
): Promise<SessionResult> {
  for (const note of run.notes) process.stderr.write(`${note}\n`);
  try {
    return await stoppable(body);
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

function describe(corpus: SyntheticCorpus): void {
  const { train, valid, test } = corpus.splits;
  const truth = corpus.truth ? 'truth known' : 'no truth given: recovery figures are left out';
  const lines = [
    ...corpus.notes,
    `corpus: ${train.count} + ${valid.count} + ${test.count} sentences of ${corpus.length} tokens, ${truth}`,
  ];
  process.stderr.write(`${lines.join('\n')}\n`);
}

function report(result: SessionResult, out: string): void {
  if (result.evaluation) process.stdout.write(evaluationText(result.evaluation));
  const next =
    result.state === 'stopped'
      ? `continue with: hsn train --out ${out} --resume`
      : `look again with: hsn eval ${out}`;
  process.stdout.write(`run ${result.state} at step ${result.step}: ${out}\n${next}\n`);
}

function readConfig(file: string, Fault: new (message: string) => Error): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Fault(`cannot read the settings ${file}: expected a YAML file; experiments/ holds examples`);
  }
}

function refuseChanges(changes: string[], out: string, Fault: new (message: string) => Error): void {
  if (changes.length === 0) return;
  const lines = changes.map((line) => `\n  ${line}`).join('');
  throw new Fault(
    `${out} was trained with other settings:${lines}\n  resume without them, or add --force to go on with them`,
  );
}

async function useThreads(asked: string | undefined): Promise<void> {
  if (asked === undefined) return;
  const { UserError } = await import('@hidden-schema/hsn');
  const count = Number(asked);
  if (!Number.isInteger(count) || count < 1)
    throw new UserError(`--threads takes a whole number from 1, got ${asked}`);
  const { setThreads } = await import('@hidden-schema/torch');
  setThreads(count);
}
