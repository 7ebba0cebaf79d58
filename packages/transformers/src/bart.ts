import { UserError } from '@hidden-schema/base';
import { idsTensor, padded } from '@hidden-schema/text/text-batches';
import { type Generator, nn, openWeights, type Tensor, withWeights } from '@hidden-schema/torch';
import { BartReading, BartWriting } from './bart-layers.ts';
import type { Memory } from './cache.ts';
import { ConfiguredDecoder, kindOf, Making, type MakingOptions } from './decoder-architecture.ts';
import { type BartConfig, type BartSettings, bartClaims, bartConfigSchema } from './decoder-config.ts';
import type { DecoderOptions, ScratchSizes } from './decoder-kind.ts';
import type { LanguageDecoder, Nll, NllOptions, Prompted } from './language-decoder.ts';
import { checkedConfig } from './model-folder.ts';
import type { AttentionContext } from './symbol-attention.ts';
import { maskOfLengths, paddingMask } from './text-encoder.ts';

// Shapes: B sentences, S tokens of the source, T tokens of the target, D width.

class BartBody extends nn.Module {
  readonly shared: nn.Embedding;
  readonly encoder: BartReading;
  readonly decoder: BartWriting;

  constructor(config: BartConfig, making: Making) {
    super();
    this.shared = making.table(config.vocab_size, config.d_model);
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
export class BartDecoder extends ConfiguredDecoder<BartConfig> {
  static readonly schema = bartConfigSchema;
  static readonly claims = bartClaims;
  readonly model: BartBody;
  readonly adapterTargets = ['q_proj', 'v_proj'] as const;

  constructor(settings: BartSettings, generator: Generator, options: MakingOptions = {}) {
    if (options.symbols)
      throw new UserError(
        'a BART writes from what its encoder reads and takes no walks: train it as COMET (hsn reason train --part comet) or with baseline=true, or take gpt2, llama or lstm as decoder.name',
      );
    const config = checkedConfig(bartConfigSchema, settings, 'BART settings');
    const { d_model: width, vocab_size: vocabulary, decoder_layers: layers } = config;
    // A source may get an end of its own.
    const sizes = { vocabulary, positions: config.max_position_embeddings - 1, keyWidth: width };
    super('BartForConditionalGeneration', config, sizes);
    const start = { deviation: config.init_std, layers, symbols: undefined };
    this.model = new BartBody(config, new Making(start, generator, options));
  }

  /** Settings of a decoder from scratch. */
  static scratch({ vocabulary, positions, width, layers, heads, dropout }: ScratchSizes): BartSettings {
    const side = (name: 'encoder' | 'decoder') => ({
      [`${name}_layers`]: layers,
      [`${name}_attention_heads`]: heads,
      [`${name}_ffn_dim`]: 4 * width,
    });
    const dropouts = { dropout, attention_dropout: dropout };
    const sizes = { vocab_size: vocabulary, d_model: width, max_position_embeddings: positions + 1 };
    return { ...sizes, ...side('encoder'), ...side('decoder'), ...dropouts } as BartSettings;
  }

  /** The names here of stored tensors. */
  static renamedFor(): typeof renamed {
    return renamed;
  }

  override configOf(): Record<string, unknown> {
    const { architectures } = super.configOf();
    return { architectures, is_encoder_decoder: true, ...this.config };
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

  protected get inputs() {
    return { table: this.model.shared, schema: undefined };
  }

  protected override embed(tokens: Tensor): Tensor {
    const rows = super.embed(tokens);
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

const kind = kindOf(BartDecoder);

/** Checks first what is not read: no checkpoint is known whose bias of the output is not zero. */
function openBart(folder: string, generator: Generator, options: DecoderOptions): LanguageDecoder {
  withWeights(openWeights(folder), (weights) => {
    if (weights.has('final_logits_bias') && weights.get('final_logits_bias').abs().sum().item() > 0)
      throw new UserError(`${folder}: its final_logits_bias is not zero, which cannot be read here`);
  });
  return kind.open(folder, generator, options);
}

export const bartKind = { ...kind, open: openBart };
