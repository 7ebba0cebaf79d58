import { type Generator, nn, type Tensor, type TensorOptions } from '@hidden-schema/torch';
import type { z } from 'zod';
import { type SymbolRecord, symbolClaims } from './decoder-config.ts';
import type { DecoderKind, DecoderOptions, ScratchSizes } from './decoder-kind.ts';
import { LanguageDecoder } from './language-decoder.ts';
import {
  type Claim,
  checkedConfig,
  isAdded,
  type LoadRules,
  openModel,
  readModelConfig,
} from './model-folder.ts';
import { type Layout, Projection } from './projection.ts';
import { attendsTo, SchemaInput, SymbolAttention, type SymbolOptions } from './symbol-attention.ts';

/** What a config.json may say of symbols. */
type WithSymbols = { hsn?: SymbolRecord | undefined };

/** A class of decoders, with what sets its architecture apart from the others. */
export interface DecoderClass<Settings, Config extends WithSymbols, Decoder extends LanguageDecoder> {
  new (settings: Settings, generator: Generator, options: MakingOptions): Decoder;
  /** The parts of config.json that it depends on. */
  readonly schema: z.ZodType<Config, Settings>;
  /** Settings of a decoder from scratch. */
  scratch(sizes: ScratchSizes): Settings;
  /** What the sizes in its settings say of its weights. */
  claims(config: Config): Claim[];
  /** The names here of stored tensors. */
  renamedFor(config: Config): LoadRules['rename'];
}

interface DecoderSizes {
  vocabulary: number;
  positions: number;
  keyWidth: number;
}

/** A decoder that is what a config.json says, in Hugging Face's terms. */
export abstract class ConfiguredDecoder<Config> extends LanguageDecoder {
  readonly config: Config;
  readonly vocabularySize: number;
  readonly maxPositions: number;
  protected readonly keyWidth: number;
  /** The output matrix where it is not the table of embeddings; each class sets its own, at its place among the weights. */
  declare lm_head?: Projection | undefined;
  readonly #architecture: string;

  constructor(architecture: string, config: Config, { vocabulary, positions, keyWidth }: DecoderSizes) {
    super();
    this.#architecture = architecture;
    this.config = config;
    this.vocabularySize = vocabulary;
    this.maxPositions = positions;
    this.keyWidth = keyWidth;
  }

  /** From a folder in Hugging Face's layout: config.json and safetensors. */
  static open<Settings, Config extends WithSymbols, Decoder extends LanguageDecoder>(
    this: DecoderClass<Settings, Config, Decoder>,
    folder: string,
    generator: Generator,
    options: DecoderOptions = {},
  ): Decoder {
    // biome-ignore lint/complexity/noThisInStatic: the class that is asked, and not this one
    return openFolder(this, folder, generator, options);
  }

  /** Embeddings of tokens, and the symbols' shared part where it takes symbols. */
  protected abstract get inputs(): { table: nn.Embedding; schema: SchemaInput | undefined };

  configOf(): Record<string, unknown> {
    return { architectures: [this.#architecture], ...this.config };
  }

  protected get output(): Tensor {
    return this.lm_head?.weight ?? this.inputs.table.weight;
  }

  protected get symbolInput(): SchemaInput | undefined {
    return this.inputs.schema;
  }

  protected embed(tokens: Tensor): Tensor {
    return this.inputs.table.forward(tokens);
  }
}

function openFolder<Settings, Config extends WithSymbols, Decoder extends LanguageDecoder>(
  Decoder: DecoderClass<Settings, Config, Decoder>,
  folder: string,
  generator: Generator,
  options: DecoderOptions,
): Decoder {
  const settings = readModelConfig(folder);
  const config = checkedConfig(Decoder.schema, settings, folder);
  const rename = Decoder.renamedFor(config);
  const claims = [...Decoder.claims(config), ...(options.symbols ? [] : symbolClaims(config.hsn))];
  const make = () => new Decoder(settings as Settings, generator, { ...options, blank: true });
  return openModel(folder, make, { claims, rename, optional: isAdded });
}

/** A class of decoders as the rest of the program asks for it. */
export function kindOf<Settings, Config extends WithSymbols, Decoder extends LanguageDecoder>(
  Decoder: DecoderClass<Settings, Config, Decoder>,
): DecoderKind {
  return {
    make: (sizes, generator, options) => new Decoder(Decoder.scratch(sizes), generator, options),
    blank: (config, generator, options) =>
      new Decoder(config as Settings, generator, { ...options, blank: true }),
    open: (folder, generator, options) => openFolder(Decoder, folder, generator, options),
  };
}

/** `blank` leaves zeros for weights to come. */
export type MakingOptions = DecoderOptions & { blank?: boolean };

export interface ProjectionKind {
  layout: Layout;
  bias: boolean;
  /** Whether it writes into the residual path. */
  residual?: boolean;
}

/** How a decoder's parts are made: weights are drawn, or left zero for a checkpoint to fill. */
export class Making {
  readonly generator: Generator;
  readonly tensors: TensorOptions;
  /** Those asked for, or those of config.json. */
  readonly symbols: SymbolOptions | undefined;
  /** Deviation of the initial weights; of those that write into the residual path it is smaller, the more layers. */
  readonly deviation: number;
  readonly residual: number;

  constructor(
    config: { deviation: number; layers: number; symbols: SymbolOptions | undefined },
    generator: Generator,
    options: MakingOptions,
  ) {
    const { blank = false, symbols = config.symbols, ...tensors } = options;
    this.generator = generator;
    this.tensors = tensors;
    this.symbols = symbols;
    this.deviation = blank ? 0 : config.deviation;
    this.residual = this.deviation / Math.sqrt(2 * config.layers);
  }

  /** The symbols' part of one layer, where a decoder has any. */
  layerSymbols(sizes: { width: number; keyWidth: number }): SymbolAttention | undefined {
    const { symbols, generator, tensors } = this;
    return attendsTo(symbols) ? new SymbolAttention(symbols, sizes, generator, tensors) : undefined;
  }

  /** The same of all layers. */
  sharedSymbols(width: number): SchemaInput | undefined {
    return this.symbols && new SchemaInput(this.symbols, width, this.generator, this.tensors);
  }

  /** A table of rows that are drawn with the decoder's deviation. */
  table(rows: number, width: number): nn.Embedding {
    const { generator, tensors, deviation } = this;
    const make = () => new nn.Embedding(rows, width, generator, { ...tensors, deviation });
    return deviation === 0 ? nn.undrawn(make) : make();
  }

  projection(
    inputs: number,
    outputs: number,
    { layout, bias, residual = false }: ProjectionKind,
  ): Projection {
    const deviation = residual ? this.residual : this.deviation;
    return new Projection(inputs, outputs, this.generator, { ...this.tensors, layout, bias, deviation });
  }
}
