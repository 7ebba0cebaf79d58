import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '@hidden-schema/base/errors';
import type { PathFigures, PathKind, ReasoningFigures, Replicas, Run } from '@hidden-schema/hsn';
import type { TrainEvent } from '@hidden-schema/hsn/driver/prepared';
import type { GroupConfig } from '@hidden-schema/torch';
import type { Command } from 'commander';
import { inGroup, launch } from './processes.ts';
import { checkProfileFile } from './profiling.ts';
import { fitMixture } from './reason-mixture.ts';
import { settingsOfRun, takeSettingsDevice, useThreads, withDeviceSetting } from './shared-options.ts';
import { print } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';
import { addTrainingOptions, type TrainingFlags, trainShown } from './training.ts';
import { fileTerm, reasonSettings } from './training-settings.ts';

interface ReasonTrainFlags extends TrainingFlags {
  part: string;
  tuples?: string;
  run?: string;
  out?: string;
  decoder?: string;
  comet?: string;
  memory?: string;
  encoder?: string;
  encoderPrecision?: string;
  limit?: string;
}

const OF_MIXTURES = {
  comet: '--comet',
  memory: '--memory',
  encoder: '--encoder',
  encoderPrecision: '--encoder-precision',
  limit: '--limit',
};

const examples = `
Examples:
  $ hsn reason train experiments/reasoning/atomic-50-20.yaml --tuples atomic --out run
  $ hsn reason train --part comet --tuples atomic --out comet --set training.steps=2000
  $ hsn reason train --part comet --decoder bart --tuples atomic --out comet-bart
  $ hsn reason train --part path --run run --set path.kind=transformer
  $ hsn reason train --part path --run run --set path.kind=counts      no network, in seconds
  $ hsn reason train --part mixture --run run --comet comet            weights of answers, fitted on valid events
  $ hsn reason train --part mixture --run run --encoder mpnet --memory train,valid
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
    .option(
      '--memory <splits>',
      'mixture: events that answers are remembered from once weights are fitted, train or train,valid (default: train)',
    )
    .option(
      '--encoder <name>',
      "mixture: what makes vectors of events, by name or folder (default: the run's own encoder)",
    )
    .option('--encoder-precision <name>', 'mixture: arithmetic of --encoder (default: float32)')
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

async function train(file: string | undefined, asked: ReasonTrainFlags): Promise<void> {
  const flags = { ...asked, set: withDeviceSetting(asked) };
  const processes = wholeNumber('--processes', flags.processes);
  if (processes !== undefined && processes > 1) return launch(processes, flags.threads);
  await useThreads(flags.threads);
  await takeSettingsDevice(() =>
    flags.resume ? settingsOfRun(flags.out) : reasonSettings(file, undefined, flags.set),
  );
  if (flags.profile !== undefined) await checkProfileFile(flags.profile);
  if (!['path', 'network', 'comet', 'mixture'].includes(flags.part))
    throw new UserError(`--part takes network, path, mixture or comet, got ${flags.part}`);
  if (flags.part === 'mixture') return fitMixture(file, flags);
  for (const [flag, name] of Object.entries(OF_MIXTURES))
    if (flags[flag as keyof typeof OF_MIXTURES] !== undefined)
      throw new UserError(`${name} is for --part mixture`);
  if (flags.part === 'path' && flags.decoder !== undefined)
    throw new UserError('--decoder is for a network or COMET: a path model writes no text');
  await inGroup(
    (replicas) => (flags.part === 'path' ? trainPath : trainNetwork)(file, flags, replicas),
    () => termsOf(file, flags),
  );
}

/** Trains a network of tuples, or COMET. */
async function trainNetwork(
  file: string | undefined,
  flags: ReasonTrainFlags,
  replicas: Replicas,
): Promise<void> {
  const { tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const { networkText } = await import('./reason-figures.ts');
  const { out, tuples } = flags;
  if (!out) throw new UserError('where to? give --out, the folder of the run');
  const comet = flags.part === 'comet' ? ['baseline=true'] : [];
  const decoder = flags.decoder === undefined ? [] : [`decoder.name=${flags.decoder}`];
  const config = (earlier: Run | undefined) => {
    if (!earlier && tuples === undefined) throw new UserError('which tuples? give --tuples <file or folder>');
    const own = earlier && tuplesConfig(earlier.config);
    return reasonSettings(file, own, [...comet, ...decoder, ...flags.set]);
  };
  const onEvent = reported(out, (figures) => networkText(figures as ReasoningFigures));
  await trainShown(tuples === undefined ? {} : { input: tuples }, { out, config, replicas, onEvent }, flags);
}

/** Trains a path model on the walks of a network. */
async function trainPath(
  file: string | undefined,
  flags: ReasonTrainFlags,
  replicas: Replicas,
): Promise<void> {
  const { tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const { refuseEdits, Run } = await import('@hidden-schema/hsn/run/run');
  const { pathFolder } = await import('@hidden-schema/hsn/tasks/tuples/path/path-task');
  const { pathText } = await import('./reason-figures.ts');
  const { run: network, tuples } = flags;
  if (!network) throw new UserError("a path model goes on from a network's walks: give --run, its folder");
  const run = Run.open(network);
  const own = tuplesConfig(run.config, `the run ${network}`);
  if (own.part === 'path')
    throw new UserError(`${network} is a path model; expected the folder of its network, two folders up`);
  if (!flags.force) refuseEdits(run.edits(), network);
  if (own.baseline) throw new UserError(`${network} is COMET, which has no walks`);
  const config = await reasonSettings(file, { ...own, part: 'path' }, [...flags.set, 'part=path']);
  const out = pathFolder(run.directory, config.path.kind);
  const onEvent = reported(out, (figures) => pathText(figures as PathFigures));
  const source = { network: run.directory, ...(tuples === undefined ? {} : { input: tuples }) };
  await trainShown(source, { out, config, replicas, onEvent }, flags);
}

/** Says how a training ended, after its figures. */
const reported =
  (out: string, text: (figures: unknown) => string) =>
  (event: TrainEvent): void => {
    if (event.type !== 'ended') return;
    const { state, step, evaluation } = event.result;
    print(`${evaluation ? text(evaluation) : ''}run ${state} at step ${step}: ${out}\n`);
  };

/** What the ranks of a group must agree on: their command lines, and the settings file. */
async function termsOf(file: string | undefined, flags: ReasonTrainFlags): Promise<GroupConfig> {
  return {
    '--part': flags.part,
    '--decoder': flags.decoder ?? 'that of the settings',
    '--set': flags.set.join(' ') || 'nothing',
    '--resume': flags.resume ? 'given' : 'not given',
    'settings file': await fileTerm(file, 'experiments/reasoning'),
  };
}

/** The same for programs; a run that is there and finished is kept as it is. */
export async function trainReasoning(flags: ReasonTrainFlags): Promise<void> {
  const { pathFolder } = await import('@hidden-schema/hsn/tasks/tuples/path/path-task');
  const { Run } = await import('@hidden-schema/hsn/run/run');
  const named = flags.set.findLast((setting) => setting.startsWith('path.kind='));
  const kind = (named?.slice('path.kind='.length) ?? 'lstm') as PathKind;
  const folder = flags.part === 'path' ? pathFolder(flags.run!, kind) : flags.out!;
  const there = existsSync(join(folder, 'run.json'));
  if (there && Run.open(folder).state === 'finished') return;
  await train(undefined, there ? { ...flags, resume: true } : flags);
}
