import {
  type EncoderPrecision,
  fusable,
  type Generator,
  nn,
  noGrad,
  scope,
  type Tensor,
  type TensorOptions,
} from '@hidden-schema/torch';
import { type BertConfig, Embeddings, firstPosition, Stack } from './bert-layers.ts';
import { byPrecision, freePacked, type PackedParts, packedVectors, packs } from './packed-encoder.ts';
import { checkLength, paddingMask, type TextEncoder } from './text-encoder.ts';

export { type BertConfig, bertConfigSchema } from './bert-layers.ts';

// Shapes: B sentences, T tokens, D width. Members carry Hugging Face's names, so that paths are checkpoint names.

/** BERT without its pooler: embeddings, then layers of masked self-attention (Devlin et al.); or MPNet, likewise. */
export class BertEncoder extends nn.Module implements TextEncoder {
  readonly config: BertConfig;
  readonly width: number;
  readonly vocabulary: number;
  readonly positions: number;
  readonly embeddings: Embeddings;
  readonly encoder: Stack;
  /** The numbers that `vectors` multiplies in. */
  precision: EncoderPrecision = 'float32';
  /** Weights that stay as they are, packed in each precision that was asked for. */
  readonly #packed = new Map<EncoderPrecision, PackedParts>();

  /** From scratch: weights normal with the config's range, biases zero. `bert-weights.ts` fills in trained ones. */
  constructor(config: BertConfig, generator: Generator, options: TensorOptions = {}) {
    super();
    this.config = config;
    this.width = config.hidden_size;
    this.vocabulary = config.vocab_size;
    this.positions = config.max_position_embeddings - firstPosition[config.model_type];
    const parts = { config, generator, options };
    this.embeddings = new Embeddings(parts);
    this.encoder = new Stack(parts);
  }

  hidden(ids: Tensor, mask: Tensor): Tensor {
    checkLength(ids, this.positions);
    const relative = this.encoder.relative_attention_bias?.matrix(ids.dim(1));
    const padding = relative ? paddingMask(mask).add(relative) : paddingMask(mask);
    // A scope for each layer: the next one works in memory that is still in the caches.
    return this.encoder.layer.reduce(
      (x, layer) => scope(() => layer.forward(x, padding)),
      this.embeddings.forward(ids),
    );
  }

  /** Texts as unit means of their states, by packed weights where those pay. [B, D] */
  vectors(texts: readonly Int32Array[]): Tensor | undefined {
    const { hidden_size: width, num_attention_heads: heads } = this.config;
    const { weight } = this.embeddings.word_embeddings;
    if (!packs(this.precision, width / heads) || !fusable(weight)) return undefined;
    for (const { length } of texts) checkLength(length, this.positions);
    return byPrecision(texts, this.precision, (some, precision) => {
      // Weights that learn are other ones the next time.
      if (!weight.requiresGrad) return packedVectors(this.#frozenParts(precision), some);
      const parts = this.#pack(precision);
      try {
        return packedVectors(parts, some);
      } finally {
        freePacked(parts);
      }
    });
  }

  override free(): void {
    super.free();
    for (const parts of this.#packed.values()) freePacked(parts);
    this.#packed.clear();
  }

  #frozenParts(precision: EncoderPrecision): PackedParts {
    const known = this.#packed.get(precision) ?? this.#pack(precision);
    this.#packed.set(precision, known);
    return known;
  }

  #pack(precision: EncoderPrecision): PackedParts {
    return noGrad(() =>
      scope(() => ({
        layers: this.encoder.layer.map((layer) => layer.packed(precision)),
        relative: this.encoder.relative_attention_bias?.byDistance(this.positions).keep(),
        embed: (rows) => this.embeddings.rows(rows),
      })),
    );
  }
}
