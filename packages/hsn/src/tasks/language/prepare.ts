import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import {
  type CorpusProgress,
  corpusNotes,
  fingerprintOf,
  parseDates,
  type TextCorpus,
  TextFiles,
  type TextSettings,
  type Tokenizer,
} from '@hidden-schema/text';
import { Generator, startEngine } from '@hidden-schema/torch';
import { findPretrained, readModelConfig, type TextEncoder } from '@hidden-schema/transformers';
import type { LanguageConfig } from '../../config/language.ts';
import { type OpenedEncoder, tellingPieces } from '../../discovery/index.ts';
import type { CorpusInfo, Run, RunOptions } from '../../run/run.ts';
import { createRecordedRun, type ModelRecord, modelRecord, recordOf } from '../recorded-models.ts';
import {
  type DiscoverySizes,
  decoderTokenizer,
  fromScratch,
  makeNetwork,
  openTextEncoder,
  type Tokenizers,
} from './build.ts';
import { corpusVectors, storedTokens } from './corpus-vectors.ts';
import { checkDiscovery, type DiscoveryGiven, discoverySizes, inSpace, pursues } from './discovery.ts';
import { unknownWordsNote } from './known-words.ts';
import type { LanguageNetwork } from './network.ts';

/** Where the texts are and how they are read; `-` is standard input. */
export interface TextInput {
  input: string;
  settings: Partial<TextSettings>;
}

export interface PrepareOptions {
  /** The decoder's vocabulary where a run has one already; else it is drawn from the corpus. */
  tokenizer?: Tokenizer;
  /** Sizes of the space that a run's symbols were found in; else they are the corpus' own. */
  discovery?: DiscoverySizes | undefined;
  cache?: string;
  stdin?: NodeJS.ReadableStream;
  signal?: AbortSignal;
  onProgress?: (progress: CorpusProgress) => void;
  /** Hears of texts that become vectors, and where those came from. */
  onVectors?: (done: number, total: number) => void;
  onNote?: (text: string) => void;
}

/** Texts, tokenizers and models, ready for a run. */
export interface PreparedLanguage {
  config: LanguageConfig;
  given: TextInput;
  corpus: TextCorpus;
  tokenizers: Tokenizers;
  model: LanguageNetwork;
  /** Where walks are read by pursuit: what symbols are found in. */
  discovery: DiscoveryGiven | undefined;
  info: CorpusInfo;
  /** What the user should know of the corpus. */
  notes: string[];
  /** Standard input as a file, until `close`. */
  spooled: { file: string; name: string } | undefined;
  close(): void;
}

/** Reads and tokenises a corpus and makes the model for it; nothing is written but caches of tokens and vectors. */
export async function prepareLanguage(
  asked: LanguageConfig,
  given: TextInput,
  options: PrepareOptions = {},
): Promise<PreparedLanguage> {
  startEngine();
  checkSizes(asked);
  checkLora(asked);
  const { tokenizer: known, discovery: sizes, ...rest } = options;
  const files = await TextFiles.find(given.input, { ...given.settings, ...rest, seed: asked.seed });
  let discovery: DiscoveryGiven | undefined;
  try {
    if (files.settings.timeColumn !== undefined) await checkDates(files, files.settings.timeColumn);
    const folder = await pretrainedFolder(asked, options);
    const decoder = known ?? (await decoderTokenizer(asked, files, folder));
    const generator = new Generator(asked.seed);
    const { encoder, tokenizer, frozen } = await openTextEncoder(asked, decoder, generator);
    const tokenizers = { encoder: tokenizer, decoder };
    const models = { encoder, ...(folder ? { decoderPositions: positionsOf(folder) } : {}) };
    const widest = asked.decoder.whole ? withLongest(asked, mostTokens(models)) : asked;
    const corpus = await files.tokenise(sidesOf(widest, tokenizers, models));
    checkSplits(corpus, given.input);
    const read = asked.decoder.whole ? withLongest(asked, neededTokens(corpus, mostTokens(models))) : asked;
    const sentences = corpus.splits.train.length;
    if (pursues(asked)) discovery = await discoveryGiven(asked, corpus, { encoder, tokenizer }, options);
    const space = sizes ?? (discovery && discoverySizes(discovery.pieces.length, sentences));
    const config = space ? inSpace(read, encoder.width + space.dimensions) : read;
    const parts = { encoder, frozen, decoderVocabulary: decoder.vocabulary, sentences, discovery: space };
    const model = makeNetwork(config, { ...parts, ...(folder ? { decoder: { folder } } : {}) }, generator);
    checkVocabulary(model, decoder, config.decoder.name);
    const close = () => {
      corpus.close();
      files.close();
      discovery?.vectors.free();
    };
    const source = given.input === '-' ? files.sources[0]! : undefined;
    const spooled = source && { file: source.file, name: spoolName(source.format) };
    const info = {
      directory: spooled?.name ?? path.resolve(given.input),
      fingerprint: textFingerprint(corpus),
    };
    const strange = discovery && unknownWordsNote(corpus, tokenizer);
    const notes = [...corpusNotes(corpus.report, config.training.batch), ...(strange ? [strange] : [])];
    return { config, given, corpus, tokenizers, model, discovery, info, notes, spooled, close };
  } catch (error) {
    files.close();
    discovery?.vectors.free();
    throw error;
  }
}

