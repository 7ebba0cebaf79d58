import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type {
  OpenedReasoning,
  openTuples,
  PathFigures,
  PathKind,
  PreparedReasoning,
  Progress,
  ReasoningConfig,
  ReasoningFigures,
  Replicas,
} from '@hidden-schema/hsn';
import type { GroupConfig } from '@hidden-schema/torch';
import type { Command } from 'commander';
import { launch } from './processes.ts';
import { checkProfileFile } from './profiling.ts';
import { fitMixture } from './reason-mixture.ts';
import { inGroup } from './replicas.ts';
import { readSettings } from './settings-file.ts';
import { stoppable } from './stopping.ts';
import { live, print, say } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';
import { useThreads } from './threads.ts';
import { addTrainingOptions, type TrainingFlags, trainPlan } from './training-run.ts';

interface ReasonTrainFlags extends TrainingFlags {
  part: string;
  tuples?: string;
  run?: string;
  out?: string;
  decoder?: string;
  comet?: string;
  limit?: string;
}

const examples = `
Examples:
  $ hsn reason train experiments/reasoning/atomic-50-20.yaml --tuples atomic --out run
  $ hsn reason train --part comet --tuples atomic --out comet --set training.steps=2000
  $ hsn reason train --part comet --decoder bart --tuples atomic --out comet-bart
  $ hsn reason train --part path --run run --set path.kind=transformer
  $ hsn reason train --part path --run run --set path.kind=counts      no network, in seconds
  $ hsn reason train --part mixture --run run --comet comet            weights of answers, fitted on valid events
  $ hsn reason train --out run --resume
  $ hsn reason train --tuples atomic --out run --processes 2 --set training.precision=bfloat16

Rows that hold no tuple are counted and the first ten shown with their lines. Events never stand in two splits: where
files do not say, they are drawn 80/10/10. A path model is kept inside its network's folder, under paths/.
`;

export function register(parent: Command): void {
  const command = parent
    .command('train')
    .description('Train a network over tuples, its path model, or COMET.')
    .argument('[config]', 'YAML file with settings; without it, the defaults')
    .option('--part <name>', 'network, path, mixture or comet', 'network')
    .option('--comet <run>', 'mixture: a run of --part comet, to fit mixtures with it as well')
    .option('--limit <n>', 'mixture: valid questions that its weights are fitted on (default: 800)')
    .option('--tuples <where>', 'file or folder of tuples')
    .option('--run <folder>', "path: the network's run")
    .option('--out <folder>', 'network and comet: run folder to make')
    .option(
      '--decoder <name>',
      'network and comet: gpt2, llama, lstm or (COMET alone) bart from scratch, or pretrained: a folder or hub name',
    )
    .addHelpText('after', examples)
    .action(train);
  addTrainingOptions(command);
}

async function train(file: string | undefined, flags: ReasonTrainFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const processes = await wholeNumber('--processes', flags.processes);
  if (processes !== undefined && processes > 1) return launch(processes, flags.threads);
  await useThreads(flags.threads);
  if (flags.profile !== undefined) await checkProfileFile(flags.profile);
  if (!['path', 'network', 'comet', 'mixture'].includes(flags.part))
    throw new UserError(`--part takes network, path, mixture or comet, got ${flags.part}`);
  if (flags.part === 'mixture') return fitMixture(file, flags);
  for (const flag of ['comet', 'limit'] as const)
    if (flags[flag] !== undefined) throw new UserError(`--${flag} is for --part mixture`);
  if (flags.part === 'path' && flags.decoder !== undefined)
    throw new UserError('--decoder is for a network or COMET: a path model writes no text');
  const lead = flags.part === 'path' ? trainPath : trainNetwork;
  await inGroup(
    (replicas) => lead(file, flags, replicas),
    () => termsOf(file, flags),
  );
}

/** What the ranks of a group must agree on: their command lines, and the settings file. */
async function termsOf(file: string | undefined, flags: ReasonTrainFlags): Promise<GroupConfig> {
  const text = file === undefined ? '' : await readSettings(file, 'experiments/reasoning');
  return {
    '--part': flags.part,
    '--decoder': flags.decoder ?? 'that of the settings',
    '--set': flags.set.join(' ') || 'nothing',
    '--resume': flags.resume ? 'given' : 'not given',
    'settings file': text === '' ? 'none' : createHash('sha256').update(text).digest('hex').slice(0, 12),
  };
}

