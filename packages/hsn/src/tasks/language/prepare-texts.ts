import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { type TextCorpus, TextFiles } from '@hidden-schema/text/corpus';
import { corpusNotes, fingerprintOf } from '@hidden-schema/text/corpus-report';
import { TEXT_SPLITS, type TextSettings, type TextSplit } from '@hidden-schema/text/settings';
import type { CorpusInput } from '@hidden-schema/text/sources';
import type { CorpusProgress } from '@hidden-schema/text/token-cache';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { Generator } from '@hidden-schema/torch';
import { isDecoderName } from '@hidden-schema/transformers/decoder-config';
import { readModelConfig } from '@hidden-schema/transformers/model-folder';
import { findPretrained } from '@hidden-schema/transformers/pretrained';
import type { TextEncoder } from '@hidden-schema/transformers/text-encoder';
import { isFast, type LanguageConfig } from '../../config/language.ts';
import type { DiscoveryAsked } from '../../discovery/inputs.ts';
import type { OpenedEncoder } from '../../discovery/vectors/text-vectors.ts';
import type { CorpusInfo } from '../../run/run.ts';
import { type DiscoverySizes, decoderTokenizer, openTextEncoder, type Tokenizers } from './build.ts';

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
  /** Whether symbols are found and nothing is learnt: no texts are needed but those for training. */
  onlyDiscover?: boolean;
  /** Where a run has an encoder of its own (`ENCODER_FOLDER`). */
  encoderFolder?: string | undefined;
  stdin?: NodeJS.ReadableStream;
  onProgress?: (progress: CorpusProgress) => void;
  /** Called with the texts once they are read, before they are encoded: where processes begin to work together. */
  onTexts?: (texts: Pick<PreparedTexts, 'source' | 'tokenizers' | 'info'>) => void | Promise<void>;
}

/** The settings that texts are prepared by, whatever model is made of them. */
export type TextConfig = Pick<LanguageConfig, 'seed'> & {
  encoder: Omit<LanguageConfig['encoder'], 'walks' | 'sharpness' | 'precision'> &
    Partial<Pick<LanguageConfig['encoder'], 'precision'>>;
  decoder: Omit<
    LanguageConfig['decoder'],
    'symbolAttention' | 'symbolPositions' | 'symbolProjections' | 'lora'
  >;
  training: Pick<LanguageConfig['training'], 'batch'>;
  discovery?: Pick<LanguageConfig['discovery'], 'passages'>;
};

