import { UserError } from '@hidden-schema/base';
import { type TextCorpus, TextFiles } from '@hidden-schema/text/corpus';
import { textKey } from '@hidden-schema/text/text-keys';
import type { CorpusProgress } from '@hidden-schema/text/token-cache';
import { Generator, scope } from '@hidden-schema/torch';
import type { TextEncoder } from '@hidden-schema/transformers';
import { type LanguageConfig, usesPursuit } from '../../config/language.ts';
import { languageConfig } from '../../config/settings.ts';
import { type PassagePoints, Passages } from '../../discovery/passages.ts';
import { CorpusPoints, corpusVectors } from '../../discovery/vectors/corpus-vectors.ts';
import type { StoredVectorOptions } from '../../discovery/vectors/vector-store.ts';
import { openConsistently } from '../../run/consistent.ts';
import { Run } from '../../run/run.ts';
import { checkEncoderHash, fillFromCheckpoint, ownEncoder, withEncoderOf } from '../recorded-models.ts';
import { decoderSource, makeNetwork, openTextEncoder, type Tokenizers } from './build.ts';
import type { LanguageNetwork } from './network.ts';
import { corpusInput, sidesOf, type TextConfig, type TextInput } from './prepare-texts.ts';
import { checkCorpus, type TextRecord, textInput, textRecord } from './text-record.ts';
import { LanguageTexts } from './texts.ts';

/** A language run's model with its tokenizers; its corpus is opened apart, by those who need it. */
export interface OpenedLanguage {
  run: Run;
  config: LanguageConfig;
  model: LanguageNetwork;
  tokenizers: Tokenizers;
  texts: LanguageTexts;
  labels: readonly string[];
  step: number;
  notes: string[];
}

/** What the corpus of an opened run is read by, whatever its model of texts. */
export interface OpenedTexts {
  run: Run;
  config: TextConfig;
  model: { encoder: { base: TextEncoder }; decoder: { maxPositions: number } };
  tokenizers: Tokenizers;
}

/** Opens a run's language model at a checkpoint: `best`, `last` or a step. */
export function openLanguage(
  directory: string,
  asked: { checkpoint?: string } = {},
): Promise<OpenedLanguage> {
  return openConsistently(
    directory,
    () => openOnce(directory, asked),
    ({ model }) => model.free(),
  );
}

async function openOnce(directory: string, asked: { checkpoint?: string }): Promise<OpenedLanguage> {
  const run = Run.open(directory);
  const config = languageConfig(run.config, `the run ${directory}`);
  const { record, tokenizer } = textRecord(run);
  const { model, tokenizers } = await modelOfRecord(config, record, tokenizer, run);
  const saved = fillFromCheckpoint(model, run, asked.checkpoint ?? 'best', directory);
  const writes = !usesPursuit(config) || saved.step > 0;
  const texts = new LanguageTexts(model, tokenizers, { writes });
  return { run, config, model, tokenizers, texts, labels: record.labels, ...saved };
}

async function modelOfRecord(
  config: LanguageConfig,
  record: TextRecord,
  decoder: Tokenizers['decoder'],
  run: Run,
) {
  const generator = new Generator(config.seed);
  const named = withEncoderOf(config, record);
  const { encoder, tokenizer, frozen } = await openTextEncoder(named, decoder, generator, {
    folder: ownEncoder(run),
  });
  checkEncoderHash(record, tokenizer.hash, run.directory);
  const { sentences, discovery } = record;
  const source = await decoderSource(config, { config: record.decoder });
  const sizes = { decoderVocabulary: decoder.vocabulary, sentences, discovery };
  // What weights are drawn from would hold their memory after `free`.
  const model = scope(() => makeNetwork(config, { encoder, frozen, decoder: source, ...sizes }, generator));
  return { model, tokenizers: { encoder: tokenizer, decoder } };
}

