import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import {
  type CorpusInput,
  type CorpusProgress,
  corpusNotes,
  fingerprintOf,
  parseDates,
  type TextCorpus,
  TextFiles,
  type TextSettings,
  type TextSplit,
  type Tokenizer,
} from '@hidden-schema/text';
import { Generator, startEngine } from '@hidden-schema/torch';
import {
  findPretrained,
  type LanguageDecoder,
  readModelConfig,
  type TextEncoder,
} from '@hidden-schema/transformers';
import type { LanguageConfig } from '../../config/language.ts';
import type { SymbolChoice } from '../../discovery/index.ts';
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
import { type DiscoveryGiven, discoverySizes, inSpace, pursues } from './discovery.ts';
import {
  checkPursuitOptions,
  chosenSymbols,
  type DiscoveryAsked,
  discoveryGiven,
  fewestSymbols,
} from './discovery-given.ts';
import { unknownWordsNote } from './known-words.ts';
import type { LanguageNetwork } from './network.ts';
import type { Seed } from './seeds.ts';

/** Where the texts are and how they are read; `-` is standard input. */
export interface TextInput {
  input: string;
  /** Files that were added since, which train where the input has splits of its own. */
  more?: readonly string[];
  settings: Partial<TextSettings>;
}

/** All files of a corpus, those that were added last. */
export async function corpusInput({ input, more = [], settings }: TextInput): Promise<CorpusInput> {
  if (more.length === 0) return input;
  const { sources } = await TextFiles.find(input, settings);
  if (sources.every(({ split }) => split === null)) return [input, ...more];
  const files = (split: TextSplit) =>
    sources.flatMap((source) => (source.split === split ? source.file : []));
  return { train: [...files('train'), ...more], valid: files('valid'), test: files('test') };
}

export interface PrepareOptions extends DiscoveryAsked {
  /** The decoder's vocabulary where a run has one already; else it is drawn from the corpus. */
  tokenizer?: Tokenizer;
  /** Sizes of the space that a run's symbols were found in; else they are the corpus' own. */
  discovery?: DiscoverySizes | undefined;
  stdin?: NodeJS.ReadableStream;
  onProgress?: (progress: CorpusProgress) => void;
  /** Called with the texts once they are read, before they are encoded: where processes begin to work together. */
  onTexts?: (texts: Pick<PreparedTexts, 'given' | 'tokenizers' | 'info'>) => void | Promise<void>;
}

/** The settings that texts are prepared by, whatever model is made of them. */
export type TextConfig = Pick<LanguageConfig, 'seed'> & {
  encoder: Omit<LanguageConfig['encoder'], 'walks' | 'sharpness'>;
  decoder: Omit<LanguageConfig['decoder'], 'symbolAttention' | 'symbolPositions' | 'lora'>;
  training: Pick<LanguageConfig['training'], 'batch'>;
};

/** Texts and tokenizers, ready for a model. */
export interface PreparedTexts {
  given: TextInput;
  corpus: TextCorpus;
  tokenizers: Tokenizers;
  info: CorpusInfo;
  /** What the user should know of the corpus. */
  notes: string[];
  /** Standard input as a file, until `close`. */
  spooled: { file: string; name: string } | undefined;
  close(): void;
}

/** The same with what a model for them is made of. */
interface Materials<Config> extends PreparedTexts {
  /** The settings that texts were read by: whole texts decide how long they may be. */
  read: Config;
  encoder: TextEncoder;
  frozen: boolean;
  /** Where the decoder's weights are, unless it starts from scratch. */
  folder: string | undefined;
  generator: Generator;
}

/** Texts, tokenizers and models, ready for a run. */
export interface PreparedLanguage extends PreparedTexts {
  config: LanguageConfig;
  model: LanguageNetwork;
  /** Where walks are read by pursuit: what symbols are found in. */
  discovery: DiscoveryGiven | undefined;
  /** How the number of symbols was chosen, where it was. */
  chosen: SymbolChoice | undefined;
}

