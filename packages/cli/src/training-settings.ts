import { createHash } from 'node:crypto';
import fs, { readFileSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base/errors';
import type { ReasoningConfig, Run, RunConfig } from '@hidden-schema/hsn';
import type { GroupConfig } from '@hidden-schema/torch';
import { textSettings } from './text-flags.ts';
import type { TrainFlags } from './train.ts';

/** The settings to train with: a file's or the earlier run's own or the defaults, with flags and `--set` on top. */
export async function settingsOf(
  file: string | undefined,
  corpus: string,
  flags: TrainFlags,
  earlier: Run | undefined,
): Promise<RunConfig> {
  const { discoveringDefaults } = await import('@hidden-schema/hsn/config/settings-schema');
  const { dumpConfig, loadConfig } = await import('@hidden-schema/hsn/config/settings');
  const short = (['symbols', 'length'] as const).filter(
    (key) => flags[key] !== undefined && flags[key] !== 'auto',
  );
  const encoder = flags.encoder === undefined ? [] : [`encoder.name=${JSON.stringify(flags.encoder)}`];
  const overrides = [...short.map((key) => `${key}=${flags[key]}`), ...encoder, ...flags.set];
  const own = earlier ? dumpConfig(earlier.config) : '';
  const text = file === undefined ? own : readSettings(file, 'experiments');
  return loadConfig(text, file ?? 'settings', overrides, {
    fallback: earlier?.config.model ?? corpusKind(corpus),
    flags: short.filter((key) => !flags.set.some((one) => one.startsWith(`${key}=`))),
    ...(earlier ? {} : { beneath: discoveringDefaults }),
  });
}

/** Flags that say how texts are read. */
const textFlags = {
  '--input-format': 'inputFormat',
  '--text-column': 'textColumn',
  '--label-column': 'labelColumn',
  '--delimiter': 'delimiter',
  '--header': 'header',
  '--encoding': 'encoding',
  '--on-bad-utf8': 'onBadUtf8',
  '--duplicates': 'duplicates',
} as const;

/**
 * What the ranks of a group must agree on. A resumed run's settings and corpus are in its folder, which only rank 0
 * needs: there the command lines are compared.
 */
export async function termsOf(file: string | undefined, flags: TrainFlags): Promise<GroupConfig> {
  const reading = Object.entries(textFlags).flatMap(([flag, name]) =>
    flags[name] === undefined ? [] : [[flag, String(flags[name])]],
  );
  const common = { '--resume': flags.resume ? 'given' : 'not given', ...Object.fromEntries(reading) };
  if (flags.resume) {
    const text = await fileTerm(file, 'experiments');
    return { ...common, '--set': flags.set.join(' ') || 'nothing', 'settings file': text };
  }
  // Rank 0 asks for the corpus.
  if (flags.corpus === undefined || flags.corpus === '-') return common;
  const { settingValues } = await import('@hidden-schema/hsn/config/settings');
  const config = await settingsOf(file, flags.corpus, flags, undefined);
  return { ...common, ...settingValues(config), corpus: await corpusTerm(flags.corpus, config, flags) };
}

/** Hash and size of a corpus, or why it cannot be read: that one rank lacks it, all are to learn. */
async function corpusTerm(corpus: string, config: RunConfig, flags: TrainFlags): Promise<string> {
  const { TextFiles } = await import('@hidden-schema/text/corpus');
  const { readSyntheticCorpus } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/reader');
  try {
    if (config.model === 'synthetic') {
      const { fingerprint, splits } = readSyntheticCorpus(corpus, { seed: config.seed });
      const { train, valid, test } = splits;
      return `${fingerprint.slice(0, 12)} (${train.count} + ${valid.count} + ${test.count} sentences)`;
    }
    const files = await TextFiles.find(corpus, await textSettings(flags));
    const { fingerprint, bytes } = await files.fingerprint();
    return `${fingerprint.slice(0, 12)} (${bytes} bytes)`;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return `that it cannot be read (${error.message})`;
  }
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** The settings of tuples: a file's, else an earlier run's, else the defaults; with `--set` on top. */
export async function reasonSettings(
  file: string | undefined,
  from: ReasoningConfig | undefined,
  overrides: readonly string[],
): Promise<ReasoningConfig> {
  const { discoveringDefaults } = await import('@hidden-schema/hsn/config/settings-schema');
  const { dumpConfig, loadConfig, tuplesConfig } = await import('@hidden-schema/hsn/config/settings');
  const own = from ? dumpConfig(from) : '';
  const text = file === undefined ? own : readSettings(file, 'experiments/reasoning');
  const beneath = from ? {} : { beneath: discoveringDefaults };
  return tuplesConfig(loadConfig(text, file ?? 'settings', overrides, { fallback: 'reasoning', ...beneath }));
}

/** The text of a settings file; `examples` is the folder that an error names. */
function readSettings(file: string, examples: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UserError(`cannot read the settings ${file}: expected a YAML file; ${examples} holds examples`);
  }
}

/** What tells one settings file from another, for ranks to agree on. */
export async function fileTerm(file: string | undefined, examples: string): Promise<string> {
  return file === undefined ? 'none' : shortHash(readSettings(file, examples));
}

/** What only the folder of a synthetic language holds. */
const marks = ['adjacency.txt', 'train_walks.txt', 'node_tokens.tsv'];
/** What only the folder of readable sentences drawn from a graph holds. */
const wordsMark = 'node_phrases.tsv';
const peekedBytes = 1 << 16;

/**
 * Whether a corpus holds texts, or a synthetic language. A file or standard input is text; a folder is one of a
 * synthetic language if it says so, or if its sentences all have the same number of tokens, as texts never have.
 */
export function corpusKind(corpus: string): 'synthetic' | 'language' {
  const stat = corpus === '-' ? undefined : fs.statSync(corpus, { throwIfNoEntry: false });
  if (corpus === '-' || stat?.isFile()) return 'language';
  if (stat && fs.existsSync(path.join(corpus, wordsMark))) return 'language';
  if (!stat || marks.some((name) => fs.existsSync(path.join(corpus, name)))) return 'synthetic';
  return evenSentences(path.join(corpus, 'train.txt')) ? 'synthetic' : 'language';
}

/** Whether the first lines of a file all have the same number of tokens. */
function evenSentences(file: string): boolean {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  const bytes = Buffer.alloc(peekedBytes);
  const descriptor = fs.openSync(file, 'r');
  const count = fs.readSync(descriptor, bytes);
  fs.closeSync(descriptor);
  const lines = bytes.toString('utf8', 0, count).split('\n');
  // The last one may be cut.
  const tokens = lines.slice(0, -1).map((line) => line.trim().split(/\s+/).length);
  return tokens.length > 1 && tokens[0]! > 1 && tokens.every((length) => length === tokens[0]);
}
