import { UserError } from '@hidden-schema/base';
import type { TextCorpus } from '@hidden-schema/text';
import type { Frames } from '@hidden-schema/text/text-batches';
import { loadTokenizer, type Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { defaultDevice, Generator, scope } from '@hidden-schema/torch';
import { type DecoderName, decoderNameOf } from '@hidden-schema/transformers/decoder-config';
import { type DecoderKind, loadDecoderKind } from '@hidden-schema/transformers/decoder-kind';
import type { LanguageDecoder } from '@hidden-schema/transformers/language-decoder';
import type { addLora } from '@hidden-schema/transformers/lora';
import { readModelConfig } from '@hidden-schema/transformers/model-folder';
import { openPretrainedText } from '@hidden-schema/transformers/pretrained';
import type { SymbolOptions } from '@hidden-schema/transformers/symbol-attention';
import { LstmText, type TextEncoder, TransformerText } from '@hidden-schema/transformers/text-encoder';
import { heldByWarmStart, isFast, type LanguageConfig, teacherOf } from '../../config/language.ts';
import { pointDefaults } from '../../discovery/points.ts';
import { PursuitEncoder } from '../../discovery/pursuit-encoder.ts';
import type { DiscoveryInputs } from '../../discovery/text-discovery.ts';
import { WalkEncoder } from '../../encoder/walk-queries.ts';
import { HiddenSchemaNetwork } from '../../model.ts';
import type { LanguageKind, LanguageNetwork } from './network.ts';

export interface Tokenizers {
  encoder: Tokenizer;
  decoder: Tokenizer;
}

/** Models that are compared with the network read states, which have no other precision. */
type EncoderSettings = Omit<LanguageConfig['encoder'], 'walks' | 'sharpness' | 'precision'> &
  Partial<Pick<LanguageConfig['encoder'], 'precision'>>;

/** Where an encoder that is called `fast` comes from: a folder that has it, or its teacher, for it to be fitted. */
interface FastSource {
  folder?: string | undefined;
  teacher?: boolean;
}

/** Refuses a precision that nothing would be computed in. */
function checkPrecision({ name, frozen, precision = 'float32' }: EncoderSettings): void {
  const scratch = name === 'transformer' || name === 'lstm';
  if (precision !== 'float32' && (scratch || !frozen))
    throw new UserError(
      `encoder.precision: ${precision} is for a pretrained encoder that stays frozen; take float32, or training.precision`,
    );
  if (precision !== 'float32' && defaultDevice() !== 'cpu')
    throw new UserError(
      `encoder.precision: ${precision} is for the CPU, and this is on ${defaultDevice()}; take encoder.precision: float32, or --device cpu`,
    );
}

/** The encoder before its queries: pretrained by name, or from scratch on the decoder's own vocabulary. */
export async function openTextEncoder(
  config: { encoder: EncoderSettings },
  decoderTokenizer: Tokenizer,
  generator: Generator,
  fast: FastSource = {},
): Promise<{ encoder: TextEncoder; tokenizer: Tokenizer; frozen: boolean }> {
  const { name, frozen, width, layers, heads, dropout, longest, precision = 'float32' } = config.encoder;
  checkPrecision(config.encoder);
  if (isFast(name) && fast.folder !== undefined) {
    const { openStaticEncoder } = await import('@hidden-schema/transformers/static-encoder');
    return { ...openStaticEncoder(fast.folder), frozen: true };
  }
  if (isFast(name) && !fast.teacher)
    throw new UserError(
      `encoder.name: ${name} is fitted to a corpus of texts; name a pretrained encoder here`,
    );
  if (name !== 'transformer' && name !== 'lstm') {
    const { encoder, tokenizer } = await openPretrainedText(isFast(name) ? teacherOf(name) : name);
    if (encoder.precision) encoder.precision = precision;
    else if (precision !== 'float32')
      throw new UserError(
        `encoder.precision: ${name} has no products in ${precision}; take encoder.precision: float32`,
      );
    return { encoder, tokenizer, frozen: frozen || isFast(name) };
  }
  const sizes = { vocabulary: decoderTokenizer.vocabulary, width, layers, positions: longest, dropout };
  const encoder = scope(() =>
    name === 'lstm'
      ? new LstmText(sizes, generator)
      : new TransformerText({ ...sizes, heads, hidden: 4 * width }, generator),
  );
  return { encoder, tokenizer: decoderTokenizer, frozen: false };
}

/** The vocabulary that lies in a run, refused where it has more tokens than the decoder that it was written with. */
export function tokenizerOfRun(file: string, { vocab_size: most }: Record<string, unknown>): Tokenizer {
  const tokenizer = loadTokenizer(file);
  if (typeof most === 'number' && tokenizer.vocabulary > most)
    throw new UserError(
      `${file} has ${tokenizer.vocabulary} tokens but the decoder has ${most}; put back the one that the run was trained with`,
    );
  return tokenizer;
}

/** Texts that a vocabulary is drawn from, some at a time. */
interface TextSource {
  texts(): AsyncIterable<readonly string[]> | Iterable<readonly string[]>;
}

/** The decoder's vocabulary: that of its pretrained folder, or one drawn from texts (see `decoder.vocabulary`). */
export async function decoderTokenizer(
  config: { decoder: Pick<LanguageConfig['decoder'], 'vocabulary' | 'vocabularySize'> },
  source: TextSource,
  folder?: string,
): Promise<Tokenizer> {
  const { vocabulary, vocabularySize } = config.decoder;
  if (folder !== undefined) return loadTokenizer(folder);
  if (vocabulary === 'trained') {
    const { trainByteBpe, WordCounts } = await import('@hidden-schema/text/tokenizer/train-bpe');
    const words = new WordCounts();
    for await (const texts of source.texts()) words.add(texts);
    return trainByteBpe(words, vocabularySize);
  }
  const { gpt2Tokenizer, TokenCounts, trimmedByteBpe } = await import(
    '@hidden-schema/text/tokenizer/byte-bpe'
  );
  const full = gpt2Tokenizer();
  const counts = new TokenCounts(full);
  for await (const texts of source.texts()) await counts.add(texts);
  return trimmedByteBpe(counts.used(), full);
}

/**
 * Start, end and padding of both sides; the decoder's end of text starts, ends and pads. `longest` is what whole texts
 * have at most, where those that are cut are to have no end.
 */
export function framesOf({ encoder, decoder }: Tokenizers, longest?: number): Frames {
  const { begin, end = begin ?? 0 } = decoder.special;
  return {
    encoder: { pad: encoder.special.pad ?? 0 },
    decoder: { pad: end, begin: begin ?? end, end, ...(longest === undefined ? {} : { longest }) },
  };
}

/** Where a decoder that is not made from the settings alone comes from. */
export interface DecoderOrigin {
  /** A folder with pretrained weights. */
  folder?: string | undefined;
  /** Its config.json, where weights will follow from a checkpoint. */
  config?: Record<string, unknown> | undefined;
}

/** The same with the code that it takes. */
export interface DecoderSource extends DecoderOrigin {
  kind: DecoderKind;
  addLora?: typeof addLora | undefined;
}

/** Loads the code of the decoder that settings name, or that comes from somewhere. */
export async function decoderSource(
  { decoder: { name, ...settings } }: { decoder: { name: string; lora?: unknown } },
  origin: DecoderOrigin = {},
): Promise<DecoderSource> {
  const { folder, config } = origin;
  const recorded = config && decoderNameOf(config, 'the decoder');
  const opened = folder === undefined ? undefined : decoderNameOf(readModelConfig(folder), folder);
  const kind = await loadDecoderKind(recorded ?? opened ?? (name as DecoderName));
  const adapters = settings.lora ? await import('@hidden-schema/transformers/lora') : undefined;
  return { ...origin, kind, addLora: adapters?.addLora };
}

/** The settings that a decoder is made from. */
type DecoderSettings = Pick<LanguageConfig, 'symbols' | 'length' | 'baseline'> & {
  graph: Pick<LanguageConfig['graph'], 'symbols' | 'symbolDimension'>;
  decoder: Omit<LanguageConfig['decoder'], 'lora' | 'whole'>;
};

function symbolOptions({ symbols, length, graph, decoder }: DecoderSettings): SymbolOptions {
  const { symbolAttention: variant, symbolPositions: positionScale, symbolDeviation: deviation } = decoder;
  const steps = decoder.symbolProjections === 'steps' ? length : undefined;
  const how = { variant, positionScale, steps, deviation };
  return graph.symbols === 'learnable'
    ? { ...how, symbols: graph.symbolDimension, vectors: true }
    : { ...how, symbols };
}

export function makeDecoder(
  config: DecoderSettings,
  vocabulary: number,
  generator: Generator,
  source: DecoderSource,
): LanguageDecoder {
  const symbols = config.baseline ? undefined : symbolOptions(config);
  return decoderReading(config.decoder, { vocabulary, symbols }, generator, source);
}

/** The sizes of a decoder, and how words are hidden from it. */
type WritingSettings = Pick<
  LanguageConfig['decoder'],
  'name' | 'width' | 'layers' | 'heads' | 'dropout' | 'longest' | 'wordDropout' | 'wordDropoutBy'
>;

/** A decoder that reads a schema in some way; without one, it writes by itself. */
export function decoderReading(
  settings: WritingSettings,
  reads: { vocabulary: number; symbols: SymbolOptions | undefined },
  generator: Generator,
  source: DecoderSource,
): LanguageDecoder {
  if (settings.name === 'lstm' && settings.wordDropoutBy === 'mask')
    throw new UserError(
      'decoder.wordDropoutBy: mask hides words from attention, which an lstm has none of; take replace',
    );
  const decoder = bareDecoder(settings, reads, generator, source);
  decoder.wordDropout = settings.wordDropout;
  decoder.wordDropoutBy = settings.wordDropoutBy;
  return decoder;
}

function bareDecoder(
  { width, layers, heads, dropout, longest }: WritingSettings,
  { vocabulary, symbols }: { vocabulary: number; symbols: SymbolOptions | undefined },
  generator: Generator,
  source: DecoderSource,
): LanguageDecoder {
  const options = symbols ? { symbols } : {};
  if (source.config) return source.kind.blank(source.config, generator, {});
  if (source.folder) return source.kind.open(source.folder, generator, options);
  // Start and end of a sentence take a position each.
  const sizes = { vocabulary, positions: longest + 2, width, layers, heads, dropout };
  return source.kind.make(sizes, generator, options);
}

/** What a language network is made of beside its settings. */
export interface NetworkSources {
  encoder: TextEncoder;
  frozen: boolean;
  decoderVocabulary: number;
  sentences: number;
  decoder: DecoderSource;
  /** Sizes of the space that symbols are found in, where walks are read by pursuit. */
  discovery?: DiscoverySizes | undefined;
}

/** Pieces of words that are counted, and the dimensions they add to a point. */
export interface DiscoverySizes {
  pieces: number;
  dimensions: number;
}

function walkEncoder(
  config: LanguageConfig,
  { encoder, frozen, discovery }: NetworkSources,
  generator: Generator,
): WalkEncoder | PursuitEncoder {
  const { symbols, length } = config;
  if (discovery) {
    const { sharpness, fade, follow } = config.discovery;
    const standing = config.walk.stays ? symbols : undefined;
    return new PursuitEncoder(encoder, { length, sharpness, fade, follow, standing, ...discovery });
  }
  const { dropout, sharpness } = config.encoder;
  return new WalkEncoder(encoder, { symbols, length, dropout, sharpness, frozen }, generator);
}

/** First steps in which walks and graph stay as they were prepared. */
const heldSteps = ({ warmStart, discovery, training }: LanguageConfig, discovered: boolean): number =>
  discovered ? (discovery.hold ?? training.steps) : heldByWarmStart(warmStart);

/** A language network from its settings, encoder and vocabularies, with weights as drawn by the seed. */
export function makeNetwork(
  config: LanguageConfig,
  parts: NetworkSources,
  generator: Generator = new Generator(config.seed),
): LanguageNetwork {
  const { symbols, length } = config;
  const encoder = walkEncoder(config, parts, generator);
  const decoder = makeDecoder(config, parts.decoderVocabulary, generator, parts.decoder);
  const { lora } = config.decoder;
  if (lora) parts.decoder.addLora!(decoder, lora, generator);
  const { sentences } = parts;
  return new HiddenSchemaNetwork<LanguageKind>(
    config,
    { encoder, decoder, symbols, length, sentences, hold: heldSteps(config, !!parts.discovery) },
    generator,
  );
}

/** Symbols as wide as the points they are found among. */
export function withSymbolWidth<C extends { graph: { symbolDimension: number } }>(
  config: C,
  symbolDimension: number,
): C {
  return { ...config, graph: { ...config.graph, symbolDimension } };
}

/** Sizes of the space that a corpus is discovered in. */
export function discoverySizes(
  { pieces: { length }, passages }: Pick<DiscoveryInputs, 'pieces' | 'passages'>,
  { splits }: Pick<TextCorpus, 'splits'>,
): DiscoverySizes {
  const points = passages.rowsOf(splits.train).length;
  return { pieces: length, dimensions: Math.min(pointDefaults.wordDimensions, length, points) };
}
