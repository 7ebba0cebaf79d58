import { type Generator, nn, type Tensor } from '@hidden-schema/torch';
import { ConfiguredDecoder, kindOf, Making, type MakingOptions } from './decoder-architecture.ts';
import {
  type RecurrentConfig,
  type RecurrentSettings,
  recurrentClaims,
  recurrentConfigSchema,
  symbolsOf,
} from './decoder-config.ts';
import type { ScratchSizes } from './decoder-kind.ts';
import { checkedConfig } from './model-folder.ts';
import type { AttentionContext, SchemaInput, SymbolAttention } from './symbol-attention.ts';

// Shapes: B sentences, T tokens, L walk steps, D width.

/** Deviation at which embeddings start. */
const embeddingDeviation = 0.1;

/**
 * A recurrent decoder (the paper names the possibility beside GPT-2): an LSTM reads the tokens so far, its states attend
 * to the symbols with keys and values as in Eq. psa, and what they read there is added before the output.
 */
export class RecurrentDecoder extends ConfiguredDecoder<RecurrentConfig> {
  static readonly schema = recurrentConfigSchema;
  static readonly claims = recurrentClaims;
  readonly wte: nn.Embedding;
  readonly lstm: nn.Lstm;
  readonly norm: nn.LayerNorm;
  readonly schema: SchemaInput | undefined;
  readonly psa: SymbolAttention | undefined;
  readonly dropout: nn.Dropout;
  readonly adapterTargets = [];

  constructor(settings: RecurrentSettings, generator: Generator, options: MakingOptions = {}) {
    const config = checkedConfig(recurrentConfigSchema, settings, 'LSTM settings');
    const { hidden_size: width, num_layers: layers, hsn, vocab_size: vocabulary } = config;
    const start = { deviation: embeddingDeviation, layers, symbols: hsn };
    const making = new Making(start, generator, options);
    const sizes = { vocabulary, positions: config.max_position_embeddings, keyWidth: width };
    super('RecurrentDecoder', { ...config, hsn: symbolsOf(making.symbols) }, sizes);
    this.wte = making.table(vocabulary, width);
    this.lstm = new nn.Lstm(width, width, generator, { ...making.tensors, layers });
    this.norm = new nn.LayerNorm(width, making.tensors);
    this.dropout = new nn.Dropout(config.dropout, generator);
    this.schema = making.sharedSymbols(width);
    this.psa = making.layerSymbols({ width, keyWidth: width });
  }

  /** Settings of a decoder from scratch. */
  static scratch({ vocabulary, positions, width, layers, dropout }: ScratchSizes): RecurrentSettings {
    const sizes = { vocab_size: vocabulary, hidden_size: width, num_layers: layers, dropout };
    return { ...sizes, max_position_embeddings: positions };
  }

  /** The names here of stored tensors. */
  static renamedFor(): (stored: string) => string {
    return (stored) => stored;
  }

  protected get inputs() {
    return { table: this.wte, schema: this.schema };
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

export const recurrentKind = kindOf(RecurrentDecoder);
