import fs from 'node:fs';
import path from 'node:path';
import { type JsonValue, UserError } from '@hidden-schema/base';
import type { TextFiles } from '@hidden-schema/text/corpus';
import { type FileReport, fingerprintOf } from '@hidden-schema/text/corpus-report';
import { TEXT_DEFAULTS, type TextSettings } from '@hidden-schema/text/settings';
import { storedCorpus } from '@hidden-schema/text/token-cache';
import { TokenStore } from '@hidden-schema/text/token-store';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import type { LanguageDecoder } from '@hidden-schema/transformers/language-decoder';
import type { TextEncoder } from '@hidden-schema/transformers/text-encoder';
import { ENCODER_FOLDER } from '../../config/language.ts';
import type { SymbolChoice } from '../../discovery/choose.ts';
import type { Seed } from '../../discovery/seeds.ts';
import { corpusPlaces } from '../../run/corpus-places.ts';
import type { Run, RunOptions } from '../../run/run.ts';
import { createRecordedRun, type ModelRecord, modelRecord, recordOf } from '../recorded-models.ts';
import { type DiscoverySizes, discoverySizes } from './build.ts';
import type { PreparedLanguage } from './prepare.ts';
import type { PreparedTexts, TextConfig, TextInput } from './prepare-texts.ts';

/** What `run.json` notes of a language run, so that the folder can be opened without anything else. */
export interface TextRecord extends ModelRecord {
  settings: Partial<TextSettings>;
  /** Files that were added since the run was made. */
  more?: readonly string[];
  /** What tells each file of the corpus from others; runs of 0.2.0 have one hash for all. */
  files?: readonly CorpusFile[];
  /** Sentences in the training split: N of the objective. */
  sentences: number;
  labels: readonly string[];
  /** Sizes of the space that symbols were found in, where walks are read by pursuit. */
  discovery?: DiscoverySizes;
  /** Texts that were cut into passages when the run was made, where some were. */
  cutTexts?: number;
  /** Symbols that were asked for, in their order. */
  seeds?: readonly Seed[];
  /** The curve that decided how many symbols there are, where it did. */
  chosen?: SymbolChoice;
}

/** A model of texts with its settings. */
interface TextModel {
  config: Run['config'] & TextConfig;
  model: { decoder: LanguageDecoder; encoder: { base: TextEncoder } };
}

/** What decides of what a corpus is, and may be another in a later version. */
const recorded = {
  layout: TEXT_DEFAULTS.layout,
  longestText: TEXT_DEFAULTS.longestText,
  clean: TEXT_DEFAULTS.clean,
};

/** Makes the run's folder, with the decoder's vocabulary and a copy of what came from standard input. */
export function createLanguageRun(
  directory: string,
  prepared: PreparedTexts & TextModel & Partial<Pick<PreparedLanguage, 'discovery' | 'chosen'>>,
  options: Pick<RunOptions, 'force'> = {},
): Run {
  const { config, source, corpus, tokenizers, model, spooled, discovery, chosen } = prepared;
  const sentences = corpus.splits.train.length;
  const encoder = { name: config.encoder.name, tokenizer: tokenizers.encoder.hash };
  const text: TextRecord = {
    settings: { ...recorded, ...source.settings },
    files: corpusFiles(corpus.report.files),
    sentences,
    labels: corpus.labels,
    ...modelRecord(encoder, model.decoder),
    ...(discovery ? { discovery: discoverySizes(discovery, corpus) } : {}),
    ...(discovery && discovery.passages.cutTexts > 0 ? { cutTexts: discovery.passages.cutTexts } : {}),
    ...(discovery && discovery.seeds.length > 0 ? { seeds: discovery.seeds } : {}),
    ...(chosen ? { chosen } : {}),
  };
  const fill = (folder: string) => {
    if (spooled) fs.copyFileSync(spooled.file, path.join(folder, spooled.name));
    model.encoder.base.writeTo?.(path.join(folder, ENCODER_FOLDER), tokenizers.encoder);
  };
  return createRecordedRun(directory, prepared, { text }, { ...options, fill });
}

/** What run.json notes of texts that a run goes on with in place of those it had. */
export function textsAdopted(run: Run, { corpus }: Pick<PreparedTexts, 'corpus'>): Record<string, JsonValue> {
  const { more: _, ...record } = textRecord(run).record;
  const files = corpusFiles(corpus.report.files);
  return { text: JSON.parse(JSON.stringify({ ...record, files })) as JsonValue };
}

/** How runs of 0.2.0 read their texts. */
const settingsBefore = { layout: 'declared', longestText: 1 << 16, clean: false } as const;

/** A run's notes on its texts, and the vocabulary that lies beside them. */
export function textRecord(run: Run): { record: TextRecord; tokenizer: Tokenizer } {
  const { record, tokenizer } = recordOf<TextRecord>(run, {
    key: 'text',
    of: 'texts',
    needed: ['encoder', 'decoder'],
  });
  return { record: { ...record, settings: { ...settingsBefore, ...record.settings } }, tokenizer };
}

