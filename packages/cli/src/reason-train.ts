import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PathKind } from '@hidden-schema/hsn';
import type { GroupConfig } from '@hidden-schema/torch';
import type { Command } from 'commander';
import { settingsOfRun, takeSettingsDevice, withDeviceSetting } from './device.ts';
import { launch } from './processes.ts';
import { checkProfileFile } from './profiling.ts';
import { fitMixture } from './reason-mixture.ts';
import { type ReasonTrainFlags, reasonSettings } from './reason-train-settings.ts';
import { inGroup } from './replicas.ts';
import { readSettings } from './settings-file.ts';
import { wholeNumber } from './text-flags.ts';
import { useThreads } from './threads.ts';
import { addTrainingOptions } from './training-run.ts';

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

async function train(file: string | undefined, asked: ReasonTrainFlags): Promise<void> {
  const flags = { ...asked, set: withDeviceSetting(asked) };
  const { UserError } = await import('@hidden-schema/base');
  const processes = await wholeNumber('--processes', flags.processes);
  if (processes !== undefined && processes > 1) return launch(processes, flags.threads);
  await useThreads(flags.threads);
  await takeSettingsDevice(() =>
    flags.resume ? settingsOfRun(flags.out) : reasonSettings(file, undefined, flags.set),
  );
  if (flags.profile !== undefined) await checkProfileFile(flags.profile);
  if (!['path', 'network', 'comet', 'mixture'].includes(flags.part))
    throw new UserError(`--part takes network, path, mixture or comet, got ${flags.part}`);
  if (flags.part === 'mixture') return fitMixture(file, flags);
  for (const flag of ['comet', 'limit'] as const)
    if (flags[flag] !== undefined) throw new UserError(`--${flag} is for --part mixture`);
  if (flags.part === 'path' && flags.decoder !== undefined)
    throw new UserError('--decoder is for a network or COMET: a path model writes no text');
  const lead =
    flags.part === 'path'
      ? (await import('./reason-train-path.ts')).trainPath
      : (await import('./reason-train-network.ts')).trainNetwork;
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
