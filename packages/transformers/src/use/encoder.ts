import {
  call,
  cat,
  embedding,
  Generator,
  nn,
  scope,
  Tensor,
  type TensorOptions,
  withoutGrad,
  zeros,
} from '@hidden-schema/torch';
import { z } from 'zod';
import { type Claim, claim, folderConfig, openEncoder } from '../model-folder.ts';
import type { TextEncoder, TokenTable } from '../text-encoder.ts';

// Shapes: B texts, T tokens of the longest, N rows of tokens, V pieces, D width of a piece, C of a convolution, H of the
// hidden layers, E of a vector.

const universalConfigSchema = z.looseObject({
  model_type: z.literal('use-multilingual'),
  vocab_size: z.int().positive(),
  /** Groups of pieces that share a scale: piece i is of group i modulo their number. */
  embedding_groups: z.int().positive(),
  embedding_size: z.int().positive(),
  convolution_size: z.int().positive(),
  intermediate_size: z.int().positive(),
  hidden_size: z.int().positive(),
  layer_norm_eps: z.number().positive(),
});
export type UniversalConfig = z.output<typeof universalConfigSchema>;

/** How many tokens each branch sees at once, and how many of them stand before a token. */
export const windows = [
  { size: 2, left: 0 },
  { size: 3, left: 1 },
  { size: 5, left: 2 },
] as const;
const widest = { left: 2, right: 2 };
/** Tokens read at a time: what lies between stays in the caches. */
const tokensAtOnce = 1024;
/** The longest text that is read: there are no positions, so only memory bounds it. */
const mostTokens = 100_000;

interface Parts {
  config: UniversalConfig;
  generator: Generator;
  options: TensorOptions;
}

/** Two convolutions over the tokens around each token, each added to what it reads. */
class Branch extends nn.Module {
  readonly convolutions: nn.Linear[];
  readonly #window: { size: number; left: number };

  constructor(window: { size: number; left: number }, { config, generator, options }: Parts) {
    super();
    const { convolution_size: size } = config;
    this.#window = window;
    this.convolutions = [1, 2].map(() => new nn.Linear(window.size * size, size, generator, options));
  }

  /** Its part of the projected pieces [N, C] and the rows around each [N, 5], N where a text has none there → [N, C]. */
  forward(projected: Tensor, around: Tensor): Tensor {
    const { size, left } = this.#window;
    const own = around
      .narrow(1, widest.left - left, size)
      .contiguous()
      .reshape(-1);
    return this.convolutions.reduce((x, layer) => {
      const [rows, width] = x.shape as [number, number];
      const outside = zeros([1, width], { dtype: x.dtype });
      const seen = cat([x, outside], 0)
        .indexSelect(0, own)
        .reshape(rows, size * width);
      return x.add(layer.forward(seen).relu());
    }, projected);
  }
}

/**
 * The multilingual Universal Sentence Encoder: embeddings of pieces and convolutions over two, three and five of them,
 * summed over a text, then four dense layers. It has no attention and no positions.
 */
export class UniversalEncoder extends nn.Module implements TextEncoder {
  readonly config: UniversalConfig;
  readonly width: number;
  readonly vocabulary: number;
  readonly positions = mostTokens;
  readonly tokenTable: TokenTable;
  /** Pieces in 8 bits; a number is its code times the scale of the piece's group, and `low` more. [V, D] uint8 */
  readonly codes: Tensor;
  /** [groups] */
  readonly scale: Tensor;
  readonly low: Tensor;
  /** Pieces as all branches read them, normed together. */
  readonly projection: nn.Linear;
  readonly projectionNorm: nn.LayerNorm;
  readonly branches: Branch[];
  readonly norm: nn.LayerNorm;
  readonly output: nn.Linear;
  readonly dense: nn.Linear[];
  /** Ways around the second and the fourth dense layer. */
  readonly shortcuts: nn.Linear[];

  constructor(config: UniversalConfig, generator: Generator, options: TensorOptions = {}) {
    super();
    const { embedding_size: D, convolution_size: C, intermediate_size: H, hidden_size: E } = config;
    this.config = config;
    this.width = E;
    this.vocabulary = config.vocab_size;
    this.tokenTable = { name: 'codes', kinds: config.embedding_groups };
    this.codes = zeros([config.vocab_size, D], { dtype: 'uint8' }).keep();
    this.scale = zeros([config.embedding_groups], options).keep();
    this.low = zeros([config.embedding_groups], options).keep();
    const { layer_norm_eps: epsilon } = config;
    this.projection = new nn.Linear(D, C * windows.length, generator, options);
    this.projectionNorm = new nn.LayerNorm(C * windows.length, { ...options, epsilon });
    this.branches = windows.map((window) => new Branch(window, { config, generator, options }));
    const features = D + C * windows.length;
    this.norm = new nn.LayerNorm(features, { ...options, epsilon });
    this.output = new nn.Linear(features, E, generator, options);
    const layer = (inputs: number, outputs: number) =>
      new nn.Linear(inputs, outputs, generator, { ...options, bias: false });
    this.dense = [layer(E, H), layer(H, H), layer(H, E), layer(E, E)];
    this.shortcuts = [layer(E, H), layer(H, E)];
  }

