import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type {
  PathFigures,
  PreparedReasoning,
  ReasoningConfig,
  ReasoningFigures,
  Run,
} from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { readSettings } from './settings-file.ts';
import { stoppable } from './stopping.ts';
import { live, print, say } from './terminal.ts';
import { useThreads } from './threads.ts';
import { refuseChanges, withRun } from './training-run.ts';

interface ReasonTrainFlags {
  part: string;
  tuples?: string;
  run?: string;
  out?: string;
  set: string[];
  resume?: boolean;
  force?: boolean;
  threads?: string;
}

const examples = `
Examples:
  $ hsn reason train experiments/reasoning/atomic-50-20.yaml --tuples atomic --out run
  $ hsn reason train --part comet --tuples atomic --out comet --set training.steps=2000
  $ hsn reason train --part path --run run --set path.kind=transformer
  $ hsn reason train --out run --resume

Rows that hold no tuple are counted and the first ten shown with their lines. Events never stand in two splits: where
files do not say, they are drawn 80/10/10. A path model is kept inside its network's folder, under paths/.
`;

export function register(parent: Command): void {
  parent
    .command('train')
    .description('Train a network over tuples, its path model, or COMET.')
    .argument('[config]', 'YAML file with settings; without it, the defaults')
    .option('--part <name>', 'network, path or comet', 'network')
    .option('--tuples <where>', 'file or folder of tuples')
    .option('--run <folder>', "path: the network's run")
    .option('--out <folder>', 'network and comet: run folder to make')
    .option(
      '--set <key=value>',
      'override a setting; may be given several times',
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option('--resume', 'continue from the last checkpoint')
    .option('--force', 'replace a run that is there, or resume with changed settings')
    .option('--threads <n>', 'threads for matrix products (default: all cores)')
    .addHelpText('after', examples)
    .action(train);
}

async function train(file: string | undefined, flags: ReasonTrainFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  await useThreads(flags.threads);
  if (flags.part === 'path') return trainPath(file, flags);
  if (flags.part !== 'network' && flags.part !== 'comet')
    throw new UserError(`--part takes network, path or comet, got ${flags.part}`);
  return trainNetwork(file, flags);
}

/** The settings: a file's, else an earlier run's, else the defaults; with `--set` on top. */
async function settings(
  file: string | undefined,
  from: ReasoningConfig | undefined,
  overrides: readonly string[],
): Promise<ReasoningConfig> {
  const { UserError } = await import('@hidden-schema/base');
  const { dumpConfig, loadConfig } = await import('@hidden-schema/hsn');
  const text =
    file === undefined ? (from ? dumpConfig(from) : '') : await readSettings(file, 'experiments/reasoning');
  const config = loadConfig(text, file ?? 'settings', overrides, 'reasoning');
  if (config.model === 'reasoning') return config;
  throw new UserError(`these are the settings of a ${config.model} model; expected model: reasoning`);
}

/** The same for programs; a run that is there and finished is kept as it is. */
export async function trainReasoning(flags: ReasonTrainFlags): Promise<void> {
  const { pathFolder, Run } = await import('@hidden-schema/hsn');
  const kind = flags.set.includes('path.kind=transformer') ? 'transformer' : 'lstm';
  const folder = flags.part === 'path' ? pathFolder(flags.run!, kind) : flags.out!;
  const there = existsSync(join(folder, 'run.json'));
  if (there && Run.open(folder).state === 'finished') return;
  await train(undefined, there ? { ...flags, resume: true } : flags);
}

async function trainNetwork(file: string | undefined, flags: ReasonTrainFlags): Promise<void> {
  const hsn = await import('@hidden-schema/hsn');
  const base = await import('@hidden-schema/base');
  if (!flags.out) throw new base.UserError('where to? give --out, the folder of the run');
  const earlier = flags.resume ? hsn.Run.open(flags.out) : undefined;
  if (earlier && !flags.force) hsn.refuseEdits(earlier.edits(), flags.out);
  const own = earlier?.config.model === 'reasoning' ? earlier.config : undefined;
  const comet = flags.part === 'comet' ? ['baseline=true'] : [];
  const config = await settings(file, own, [...comet, ...flags.set]);
  const tuples = flags.tuples ?? earlier?.record.corpus.directory;
  if (tuples === undefined) throw new base.UserError('which tuples? give --tuples <file or folder>');
  if (!earlier) hsn.checkRunFolder(flags.out, flags.force ?? false);
  const known = earlier ? { tokenizer: hsn.tupleRecord(earlier).tokenizer } : {};
  const prepared = await hsn.prepareReasoning(config, tuples, known);
  describe(prepared);
  const changes = earlier?.differences(config, prepared.info) ?? [];
  if (!flags.force) refuseChanges(changes, flags.out, base.UserError);
  const task = new hsn.ReasoningTask(prepared);
  const run = earlier
    ? hsn.Run.open(flags.out, { write: true, config, force: flags.force ?? false })
    : hsn.createReasoningRun(flags.out, prepared, { force: flags.force ?? false });
  const result = await stoppable((signal) =>
    withRun(run, () => {
      const session = new hsn.Session(run, task, {
        resume: flags.resume ?? false,
        signal,
        output: live,
      });
      // Only now: settings that the checkpoint does not fit must not replace those it does.
      if (changes.length > 0) run.adopt(prepared.info);
      return session.train();
    }),
  );
  report(result, flags.out, result.evaluation ? networkText(result.evaluation) : '');
}

function describe({ config, tokenizers, model, notes }: PreparedReasoning): void {
  const parameters = model.parameters().reduce((sum, { size }) => sum + size, 0);
  const what = config.baseline
    ? 'COMET: the decoder without walks'
    : `${config.symbols} symbols, walks of ${config.length / 2} + ${config.length / 2} steps, encoder ${config.encoder.name}${model.encoder.frozen ? ' (frozen)' : ''}`;
  const size = `${tokenizers.decoder.vocabulary} tokens, ${(parameters / 1e6).toFixed(1)} million parameters to train`;
  say(`${[...notes, `model: ${what}, ${size}`].join('\n')}\n`);
}

async function trainPath(file: string | undefined, flags: ReasonTrainFlags): Promise<void> {
  const hsn = await import('@hidden-schema/hsn');
  const base = await import('@hidden-schema/base');
  if (!flags.run)
    throw new base.UserError("a path model goes on from a network's walks: give --run, its folder");
  const opened = await hsn.openReasoning(flags.run);
  if (!flags.force) hsn.refuseEdits(opened.run.edits(), flags.run);
  if (opened.config.baseline) throw new base.UserError(`${flags.run} is COMET, which has no walks`);
  const config = await settings(file, { ...opened.config, part: 'path' }, [...flags.set, 'part=path']);
  const folder = hsn.pathFolder(opened.run.directory, config.path.kind);
  const earlier = flags.resume ? hsn.Run.open(folder) : undefined;
  if (earlier && !flags.force)
    refuseChanges(earlier.differences(config, earlier.record.corpus), folder, base.UserError);
  if (!earlier) hsn.checkRunFolder(folder, flags.force ?? false);
  const { corpus, tokens, notes } = await hsn.openTuples(opened, flags.tuples);
  for (const note of notes) say(`${note}\n`);
  let shown: InstanceType<typeof hsn.Progress> | undefined;
  const prepared = await hsn.preparePath(config, opened, { corpus, tokens }, (done, total) => {
    shown ??= new hsn.Progress({ label: 'read walks', total, unit: 'tuples', output: live });
    shown.update(done);
  });
  shown?.finish();
  const run: Run = earlier
    ? hsn.Run.open(folder, { write: true, config, force: flags.force ?? false })
    : hsn.createPathRun(opened, config, { force: flags.force ?? false });
  const result = await stoppable((signal) =>
    withRun(run, () =>
      new hsn.Session(run, new hsn.PathTask(prepared), {
        resume: flags.resume ?? false,
        signal,
        output: live,
      }).train(),
    ),
  );
  report(result, flags.run, result.evaluation ? pathText(result.evaluation) : '', folder);
}

function report(result: { state: string; step: number }, run: string, figures: string, folder = run): void {
  print(`${figures}run ${result.state} at step ${result.step}: ${folder}\n`);
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export function pathText(figures: PathFigures): string {
  const rows: [string, string][] = [
    [
      percent(figures.accuracy),
      'of symbols found, each from the true ones before it (the paper: about 58 %)',
    ],
    [percent(figures.accuracy_free), "found, each from the model's own ones before it"],
    [percent(figures.accuracy_walk), 'of second halves found whole'],
    [percent(figures.baseline_previous), 'by the commonest symbol after the true one before it'],
    [percent(figures.baseline_majority), 'by the commonest symbol of each step'],
    [figures.accuracy_at.map((share) => (100 * share).toFixed(0)).join(' '), '% step by step'],
  ];
  const width = Math.max(...rows.map(([value]) => value.length));
  const lines = rows.map(([value, meaning]) => `  ${value.padStart(width)}  ${meaning}\n`);
  return `second halves of ${figures.tuples} test tuples, events unseen:\n${lines.join('')}`;
}

function networkText({
  tuples,
  perplexity,
  reconstruction,
  information,
  symbols_used,
}: ReasoningFigures): string {
  const lines = [
    `  perplexity of objects  ${perplexity.toFixed(2)}  per token, given s, r${information === undefined ? '' : ' and the walk'}\n`,
    `  reconstruction         ${reconstruction.toFixed(3)}  nats an object\n`,
    ...(information === undefined
      ? []
      : [`  information            ${information.toFixed(2)}  nats in walks\n`]),
    ...(symbols_used === undefined ? [] : [`  symbols used           ${symbols_used}\n`]),
  ];
  return `on ${tuples} test tuples, events unseen:\n${lines.join('')}`;
}