const withLongest = (config: LanguageConfig, longest: number): LanguageConfig => ({
  ...config,
  decoder: { ...config.decoder, longest },
});

/** More would be a table of positions that nobody means. */
const mostFromScratch = 8192;

/** Tokens of a whole text that the decoder has positions for; its start and end take one each. */
const mostTokens = ({ decoderPositions }: { decoderPositions?: number }): number =>
  (decoderPositions ?? mostFromScratch + 2) - 2;

/** Tokens of the longest text, as far as the decoder can read it. */
const neededTokens = ({ report }: TextCorpus, most: number): number =>
  Math.max(1, Math.min(most, report.tokens?.decoder.longest ?? 1));

/** Dates that cannot be read are refused before anything is encoded. */
async function checkDates(files: TextFiles, column: string): Promise<void> {
  const written: { value: string | undefined; where: string }[] = [];
  for await (const { value, where } of files.column(column)) written.push({ value, where });
  parseDates(written);
}

/** The texts' vectors and telling pieces, from which symbols are found. */
async function discoveryGiven(
  config: LanguageConfig,
  { store, splits }: TextCorpus,
  opened: OpenedEncoder,
  { cache, signal, onVectors, onNote }: PrepareOptions,
): Promise<DiscoveryGiven> {
  checkDiscovery(config, splits.train.length);
  const pieces = config.discovery.wordWeight > 0 ? tellingPieces(storedTokens(store, splits.train)) : [];
  const vectors = await corpusVectors(store, opened, {
    longest: config.encoder.longest,
    ...(cache ? { cache } : {}),
    ...(signal ? { signal } : {}),
    ...(onVectors ? { onProgress: onVectors } : {}),
    ...(onNote ? { onNote } : {}),
  });
  return { vectors, pieces: Int32Array.from(pieces) };
}

/** Where a decoder's weights are that does not start from scratch. */
async function pretrainedFolder(
  { decoder: { name } }: LanguageConfig,
  { cache, signal }: PrepareOptions,
): Promise<string | undefined> {
  if (fromScratch(name)) return undefined;
  const options = { ...(cache ? { cache } : {}), ...(signal ? { signal } : {}) };
  return (await findPretrained(name, options)).folder;
}

/** What `run.json` notes of a language run, so that the folder can be opened without anything else. */
export interface TextRecord extends ModelRecord {
  settings: Partial<TextSettings>;
  /** Sentences in the training split: N of the objective. */
  sentences: number;
  labels: readonly string[];
  /** Sizes of the space that symbols were found in, where walks are read by pursuit. */
  discovery?: DiscoverySizes;
}