  /** A vector for each token; a text's vector is made of their sum. Padding has any. [B, T, E] */
  hidden(ids: Tensor, mask: Tensor): Tensor {
    const [count, longest] = ids.shape as [number, number];
    const lengths = mask.to('float32').sum(1).toNumbers();
    const around = rowsAround(lengths, (text) => text * longest, count * longest);
    const features = this.#features(ids.reshape(-1), around);
    return this.output.forward(features).reshape(count, longest, this.width);
  }

  /** [B, E] */
  vectors(texts: readonly Int32Array[]): Tensor {
    return withoutGrad(() =>
      cat(
        [...batches(texts)].map((some) => scope(() => this.#vectorsOf(some))),
        0,
      ),
    );
  }

  #vectorsOf(texts: readonly Int32Array[]): Tensor {
    const lengths = texts.map(({ length }) => length);
    const starts = new Int32Array(texts.length);
    for (let n = 1; n < texts.length; n++) starts[n] = starts[n - 1]! + lengths[n - 1]!;
    const total = starts.at(-1)! + lengths.at(-1)!;
    const ids = new Int32Array(total);
    const owner = new BigInt64Array(total);
    for (const [n, text] of texts.entries()) {
      ids.set(text, starts[n]!);
      owner.fill(BigInt(n), starts[n]!, starts[n]! + text.length);
    }
    const around = rowsAround(lengths, (text) => starts[text]!, total);
    const features = this.#features(Tensor.fromArray(ids, [total]), around);
    const sums = call(
      'index_add',
      zeros([texts.length, features.dim(1)]),
      0,
      Tensor.fromArray(owner, [total]),
      features,
    );
    const counts = Tensor.fromArray(Float32Array.from(lengths), [texts.length, 1]);
    const { weight, bias } = this.output;
    const states = sums.matmul(weight.transpose(0, 1)).add(counts.mul(bias!)).div(counts.sqrt());
    return this.#finished(states);
  }

  /** Token numbers [N] and the rows around each → [N, D + 3·C]. */
  #features(ids: Tensor, around: Tensor): Tensor {
    const groups = this.config.embedding_groups;
    const own = call('remainder.Scalar', ids, groups).to('int64');
    const of = (table: Tensor) => table.indexSelect(0, own).unsqueeze(1);
    const pieces = embedding(this.codes, ids).to('float32').mul(of(this.scale)).add(of(this.low));
    const projected = this.projectionNorm.forward(this.projection.forward(pieces));
    const { convolution_size: size } = this.config;
    const read = this.branches.map((branch, at) =>
      branch.forward(projected.narrow(1, at * size, size), around),
    );
    return this.norm.forward(cat([pieces, ...read], 1));
  }

  /** Scaled sums of tokens' vectors → unit vectors. [B, E] */
  #finished(x: Tensor): Tensor {
    const [first, second, third, fourth] = this.dense as [nn.Linear, nn.Linear, nn.Linear, nn.Linear];
    const [around, over] = this.shortcuts as [nn.Linear, nn.Linear];
    const middle = around
      .forward(x)
      .add(second.forward(first.forward(x).relu()))
      .relu();
    const last = over
      .forward(middle)
      .add(fourth.forward(third.forward(middle).relu()))
      .tanh();
    const squares = last.mul(last).sum(1, true);
    return last.div(squares.clamp(this.config.layer_norm_eps).sqrt());
  }
}

/** Texts in groups of so many tokens that they fill a batch; a longer one is a batch by itself. */
function* batches(texts: readonly Int32Array[]): Iterable<Int32Array[]> {
  let some: Int32Array[] = [];
  let tokens = 0;
  for (const text of texts) {
    if (some.length > 0 && tokens + text.length > tokensAtOnce) {
      yield some;
      [some, tokens] = [[], 0];
    }
    some.push(text);
    tokens += text.length;
  }
  if (some.length > 0) yield some;
}

/** For each row the rows of the tokens from two before it to two after it; `total` where its text has none there. [N, 5] */
function rowsAround(lengths: readonly number[], start: (text: number) => number, total: number): Tensor {
  const { left, right } = widest;
  const size = left + 1 + right;
  const rows = new Int32Array(total * size).fill(total);
  for (const [text, length] of lengths.entries())
    for (let at = 0; at < length; at++)
      for (let step = -left; step <= right; step++)
        if (at + step >= 0 && at + step < length)
          rows[(start(text) + at) * size + step + left] = start(text) + at + step;
  return Tensor.fromArray(rows, [total, size]);
}

/** The sizes that settings state, with the tensors that have them. */
function universalClaims(config: UniversalConfig): Claim[] {
  const of = (key: keyof UniversalConfig & string, tensor: RegExp, axis: number) =>
    claim(key, config[key] as number, tensor, axis);
  return [
    of('vocab_size', /^codes$/, 0),
    of('embedding_size', /^codes$/, 1),
    of('embedding_groups', /^scale$/, 0),
    of('convolution_size', /^branches\.0\.convolutions\.0\.weight$/, 0),
    of('intermediate_size', /^dense\.0\.weight$/, 0),
    of('hidden_size', /^output\.weight$/, 0),
  ];
}

/** Its settings, checked. */
export const readUniversalConfig = (folder: string): UniversalConfig =>
  folderConfig(universalConfigSchema, folder);

/** Opens a folder that `importUniversal` made. */
export function openUniversal(folder: string, options: TensorOptions = {}): UniversalEncoder {
  const config = readUniversalConfig(folder);
  const make = () => new UniversalEncoder(config, new Generator(0), options);
  return openEncoder(folder, make, { claims: universalClaims(config), rename: (name) => name });
}
