import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Run, RunConfig } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { corpusKind } from './corpus-kind.ts';
import { addTextOptions, type TextFlags } from './text-flags.ts';
import { trainLanguage } from './train-language.ts';
import { trainSynthetic } from './train-synthetic.ts';

export interface TrainFlags extends TextFlags {
  corpus?: string;
  out?: string;
  symbols?: string;
  length?: string;
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
  $ hsn train --corpus reviews.tsv --symbols 50 --length 5 --out run
  $ cat sentences.txt | hsn train --corpus - --out run
  $ hsn train --corpus reviews.tsv --out baseline --set baseline=true
  $ hsn train --out run --resume          continue where it stopped

A corpus is the folder of "hsn synth", or texts: a file (a sentence a line, label<TAB>text, CSV, JSONL, Parquet), a
folder with train, valid and test files, or - for standard input (--set model=language says so where in doubt). Texts train a language model: the encoder is the
MiniLM that comes with this program unless encoder.name is given.

The model with the best validation objective (lowest -L, Eq. 28, on the validation split) is kept as "best" and
evaluated at the end; training stops early after training.patience evaluations without a better one. Ctrl-C saves and
stops; the run can be continued or evaluated.
`;

export function register(program: Command): void {
  const command = program
    .command('train')
    .summary('train a model on a corpus')
    .description('Train a Hidden Schema Network and write everything about it to a run folder.')
    .argument('[config]', 'YAML file with settings; without it, the defaults')
    .option('--corpus <where>', 'folder that "hsn synth" wrote; or texts: a file, a folder, - for input')
    .option('--symbols <n>', 'symbols of the graph (for texts 50 by default)')
    .option('--length <n>', 'steps of a walk (for texts 5 by default)')
    .option('--input-format <name>', 'text, tsv, csv, jsonl or parquet (default: by the ending)')
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
  addTextOptions(command);
}

async function train(file: string | undefined, flags: TrainFlags): Promise<void> {
  const { Run, UserError } = await import('@hidden-schema/hsn');
  await useThreads(flags.threads);
  if (flags.resume && !flags.out)
    throw new UserError('--resume needs --out: the folder of the run to continue');
  const earlier = flags.resume ? Run.open(flags.out!) : undefined;
  const corpus = flags.corpus ?? earlier?.record.corpus.directory;
  if (corpus === undefined) {
    throw new UserError('which corpus? give --corpus <file or folder>; "hsn synth --out <folder>" draws one');
  }
  const config = await settings(file, corpus, flags, earlier);
  const name = corpus === '-' ? 'input' : path.parse(path.resolve(corpus)).name;
  const given = { flags, corpus, earlier, out: flags.out ?? path.join('runs', `${name}-${config.seed}`) };
  if (config.model === 'language') await trainLanguage(config, given);
  else await trainSynthetic(config, given);
}

/** The settings to train with: a file's or the earlier run's own or the defaults, with flags and `--set` on top. */
async function settings(
  file: string | undefined,
  corpus: string,
  flags: TrainFlags,
  earlier: Run | undefined,
): Promise<RunConfig> {
  const { dumpConfig, loadConfig, UserError } = await import('@hidden-schema/hsn');
  const short = (['symbols', 'length'] as const).flatMap((key) =>
    flags[key] === undefined ? [] : [`${key}=${flags[key]}`],
  );
  const overrides = [...short, ...flags.set];
  const text = file === undefined ? (earlier ? dumpConfig(earlier.config) : '') : readConfig(file, UserError);
  const kind = earlier?.config.model ?? corpusKind(corpus);
  return loadConfig(text, file ?? 'settings', overrides, kind);
}

function readConfig(file: string, Fault: new (message: string) => Error): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Fault(`cannot read the settings ${file}: expected a YAML file; experiments/ holds examples`);
  }
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