/** Makes the run's folder, with the decoder's vocabulary and a copy of what came from standard input. */
export function createLanguageRun(
  directory: string,
  prepared: PreparedLanguage,
  options: Pick<RunOptions, 'force'> = {},
): Run {
  const { config, given, corpus, tokenizers, model, spooled, discovery } = prepared;
  const sentences = corpus.splits.train.length;
  const encoder = { name: config.encoder.name, tokenizer: tokenizers.encoder.hash };
  const text: TextRecord = {
    settings: given.settings,
    sentences,
    labels: corpus.labels,
    ...modelRecord(encoder, model.decoder),
    ...(discovery ? { discovery: discoverySizes(discovery.pieces.length, sentences) } : {}),
  };
  const fill = (folder: string) => {
    if (spooled) fs.copyFileSync(spooled.file, path.join(folder, spooled.name));
  };
  return createRecordedRun(directory, prepared, { text }, { ...options, fill });
}

/** A run's notes on its texts, and the vocabulary that lies beside them. */
export function textRecord(run: Run): { record: TextRecord; tokenizer: Tokenizer } {
  return recordOf<TextRecord>(run, { key: 'text', of: 'texts', needed: ['encoder', 'decoder'] });
}

/** Where a run's texts are; a copy of standard input lies in its folder. */
export function textInput(run: Run): TextInput {
  const { record } = textRecord(run);
  const input = path.resolve(run.directory, run.record.corpus.directory);
  if (!fs.existsSync(input))
    throw new UserError(`${input}, the corpus of ${run.directory}, is gone; name it with --corpus`);
  return { input, settings: record.settings };
}

/** Both sides with as many tokens as their models read. */
export function sidesOf(
  config: LanguageConfig,
  tokenizers: Tokenizers,
  models: { encoder: TextEncoder; decoderPositions?: number },
) {
  // Start and end of a sentence take a position each.
  const most = Math.min(config.decoder.longest, (models.decoderPositions ?? Number.POSITIVE_INFINITY) - 2);
  // Of a text that is cut, the token where its end would stand is its own next one.
  const longest = config.decoder.whole ? most + 1 : most;
  return {
    encoder: {
      tokenizer: tokenizers.encoder,
      longest: Math.min(config.encoder.longest, models.encoder.positions),
    },
    decoder: { tokenizer: tokenizers.decoder, longest },
  };
}

function positionsOf(folder: string): number {
  const { n_positions, max_position_embeddings } = readModelConfig(folder);
  return Number(n_positions ?? max_position_embeddings ?? Number.POSITIVE_INFINITY);
}

/** Of the files' contents and splits, whatever they are called and wherever they lie. */
export function textFingerprint({ report }: TextCorpus): string {
  return fingerprintOf(report.files);
}

const spoolName = (format: string): string => `corpus.${format === 'text' ? 'txt' : format}`;

function checkSizes({ encoder, decoder }: LanguageConfig): void {
  const own = { encoder: encoder.name === 'transformer', decoder: fromScratch(decoder.name) };
  for (const [side, { width, heads }] of Object.entries({ encoder, decoder })) {
    if (own[side as keyof typeof own] && width % heads !== 0)
      throw new UserError(`${side}.width is ${width}: expected a multiple of ${side}.heads, ${heads}`);
  }
}

function checkLora({ decoder: { name, lora } }: LanguageConfig): void {
  if (lora && fromScratch(name))
    throw new UserError(
      `decoder.lora leaves a decoder's own weights as they are, and ${name} starts from scratch: name a pretrained one, or leave lora out`,
    );
}

function checkSplits({ splits, report }: TextCorpus, input: string): void {
  for (const [name, rows] of Object.entries(splits)) {
    if (rows.length > 0) continue;
    const where = input === '-' ? 'standard input' : input;
    throw new UserError(
      `${where} has ${report.sentences} sentences and none of them for ${name}: give more, or a folder with train, valid and test files`,
    );
  }
}

function checkVocabulary({ decoder }: LanguageNetwork, { vocabulary }: Tokenizer, name: string): void {
  if (vocabulary <= decoder.vocabularySize) return;
  throw new UserError(
    `${name}: the tokenizer has ${vocabulary} tokens but the weights have ${decoder.vocabularySize}; they do not belong together, take the tokenizer.json that came with the weights`,
  );
}
