import { createHash } from 'node:crypto';
import type { Run, RunConfig } from '@hidden-schema/hsn';
import type { GroupConfig } from '@hidden-schema/torch';
import { corpusKind } from './corpus-kind.ts';
import { readSettings } from './settings-file.ts';
import { textSettings } from './text-flags.ts';
import type { TrainFlags } from './train.ts';

/** The settings to train with: a file's or the earlier run's own or the defaults, with flags and `--set` on top. */
export async function settingsOf(
  file: string | undefined,
  corpus: string,
  flags: TrainFlags,
  earlier: Run | undefined,
): Promise<RunConfig> {
  const { discoveringDefaults } = await import('@hidden-schema/hsn/config/defaults');
  const { dumpConfig, loadConfig } = await import('@hidden-schema/hsn/config/settings');
  const short = (['symbols', 'length'] as const).filter(
    (key) => flags[key] !== undefined && flags[key] !== 'auto',
  );
  const encoder = flags.encoder === undefined ? [] : [`encoder.name=${JSON.stringify(flags.encoder)}`];
  const overrides = [...short.map((key) => `${key}=${flags[key]}`), ...encoder, ...flags.set];
  const text =
    file === undefined
      ? earlier
        ? dumpConfig(earlier.config)
        : ''
      : await readSettings(file, 'experiments');
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
    const text = file === undefined ? 'none' : shortHash(await readSettings(file, 'experiments'));
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
  const { UserError } = await import('@hidden-schema/base');
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