/** Reads and tokenises a corpus and makes the model for it; nothing is written but caches of tokens and vectors. */
export async function prepareLanguage(
  settings: LanguageConfig,
  given: TextInput,
  options: PrepareOptions = {},
): Promise<PreparedLanguage> {
  startEngine();
  const asked = options.chooseSymbols ? { ...settings, symbols: fewestSymbols(settings, options) } : settings;
  checkLora(asked);
  checkPursuitOptions(asked, options);
  const { encoder, frozen, folder, generator, read, ...texts } = await prepareTexts(asked, given, options);
  const { corpus, tokenizers } = texts;
  const { encoder: tokenizer, decoder } = tokenizers;
  const sentences = corpus.splits.train.length;
  let discovery: DiscoveryGiven | undefined;
  const close = () => {
    texts.close();
    discovery?.vectors.free();
  };
  try {
    if (pursues(asked)) discovery = await discoveryGiven(asked, corpus, { encoder, tokenizer }, options);
    const space = options.discovery ?? (discovery && discoverySizes(discovery.pieces.length, sentences));
    const chosen =
      options.chooseSymbols && discovery
        ? chosenSymbols(asked, corpus, discovery, options.replicas)
        : undefined;
    const sized = chosen ? { ...read, symbols: chosen.symbols } : read;
    const config = space ? inSpace(sized, encoder.width + space.dimensions) : sized;
    const parts = { encoder, frozen, decoderVocabulary: decoder.vocabulary, sentences, discovery: space };
    const model = makeNetwork(config, { ...parts, ...(folder ? { decoder: { folder } } : {}) }, generator);
    checkVocabulary(model, decoder, config.decoder.name);
    const strange = discovery && unknownWordsNote(corpus, tokenizer);
    const notes = [...texts.notes, ...(strange ? [strange] : [])];
    return { ...texts, config, model, discovery, chosen, notes, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Reads and tokenises a corpus, and opens the encoder that a model will read it by. */
export async function prepareTexts<Config extends TextConfig>(
  asked: Config,
  given: TextInput,
  options: PrepareOptions,
): Promise<Materials<Config>> {
  checkSizes(asked);
  const { tokenizer: known, cache, signal, stdin, onProgress } = options;
  const reading = { cache, signal, stdin, onProgress };
  const rest = Object.fromEntries(Object.entries(reading).filter(([, value]) => value !== undefined));
  const files = await TextFiles.find(await corpusInput(given), {
    ...given.settings,
    ...rest,
    seed: asked.seed,
  });
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
    const close = () => {
      corpus.close();
      files.close();
    };
    const source = given.input === '-' ? files.sources[0]! : undefined;
    const spooled = source && { file: source.file, name: spoolName(source.format) };
    const info = {
      directory: spooled?.name ?? path.resolve(given.input),
      fingerprint: textFingerprint(corpus),
    };
    const notes = corpusNotes(corpus.report, asked.training.batch);
    await options.onTexts?.({ given, tokenizers, info });
    const materials = { encoder, frozen, folder, generator, read };
    return { given, corpus, tokenizers, info, notes, spooled, close, ...materials };
  } catch (error) {
    files.close();
    throw error;
  }
}

const withLongest = <Config extends TextConfig>(config: Config, longest: number): Config => ({
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

/** Where a decoder's weights are that does not start from scratch. */
async function pretrainedFolder(
  { decoder: { name } }: Pick<TextConfig, 'decoder'>,
  { cache, signal }: PrepareOptions,
): Promise<string | undefined> {
  if (fromScratch(name)) return undefined;
  const options = { ...(cache ? { cache } : {}), ...(signal ? { signal } : {}) };
  return (await findPretrained(name, options)).folder;
}

/** What `run.json` notes of a language run, so that the folder can be opened without anything else. */
export interface TextRecord extends ModelRecord {
  settings: Partial<TextSettings>;
  /** Files that were added since the run was made. */
  more?: readonly string[];
  /** Sentences in the training split: N of the objective. */
  sentences: number;
  labels: readonly string[];
  /** Sizes of the space that symbols were found in, where walks are read by pursuit. */
  discovery?: DiscoverySizes;
  /** Symbols that were asked for, in their order. */
  seeds?: readonly Seed[];
  /** The curve that decided how many symbols there are, where it did. */
  chosen?: SymbolChoice;
}

/** A model of texts with its settings. */
interface TextModel {
  config: Run['config'] & TextConfig;
  model: { decoder: LanguageDecoder };
}

/** Makes the run's folder, with the decoder's vocabulary and a copy of what came from standard input. */
export function createLanguageRun(
  directory: string,
  prepared: PreparedTexts & TextModel & Partial<Pick<PreparedLanguage, 'discovery' | 'chosen'>>,
  options: Pick<RunOptions, 'force'> = {},
): Run {
  const { config, given, corpus, tokenizers, model, spooled, discovery, chosen } = prepared;
  const sentences = corpus.splits.train.length;
  const encoder = { name: config.encoder.name, tokenizer: tokenizers.encoder.hash };
  const text: TextRecord = {
    settings: given.settings,
    sentences,
    labels: corpus.labels,
    ...modelRecord(encoder, model.decoder),
    ...(discovery ? { discovery: discoverySizes(discovery.pieces.length, sentences) } : {}),
    ...(discovery && discovery.seeds.length > 0 ? { seeds: discovery.seeds } : {}),
    ...(chosen ? { chosen } : {}),
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
  const { more = [], settings } = record;
  const gone = more.find((file) => !fs.existsSync(file));
  if (gone !== undefined)
    throw new UserError(
      `${gone}, which was added to ${run.directory}, is gone; put it back, or undo the update`,
    );
  return { input, settings, ...(more.length > 0 ? { more } : {}) };
}

/** Both sides with as many tokens as their models read. */
export function sidesOf(
  config: TextConfig,
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

function checkSizes({ encoder, decoder }: TextConfig): void {
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

/** Refuses a tokenizer that is not the weights' own. */
export function checkVocabulary(
  { decoder }: { decoder: LanguageDecoder },
  { vocabulary }: Tokenizer,
  name: string,
): void {
  if (vocabulary <= decoder.vocabularySize) return;
  throw new UserError(
    `${name}: the tokenizer has ${vocabulary} tokens but the weights have ${decoder.vocabularySize}; they do not belong together, take the tokenizer.json that came with the weights`,
  );
}
