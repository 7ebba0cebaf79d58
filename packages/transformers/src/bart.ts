import { UserError } from '@hidden-schema/base';
import { idsTensor, padded } from '@hidden-schema/text/padding';
import { type Generator, nn, openWeights, type Tensor } from '@hidden-schema/torch';
import { type BartConfig, type BartSettings, bartClaims, bartConfigSchema } from './bart-config.ts';
import { BartReading, BartWriting } from './bart-layers.ts';
import type { Memory } from './cache.ts';
import { type DecoderArchitecture, kindOf, openFolder } from './decoder-architecture.ts';
import type { DecoderOptions } from './decoder-kind.ts';
import { type Making, type MakingOptions, makingOf } from './decoder-making.ts';
import { LanguageDecoder, type Nll, type NllOptions, type Prompted } from './language-decoder.ts';
import { checkedConfig } from './model-folder.ts';
import { Table } from './projection.ts';
import type { AttentionContext, SchemaInput } from './symbol-attention.ts';
import { maskOfLengths, paddingMask } from './text-encoder.ts';

// Shapes: B sentences, S tokens of the source, T tokens of the target, D width.

class BartBody extends nn.Module {
  readonly shared: Table;
  readonly encoder: BartReading;
  readonly decoder: BartWriting;

  constructor(config: BartConfig, making: Making) {
    super();
    const { generator, tensors, deviation } = making;
    this.shared = new Table(config.vocab_size, config.d_model, generator, { ...tensors, deviation });
    this.encoder = new BartReading(config, making);
    this.decoder = new BartWriting(config, making);
  }
}

/** The name here of a stored tensor; tables that are the shared one again, and a bias of zeros, are left out. */
function renamed(stored: string): string | undefined {
  if (stored === 'final_logits_bias' || stored === 'lm_head.weight') return undefined;
  const name = stored.startsWith('model.') ? stored : `model.${stored}`;
  return /^model\.(en|de)coder\.embed_tokens\.weight$/.test(name) ? undefined : name;
}

/**
 * BART (Lewis et al.): an encoder reads what a text is given as its start, a decoder writes the rest. Where other decoders
 * read a prompt, this one hands it to its encoder, and starts to write with the same first token.
 */
export class BartDecoder extends LanguageDecoder {
  readonly model: BartBody;
  readonly config: BartConfig;
  readonly vocabularySize: number;
  readonly maxPositions: number;
  readonly adapterTargets = ['q_proj', 'v_proj'] as const;
  protected readonly keyWidth: number;

  constructor(settings: BartSettings, generator: Generator, options: MakingOptions = {}) {
    super();
    if (options.symbols)
      throw new UserError(
        'a BART writes from what its encoder reads and takes no walks: train it as COMET (hsn reason train --part comet) or with baseline=true, or take gpt2, llama or lstm as decoder.name',
      );
    const config = checkedConfig(bartConfigSchema, settings, 'BART settings');
    const start = { deviation: config.init_std, layers: config.decoder_layers, symbols: undefined };
    this.config = config;
    this.model = new BartBody(config, makingOf(start, generator, options));
    this.vocabularySize = config.vocab_size;
    // A source may get an end of its own.
    this.maxPositions = config.max_position_embeddings - 1;
    this.keyWidth = config.d_model;
  }

  /** From a folder in Hugging Face's layout: config.json and safetensors. */
  static open(folder: string, generator: Generator, options: DecoderOptions = {}): BartDecoder {
    return openBart(folder, generator, options);
  }

  configOf(): Record<string, unknown> {
    return { architectures: ['BartForConditionalGeneration'], is_encoder_decoder: true, ...this.config };
  }

  /** What the encoder makes of sources, as they are. */
  read(sources: readonly (readonly number[])[]): Memory {
    const ids = padded(
      sources.map((source) => Int32Array.from(source)),
      { pad: 0 },
    );
    const lengths = Array.from(ids.lengths);
    const mask = paddingMask(maskOfLengths(lengths, ids.width)).to(this.output.dtype);
    return { states: this.model.encoder.forward(this.embed(idsTensor(ids)), mask), mask };
  }

  /** Prompts are sources, with the end that BART was trained to see behind them. */
  override prompted(prompts: readonly (readonly number[])[]): Required<Prompted> {
    const { eos_token_id: end } = this.config;
    const sources = prompts.map((prompt) => [...prompt, ...(typeof end === 'number' ? [end] : [])]);
    return { starts: prompts.map((prompt) => this.#start(prompt[0]!)), memory: this.read(sources) };
  }

  override nll(
    tokens: Tensor,
    schema: Tensor | undefined,
    lengths: readonly number[],
    options: NllOptions = {},
  ): Nll {
    if (options.memory) return super.nll(tokens, schema, lengths, options);
    const time = tokens.dim(1);
    const numbers = tokens.toNumbers();
    const promptLength = (b: number): number =>
      Math.min(typeof options.prefix === 'object' ? options.prefix[b]! : (options.prefix ?? 1), lengths[b]!);
    const row = (b: number, first: number, end: number) => numbers.slice(b * time + first, b * time + end);
    const { starts, memory } = this.prompted(lengths.map((_, b) => row(b, 0, promptLength(b))));
    const targets = padded(
      lengths.map((length, b) => Int32Array.from([...starts[b]!, ...row(b, promptLength(b), length)])),
      { pad: 0 },
    );
    const prefix = starts.map((start) => start.length);
    return super.nll(idsTensor(targets), schema, Array.from(targets.lengths), { ...options, prefix, memory });
  }

  protected get output(): Tensor {
    return this.model.shared.weight;
  }

  protected get symbolInput(): SchemaInput | undefined {
    return undefined;
  }

  protected embed(tokens: Tensor): Tensor {
    const rows = this.model.shared.forward(tokens);
    return this.config.scale_embedding ? rows.mul(Math.sqrt(this.config.d_model)) : rows;
  }

  protected through(embedded: Tensor, start: number, context: AttentionContext): Tensor {
    const { memory } = context;
    if (!memory) throw new TypeError('a BART writes from what its encoder has read: give its memory');
    return this.model.decoder.forward(embedded, start, memory, context);
  }

  /** What writing starts with: the token that the checkpoint was trained to start with, then that of the prompt. */
  #start(first: number): number[] {
    const { decoder_start_token_id: start } = this.config;
    return typeof start === 'number' && start !== first ? [start, first] : [first];
  }
}

const bart: DecoderArchitecture<BartSettings, BartConfig, BartDecoder> = {
  schema: bartConfigSchema,
  Decoder: BartDecoder,
  settings: ({ vocabulary, positions, width, layers, heads, dropout }) => ({
    vocab_size: vocabulary,
    d_model: width,
    encoder_layers: layers,
    decoder_layers: layers,
    encoder_attention_heads: heads,
    decoder_attention_heads: heads,
    encoder_ffn_dim: 4 * width,
    decoder_ffn_dim: 4 * width,
    max_position_embeddings: positions + 1,
    dropout,
    attention_dropout: dropout,
  }),
  claims: bartClaims,
  renamedFor: () => renamed,
};

/** Checks first what is not read: no checkpoint is known whose bias of the output is not zero. */
function openBart(folder: string, generator: Generator, options: DecoderOptions): BartDecoder {
  const weights = openWeights(folder);
  try {
    if (weights.has('final_logits_bias') && weights.get('final_logits_bias').abs().sum().item() > 0)
      throw new UserError(`${folder}: its final_logits_bias is not zero, which cannot be read here`);
  } finally {
    weights.close();
  }
  return openFolder(bart, folder, generator, options);
}

export const bartKind = { ...kindOf(bart), open: openBart };
