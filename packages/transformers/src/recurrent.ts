import { type Generator, nn, type Tensor } from '@hidden-schema/torch';
import { z } from 'zod';
import type { Claim } from './claims.ts';
import { type DecoderArchitecture, kindOf, openFolder } from './decoder-architecture.ts';
import type { DecoderOptions } from './decoder-kind.ts';
import { type MakingOptions, makingOf } from './decoder-making.ts';
import { LanguageDecoder } from './language-decoder.ts';
import { checkedConfig, symbolsOf, symbolsSchema } from './model-folder.ts';
import { Table } from './projection.ts';
import { type AttentionContext, attendsTo, SchemaInput, SymbolAttention } from './symbol-attention.ts';

// Shapes: B sentences, T tokens, L walk steps, D width.

const count = z.int().positive();

const recurrentConfigSchema = z.object({
  model_type: z.literal('lstm').default('lstm'),
  vocab_size: count,
  hidden_size: count,
  num_layers: count.default(1),
  max_position_embeddings: count.default(1024),
  dropout: z.number().min(0).lt(1).default(0.1),
  hsn: symbolsSchema.optional(),
});

type RecurrentSettings = z.input<typeof recurrentConfigSchema>;
type RecurrentConfig = z.output<typeof recurrentConfigSchema>;

/** Deviation at which embeddings start. */
const embeddingDeviation = 0.1;

/**
 * A recurrent decoder (the paper names the possibility beside GPT-2): an LSTM reads the tokens so far, its states attend
 * to the symbols with keys and values as in Eq. psa, and what they read there is added before the output.
 */
export class RecurrentDecoder extends LanguageDecoder {
  readonly wte: Table;
  readonly lstm: nn.Lstm;
  readonly norm: nn.LayerNorm;
  readonly schema: SchemaInput | undefined;
  readonly psa: SymbolAttention | undefined;
  readonly dropout: nn.Dropout;
  readonly config: RecurrentConfig;
  readonly vocabularySize: number;
  readonly maxPositions: number;
  readonly adapterTargets = [];
  protected readonly keyWidth: number;

  constructor(settings: RecurrentSettings, generator: Generator, options: MakingOptions = {}) {
    super();
    const config = checkedConfig(recurrentConfigSchema, settings, 'LSTM settings');
    const { hidden_size: width, num_layers: layers, hsn } = config;
    const start = { deviation: embeddingDeviation, layers, symbols: hsn };
    const { tensors, symbols, deviation } = makingOf(start, generator, options);
    this.config = { ...config, hsn: symbolsOf(symbols) };
    this.wte = new Table(config.vocab_size, width, generator, { ...tensors, deviation });
    this.lstm = new nn.Lstm(width, width, generator, { ...tensors, layers });
    this.norm = new nn.LayerNorm(width, tensors);
    this.dropout = new nn.Dropout(config.dropout, generator);
    if (symbols) this.schema = new SchemaInput(symbols, width, generator, tensors);
    if (attendsTo(symbols))
      this.psa = new SymbolAttention(symbols, { width, keyWidth: width }, generator, tensors);
    this.vocabularySize = config.vocab_size;
    this.maxPositions = config.max_position_embeddings;
    this.keyWidth = width;
  }

  static open(folder: string, generator: Generator, options: DecoderOptions = {}): RecurrentDecoder {
    return openFolder(recurrent, folder, generator, options);
  }

  configOf(): Record<string, unknown> {
    return { architectures: ['RecurrentDecoder'], ...this.config };
  }

  protected get output(): Tensor {
    return this.wte.weight;
  }

  protected get symbolInput(): SchemaInput | undefined {
    return this.schema;
  }

  protected embed(tokens: Tensor): Tensor {
    return this.wte.forward(tokens);
  }

  protected through(embedded: Tensor, _start: number, context: AttentionContext): Tensor {
    const { output, ...state } = this.lstm.forward(this.dropout.forward(embedded), context.cache?.recurrent);
    context.cache?.keepRecurrent(state);
    const states = this.dropout.forward(output); // [B, T, D]
    return this.norm.forward(states.add(this.#read(states, context) ?? 0));
  }

  /** What each state reads in the symbols. [B, T, D] */
  #read(states: Tensor, { schema, attention }: AttentionContext): Tensor | undefined {
    if (!schema || !this.psa) return undefined;
    const { key, value } = this.psa.forward(schema, 1); // [B, 1, L, D]
    const seen = (weights: Tensor) => void attention?.push(weights.detach());
    const read = nn.attend(nn.splitHeads(states, 1), key, value, { seen, dropout: this.dropout });
    return nn.joinHeads(read);
  }
}

/** What the sizes of an LSTM's settings say of its weights: a layer has four tensors. */
function recurrentClaims({ vocab_size, hidden_size, num_layers }: RecurrentConfig): Claim[] {
  const table = /^wte\.weight$/;
  return [
    { key: 'vocab_size', value: vocab_size, tensor: table, axis: 0 },
    { key: 'hidden_size', value: hidden_size, tensor: table, axis: 1 },
    { key: '4 × num_layers', value: 4 * num_layers, tensor: /^lstm\.weights\.(\d+)$/ },
  ];
}

const recurrent: DecoderArchitecture<RecurrentSettings, RecurrentConfig, RecurrentDecoder> = {
  schema: recurrentConfigSchema,
  Decoder: RecurrentDecoder,
  settings: ({ vocabulary, positions, width, layers, dropout }) => {
    const sizes = { vocab_size: vocabulary, hidden_size: width, num_layers: layers, dropout };
    return { ...sizes, max_position_embeddings: positions };
  },
  claims: recurrentClaims,
  renamedFor: () => (stored) => stored,
};

export const recurrentKind = kindOf(recurrent);
