import { type Generator, nn, type Tensor, type TensorOptions, tensor } from '@hidden-schema/torch';

// Shapes: T tokens, H heads, M positions.

interface RelativeOptions {
  config: { relative_attention_num_buckets: number; num_attention_heads: number; initializer_range: number };
  generator: Generator;
  options: TensorOptions;
}

/** Beyond this distance all keys are equally far. */
const farthest = 128;

/** What MPNet adds to the score of a key by how far it lies from its query: a number for each head and bucket of distances. */
export class RelativePositions extends nn.Module {
  readonly weight: Tensor; // [buckets, H]

  constructor({ config, generator, options }: RelativeOptions) {
    super();
    const shape = [config.relative_attention_num_buckets, config.num_attention_heads];
    this.weight = nn.parameter(nn.normal(shape, config.initializer_range, generator, options));
  }

  /** For all pairs of T tokens. [1, H, T, T] */
  matrix(tokens: number): Tensor {
    const buckets = Array.from({ length: tokens * tokens }, (_, at) =>
      this.#bucket((at % tokens) - Math.floor(at / tokens)),
    );
    return this.#of(buckets).reshape(tokens, tokens, -1).permute(2, 0, 1).unsqueeze(0);
  }

  /** For keys from M − 1 before their query to M − 1 after it. [H, 2·M − 1] */
  byDistance(positions: number): Tensor {
    const buckets = Array.from({ length: 2 * positions - 1 }, (_, at) => this.#bucket(at - positions + 1));
    return this.#of(buckets).transpose(0, 1).contiguous();
  }

  #of(buckets: readonly number[]): Tensor {
    return this.weight.indexSelect(0, tensor(Int32Array.from(buckets)));
  }

  /** Half of the buckets for keys after their query; of each half the first half single distances, then by logarithm. */
  #bucket(distance: number): number {
    const half = this.weight.dim(0) >> 1;
    const single = half >> 1;
    const away = Math.abs(distance);
    const logarithmic = Math.log(away / single) / Math.log(farthest / single);
    const within =
      away < single ? away : Math.min(half - 1, single + Math.floor(logarithmic * (half - single)));
    return within + (distance > 0 ? half : 0);
  }
}