/** The settings: a file's, else an earlier run's, else the defaults; with `--set` on top. */
async function settings(
  file: string | undefined,
  from: ReasoningConfig | undefined,
  overrides: readonly string[],
): Promise<ReasoningConfig> {
  const { discoveringDefaults } = await import('@hidden-schema/hsn/config/defaults');
  const { dumpConfig, loadConfig, tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const text =
    file === undefined ? (from ? dumpConfig(from) : '') : await readSettings(file, 'experiments/reasoning');
  const beneath = from ? {} : { beneath: discoveringDefaults };
  return tuplesConfig(loadConfig(text, file ?? 'settings', overrides, { fallback: 'reasoning', ...beneath }));
}

/** The same for programs; a run that is there and finished is kept as it is. */
export async function trainReasoning(flags: ReasonTrainFlags): Promise<void> {
  const { pathFolder } = await import('@hidden-schema/hsn/path/path-task');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const named = flags.set.findLast((setting) => setting.startsWith('path.kind='));
  const kind = (named?.slice('path.kind='.length) ?? 'lstm') as PathKind;
  const folder = flags.part === 'path' ? pathFolder(flags.run!, kind) : flags.out!;
  const there = existsSync(join(folder, 'run.json'));
  if (there && Run.open(folder).state === 'finished') return;
  await train(undefined, there ? { ...flags, resume: true } : flags);
}

async function trainNetwork(
  file: string | undefined,
  flags: ReasonTrainFlags,
  replicas: Replicas,
): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { Run, refuseEdits } = await import('@hidden-schema/hsn/run/run');
  const { tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const { corpusPlaces } = await import('@hidden-schema/hsn/run/corpus-places');
  const { checkRunFolder } = await import('@hidden-schema/hsn/run/run-target');
  const { tupleRecord, prepareReasoning, createReasoningRun } = await import(
    '@hidden-schema/hsn/tasks/tuples/prepare'
  );
  const { ReasoningTask } = await import('@hidden-schema/hsn/tasks/tuples/task');
  const { out } = flags;
  if (!out) throw new UserError('where to? give --out, the folder of the run');
  const earlier = flags.resume || flags.diagnose ? Run.open(out) : undefined;
  if (earlier && !flags.force) refuseEdits(earlier.edits(), out);
  const own = earlier && tuplesConfig(earlier.config);
  const comet = flags.part === 'comet' ? ['baseline=true'] : [];
  const decoder = flags.decoder === undefined ? [] : [`decoder.name=${flags.decoder}`];
  const config = await settings(file, own, [...comet, ...decoder, ...flags.set]);
  const tuples = flags.tuples ?? (earlier && corpusPlaces(earlier)[0]);
  if (tuples === undefined) throw new UserError('which tuples? give --tuples <file or folder>');
  if (!earlier) checkRunFolder(out, flags.force ?? false);
  const known = earlier ? { tokenizer: tupleRecord(earlier).tokenizer } : {};
  const prepared = await prepareReasoning(config, tuples, known);
  const { info, tokenizers } = prepared;
  const plan = {
    config,
    info,
    task: () => new ReasoningTask(prepared, replicas),
    create: () => createReasoningRun(out, prepared, { force: flags.force ?? false }),
    describe: () => describe(prepared),
    assignment: {
      config,
      fingerprint: info.fingerprint,
      tuples: { input: info.directory, tokenizer: tokenizers.decoder.json },
    },
  };
  const asked = { flags, out, earlier, replicas };
  const result = await stoppable((signal) => trainPlan(plan, asked, signal));
  if (result) report(result, out, result.evaluation ? networkText(result.evaluation) : '');
}

function describe({ config, tokenizers, model, notes }: PreparedReasoning): void {
  // COMET has no walks to read.
  const trained = config.baseline ? model.decoder : model;
  const parameters = trained.parameters().reduce((sum, { size }) => sum + size, 0);
  const what = config.baseline
    ? 'COMET: the decoder without walks'
    : `${config.symbols} symbols, walks of ${config.length / 2} + ${config.length / 2} steps, encoder ${config.encoder.name}${model.encoder.frozen ? ' (frozen)' : ''}`;
  const size = `${tokenizers.decoder.vocabulary} tokens, ${(parameters / 1e6).toFixed(1)} million parameters to train`;
  say(`${[...notes, `model: ${what}, ${size}`].join('\n')}\n`);
}

async function trainPath(
  file: string | undefined,
  flags: ReasonTrainFlags,
  replicas: Replicas,
): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { openReasoning, openTuples: hsnOpenTuples } = await import('@hidden-schema/hsn/tasks/tuples/open');
  const { refuseEdits, Run } = await import('@hidden-schema/hsn/run/run');
  const { pathFolder, preparePath, PathTask, createPathRun } = await import(
    '@hidden-schema/hsn/path/path-task'
  );
  const { checkRunFolder } = await import('@hidden-schema/hsn/run/run-target');
  const { Progress: hsnProgress } = await import('@hidden-schema/hsn/run/progress');
  const { corpusPlaces } = await import('@hidden-schema/hsn/run/corpus-places');
  const { aboveGuessing } = await import('@hidden-schema/hsn/path/path-accuracy');
  if (!flags.run) throw new UserError("a path model goes on from a network's walks: give --run, its folder");
  const opened = await openReasoning(flags.run);
  if (!flags.force) refuseEdits(opened.run.edits(), flags.run);
  if (opened.config.baseline) throw new UserError(`${flags.run} is COMET, which has no walks`);
  const config = await settings(file, { ...opened.config, part: 'path' }, [...flags.set, 'part=path']);
  const out = pathFolder(opened.run.directory, config.path.kind);
  const earlier = flags.resume || flags.diagnose ? Run.open(out) : undefined;
  if (!earlier) checkRunFolder(out, flags.force ?? false);
  const tuples = await hsnOpenTuples(opened, flags.tuples);
  if (config.path.kind === 'counts') return countWalks(config, opened, tuples, flags);
  const reading = progressOf(hsnProgress, 'read walks');
  const prepared = await preparePath(config, opened, tuples, reading.update);
  reading.finish();
  // Other ranks may be other users' processes, who named nothing.
  const path = {
    run: opened.run.directory,
    tuples: resolve(flags.tuples ?? corpusPlaces(opened.run)[0]!),
  };
  const plan = {
    config,
    info: opened.run.record.corpus,
    task: () => new PathTask(prepared, replicas),
    create: () => createPathRun(opened, config, { force: flags.force ?? false }),
    describe: () => {},
    assignment: { config, fingerprint: opened.run.record.corpus.fingerprint, path },
  };
  const asked = { flags, out, earlier, replicas };
  const result = await stoppable((signal) => trainPlan(plan, asked, signal));
  if (result)
    report(result, flags.run, result.evaluation ? pathText(result.evaluation, aboveGuessing) : '', out);
}