/** The corpus of an opened run as points, where walks are read by pursuit; vectors come from the cache where they are. */
export async function openPoints(
  { config, model, tokenizers }: OpenedLanguage,
  corpus: TextCorpus,
  options: Omit<StoredVectorOptions, 'longest'> = {},
): Promise<CorpusPoints | undefined> {
  const { encoder } = model;
  if (encoder.reads !== 'points') return undefined;
  const opened = { encoder: encoder.base, tokenizer: tokenizers.encoder };
  const { longest } = config.encoder;
  const { signal } = options;
  const passages = await Passages.of(corpus.store, opened, {
    longest,
    cut: config.discovery.passages,
    signal,
  });
  const vectors = await corpusVectors(corpus.store, passages, opened, { ...options, longest });
  return new CorpusPoints(encoder, { passages, vectors });
}

/** Does something with the training texts of an opened run as points, where walks are read by pursuit. */
export async function withTrainingPoints<T>(
  opened: OpenedLanguage,
  options: { signal?: AbortSignal },
  body: (texts: PassagePoints, of: { corpus: TextCorpus; placed: CorpusPoints }) => Promise<T>,
): Promise<T> {
  const corpus = await openLanguageCorpus(opened, options);
  const placed = (await openPoints(opened, corpus, options))!;
  const texts = placed.reading(corpus.splits.train);
  try {
    return await body(texts, { corpus, placed });
  } finally {
    texts.points.free();
    placed.free();
    corpus.close();
  }
}

/** The corpus a run was trained on, or another one; tokenised again where its cache is gone. */
export async function openLanguageCorpus(
  { run, config, model, tokenizers }: OpenedTexts,
  asked: {
    corpus?: string;
    /** A file to read after those of the run. */
    more?: string;
    cache?: string;
    signal?: AbortSignal;
    onProgress?: (progress: CorpusProgress) => void;
  } = {},
): Promise<TextCorpus> {
  const { corpus: other, more, ...options } = asked;
  const { record } = textRecord(run);
  const found = other ? { input: other, settings: record.settings } : textInput(run);
  const { settings } = found;
  const files = await TextFiles.find(await corpusInput({ ...found, ...added(found, more) }), {
    ...settings,
    ...options,
    seed: config.seed,
  });
  try {
    if (!other) await checkCorpus(run, files, more === undefined ? undefined : addedSource(files, more));
    const models = { encoder: model.encoder.base, decoderPositions: model.decoder.maxPositions };
    return await files.tokenise(sidesOf(config, tokenizers, models));
  } finally {
    files.close();
  }
}

const added = ({ more = [] }: TextInput, file: string | undefined): Pick<TextInput, 'more'> =>
  file === undefined ? {} : { more: [...more, file] };

/** Number of the file that was added: the last, or the last that trains where the input has splits of its own. */
const addedSource = ({ sources }: Pick<TextFiles, 'sources'>, file: string): number =>
  sources.findLastIndex((source) => source.file === file && (source.split ?? 'train') === 'train');

/**
 * What the texts of a run's corpus have in a column of its table, by rows of its store. [N] A value is read with the text
 * beside it, and goes to the row that has that text.
 */
export async function corpusColumn(
  { run }: OpenedLanguage,
  { store }: TextCorpus,
  name: string,
  options: { signal?: AbortSignal } = {},
): Promise<WrittenValue[]> {
  const source = textInput(run);
  const files = await TextFiles.find(await corpusInput(source), { ...source.settings, ...options });
  const keys = store.keys();
  const values: WrittenValue[] = [];
  for await (const { hash, value, where } of files.column(name)) {
    if (!hash) continue;
    // Rows are in the order of the files, so that equal texts keep theirs.
    if (textKey(hash) !== keys[values.length]) throw writtenMeanwhile(where);
    values.push({ value, where });
  }
  if (values.length !== store.count) throw writtenMeanwhile(source.input);
  return values;
}

const writtenMeanwhile = (where: string): UserError =>
  new UserError(`${where} was changed while it was read; try again once it is still`);

/** A value of a column, and where it stands. */
interface WrittenValue {
  value: string | undefined;
  where: string;
}