/** Texts and tokenizers, ready for a model. */
export interface PreparedTexts {
  source: TextInput;
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
interface TextInputs<Config> extends PreparedTexts {
  /** The settings that texts were read by: whole texts decide how long they may be. */
  read: Config;
  encoder: TextEncoder;
  frozen: boolean;
  /** Where the decoder's weights are, unless it starts from scratch. */
  folder: string | undefined;
  generator: Generator;
}

/** Reads and tokenises a corpus, and opens the encoder that a model will read it by. */
export async function prepareTexts<Config extends TextConfig>(
  asked: Config,
  source: TextInput,
  options: PrepareOptions,
): Promise<TextInputs<Config>> {
  checkSizes(asked);
  const { tokenizer: known, cache, signal, stdin, onProgress } = options;
  const reading = { cache, signal, stdin, onProgress };
  const rest = Object.fromEntries(Object.entries(reading).filter(([, value]) => value !== undefined));
  const found = { ...source.settings, ...rest, seed: asked.seed };
  const files = await TextFiles.find(await corpusInput(source), found);
  try {
    if (files.settings.timeColumn !== undefined) await checkDates(files, files.settings.timeColumn);
    const folder = await pretrainedFolder(asked, options);
    const decoder = known ?? (await decoderTokenizer(asked, files, folder));
    const generator = new Generator(asked.seed);
    const opened = await openTextEncoder(asked, decoder, generator, {
      folder: options.encoderFolder,
      teacher: true,
    });
    const { tokenizer, frozen } = opened;
    const tokenizers = { encoder: tokenizer, decoder };
    const models = { encoder: opened.encoder, ...(folder ? { decoderPositions: positionsOf(folder) } : {}) };
    const widest = asked.decoder.whole ? withLongest(asked, mostTokens(models)) : asked;
    const corpus = await files.tokenise(sidesOf(widest, tokenizers, models));
    const read = asked.decoder.whole ? withLongest(asked, neededTokens(corpus, mostTokens(models))) : asked;
    const notes = [...files.notes, ...corpusNotes(corpus.report, notesFor(asked, options))];
    checkSplits(corpus, source.input, options.onlyDiscover ? ['train'] : TEXT_SPLITS);
    const texts = { ...textsOf(source, files, corpus), tokenizers };
    await options.onTexts?.(texts);
    const encoder = await fittedEncoder(asked, opened, corpus, options);
    const materials = { encoder, frozen, folder, generator, read };
    return { ...texts, notes, ...materials };
  } catch (error) {
    files.close();
    throw error;
  }
}

/** The encoder that was opened; or, where the settings ask for a fast one that is not there yet, one fitted to it. */
async function fittedEncoder(
  { encoder: { name, longest }, seed }: TextConfig,
  opened: OpenedEncoder,
  corpus: TextCorpus,
  { cache, signal, onNote }: PrepareOptions,
): Promise<TextEncoder> {
  if (!isFast(name) || opened.encoder.writeTo) return opened.encoder;
  const { fitFastEncoder } = await import('../../discovery/vectors/fit-static.ts');
  try {
    return await fitFastEncoder(opened, corpus, { name, seed, longest, cache, signal, onNote });
  } finally {
    opened.encoder.free();
  }
}

/** Passages are read whole; where symbols are only found, no decoder reads any batch. */
function notesFor({ discovery, training }: TextConfig, { onlyDiscover }: PrepareOptions) {
  const encoder = discovery?.passages ? [] : (['encoder'] as const);
  return onlyDiscover
    ? { cutting: encoder }
    : { cutting: [...encoder, 'decoder'] as const, batchSize: training.batch };
}

/** A corpus with what a run notes of it. */
function textsOf(source: TextInput, files: TextFiles, corpus: TextCorpus) {
  const spool = source.input === '-' ? files.sources[0]! : undefined;
  const spooled = spool && { file: spool.file, name: spoolName(spool.format) };
  const directory = spooled?.name ?? path.resolve(source.input);
  const close = () => {
    corpus.close();
    files.close();
  };
  return { source, corpus, info: { directory, fingerprint: textFingerprint(corpus) }, spooled, close };
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
  const { parseDates } = await import('@hidden-schema/text/dates');
  const written: { value: string | undefined; where: string }[] = [];
  for await (const { value, where } of files.column(column)) written.push({ value, where });
  parseDates(written);
}

/** Where a decoder's weights are that does not start from scratch. */
async function pretrainedFolder(
  { decoder: { name } }: Pick<TextConfig, 'decoder'>,
  { cache, signal }: PrepareOptions,
): Promise<string | undefined> {
  if (isDecoderName(name)) return undefined;
  const options = { ...(cache ? { cache } : {}), ...(signal ? { signal } : {}) };
  return (await findPretrained(name, options)).folder;
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
export const textFingerprint = ({ report }: TextCorpus): string => fingerprintOf(report.files);

const spoolName = (format: string): string => `corpus.${format === 'text' ? 'txt' : format}`;

function checkSizes({ encoder, decoder }: TextConfig): void {
  const own = { encoder: encoder.name === 'transformer', decoder: isDecoderName(decoder.name) };
  for (const [side, { width, heads }] of Object.entries({ encoder, decoder }))
    if (own[side as keyof typeof own] && width % heads !== 0)
      throw new UserError(`${side}.width is ${width}: expected a multiple of ${side}.heads, ${heads}`);
}

/** Refuses a corpus that lacks texts for something. */
function checkSplits({ splits, report }: TextCorpus, input: string, needed: readonly TextSplit[]): void {
  const where = input === '-' ? 'standard input' : input;
  const missing = needed.filter((name) => splits[name].length === 0);
  if (missing.length === 0) return;
  const others = missing.includes('train')
    ? ''
    : '; or find symbols alone with --stage discover, which needs no other texts than those for training';
  throw new UserError(
    `${where} has ${report.sentences} sentences and none of them for ${missing.join(' and ')}: of each ten, eight train, one is for valid and one for test, so that 100 are enough; give more, or a folder with train, valid and test files${others}`,
  );
}
