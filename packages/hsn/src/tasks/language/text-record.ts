import fs from 'node:fs';
import path from 'node:path';
import { type JsonValue, UserError } from '@hidden-schema/base';
import { TEXT_DEFAULTS, type TextSettings } from '@hidden-schema/text/settings';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import type { LanguageDecoder } from '@hidden-schema/transformers/language-decoder';
import { StaticEncoder } from '@hidden-schema/transformers/static-encoder';
import { writeStaticEncoder } from '@hidden-schema/transformers/static-folder';
import type { TextEncoder } from '@hidden-schema/transformers/text-encoder';
import type { SymbolChoice } from '../../discovery/choose.ts';
import { corpusPlaces } from '../../run/corpus-places.ts';
import type { Run, RunOptions } from '../../run/run.ts';
import { createRecordedRun, type ModelRecord, modelRecord, recordOf } from '../recorded-models.ts';
import type { DiscoverySizes } from './build.ts';
import { type CorpusFile, corpusFiles } from './corpus-check.ts';
import { discoverySizes } from './discovery-sizes.ts';
import { ENCODER_FOLDER } from './encoder-names.ts';
import type { PreparedLanguage } from './prepare.ts';
import type { PreparedTexts, TextConfig, TextInput } from './prepare-texts.ts';
import type { Seed } from './seeds.ts';

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
    const { base } = model.encoder;
    if (base instanceof StaticEncoder)
      writeStaticEncoder(path.join(folder, ENCODER_FOLDER), {
        encoder: base,
        tokenizer: tokenizers.encoder,
      });
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