/** Where a run's texts are, as far as this user named them; a copy of standard input lies in its folder. */
export function textInput(run: Run): TextInput {
  const { settings } = textRecord(run).record;
  const [input, ...more] = corpusPlaces(run) as [string, ...string[]];
  if (!fs.existsSync(input))
    throw new UserError(`${input}, the corpus of ${run.directory}, is gone; name it with --corpus`);
  const gone = more.find((file) => !fs.existsSync(file));
  if (gone !== undefined)
    throw new UserError(
      `${gone}, which was added to ${run.directory}, is gone; put it back, or undo the update`,
    );
  return { input, settings, ...(more.length > 0 ? { more } : {}) };
}

/** What a run notes of each file of its corpus, in their order. */
export type CorpusFile = Pick<FileReport, 'name' | 'split' | 'sha256' | 'sentences'>;

export const corpusFiles = (files: readonly FileReport[]): CorpusFile[] =>
  files.map(({ name, split, sha256, sentences }) => ({ name, split, sha256, sentences }));

/**
 * Refuses files whose content is not that of a run's corpus, and says what differs. `added` is the number of one that is
 * to be added to it, which must be of other content than those before.
 */
export async function checkCorpus(run: Run, files: TextFiles, added?: number): Promise<void> {
  const sums = await files.sums();
  const now = files.sources.map(({ name, split }, at) => ({ name, split, sha256: sums[at]!.sha256 }));
  const own = now.filter((_, at) => at !== added);
  if (fingerprintOf(own) !== run.record.corpus.fingerprint)
    throw new UserError(
      `the corpus of ${run.directory} is not what it was trained on: ${await differences(run, files, own, added)}; put it back as it was, name a copy of that with --corpus, or train a new run`,
    );
  const fresh = added === undefined ? undefined : now[added]!;
  const twin = fresh && own.find(({ sha256 }) => sha256 === fresh.sha256);
  if (twin) throw sameContent(run, files.sources[added!]!.file, twin.name);
}

/** That a file adds nothing. */
export const sameContent = (run: Run, file: string, twin: string): UserError =>
  new UserError(
    `${file} has the texts of ${twin}, which ${run.directory} has already; nothing was added, give other texts`,
  );

/** How the files differ from those that the run had, in words. */
async function differences(
  run: Run,
  files: TextFiles,
  now: readonly Omit<CorpusFile, 'sentences'>[],
  added: number | undefined,
): Promise<string> {
  const before = filesBefore(run);
  if (!before) return `${now.map(({ name }) => name).join(', ')} is of other content`;
  const gone = before.filter(({ name }) => !now.some((file) => file.name === name));
  const fresh = now.filter(({ name }) => !before.some((file) => file.name === name));
  const changed = now.filter(
    ({ name, sha256 }) =>
      before.some((file) => file.name === name) && !before.some((file) => file.sha256 === sha256),
  );
  const counted = changed.length > 0 ? await countedTexts(run, files, added) : undefined;
  const parts = [
    ...gone.map(({ name }) => `${name} is gone`),
    ...fresh.map(({ name }) => `${name} is new`),
    ...changed.map(({ name }) =>
      changed.length === 1 && counted ? `${name} ${counted}` : `${name} is of other content`,
    ),
    ...(changed.length > 1 && counted ? [`the corpus ${counted}`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : 'its files are in another order, or for other splits';
}

function filesBefore(run: Run): readonly CorpusFile[] | undefined {
  const { fingerprint } = run.record.corpus;
  const { files } = (run.record.text ?? {}) as Partial<TextRecord>;
  return files && fingerprintOf(files) === fingerprint ? files : storedCorpus(fingerprint)?.report.files;
}

/** How many texts are new and gone, where the texts before are still in the cache. */
async function countedTexts(
  run: Run,
  files: TextFiles,
  added: number | undefined,
): Promise<string | undefined> {
  const stored = storedCorpus(run.record.corpus.fingerprint);
  if (!stored) return undefined;
  let before: BigUint64Array;
  let now: bigint[];
  try {
    const store = TokenStore.open(stored.folder);
    before = store.keys();
    store.close();
    now = (await files.keys()).filter((_, at) => at !== added).flat();
  } catch {
    return undefined;
  }
  const left = new Map<bigint, number>();
  for (const key of before) left.set(key, (left.get(key) ?? 0) + 1);
  let fresh = 0;
  for (const key of now) {
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    else fresh++;
  }
  const gone = before.length - (now.length - fresh);
  if (fresh > 0 || gone > 0)
    return `has ${fresh} new ${fresh === 1 ? 'text' : 'texts'} and lacks ${gone} of the ${before.length}`;
  return now.every((key, at) => key === before[at])
    ? `has the same ${now.length} texts, and something else in other columns or lines`
    : `has the same ${now.length} texts in another order`;
}