/** The path model that has nothing to train: one pass over the walks. */
async function countWalks(
  config: ReasoningConfig,
  opened: OpenedReasoning,
  tuples: Awaited<ReturnType<typeof openTuples>>,
  flags: ReasonTrainFlags,
): Promise<void> {
  const { Progress: hsnProgress } = await import('@hidden-schema/hsn/run/progress');
  const { countPath, pathFolder } = await import('@hidden-schema/hsn/path/path-task');
  const { aboveGuessing } = await import('@hidden-schema/hsn/path/path-accuracy');
  const reading = progressOf(hsnProgress, 'count walks');
  const figures = countPath(config, opened, { ...tuples, force: flags.force ?? false }, reading.update);
  reading.finish();
  const folder = pathFolder(opened.run.directory, 'counts');
  report({ state: 'finished', step: 0 }, opened.run.directory, pathText(figures, aboveGuessing), folder);
}

/** Shows how many tuples' walks were read. */
function progressOf(Shown: typeof Progress, label: string) {
  let shown: Progress | undefined;
  return {
    update: (done: number, total: number) => {
      shown ??= new Shown({ label, total, unit: 'tuples', output: live });
      shown.update(done);
    },
    finish: () => shown?.finish(),
  };
}

function report(result: { state: string; step: number }, run: string, figures: string, folder = run): void {
  print(`${figures}run ${result.state} at step ${result.step}: ${folder}\n`);
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function pathText(figures: PathFigures, aboveGuessing: (figures: PathFigures) => number): string {
  const rows: [string, string][] = [
    [
      percent(figures.accuracy),
      'of symbols found, each from the true ones before it (the paper: about 58 %)',
    ],
    [percent(figures.accuracy_free), "found, each from the model's own ones before it"],
    [percent(figures.accuracy_walk), 'of second halves found whole'],
    [percent(figures.baseline_previous), 'by the commonest symbol after the true one before it'],
    [percent(aboveGuessing(figures)), 'of the symbols that this guess misses are found'],
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
