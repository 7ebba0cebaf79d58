import { UserError } from '@hidden-schema/base';
import {
  cat,
  type EncoderPrecision,
  encoderLayer,
  fusable,
  Generator,
  nn,
  type PackedLayer,
  packedProductsHere,
  scope,
  Tensor,
  type TensorOptions,
  unitTextMeans,
  type Weights,
  withoutGrad,
} from '@hidden-schema/torch';
import { type BertConfig, bertConfigSchema, Embeddings, firstPosition, Stack } from './bert-layers.ts';
import { type Claim, claim, folderConfig, openEncoder, readModelConfig } from './model-folder.ts';
import { checkLength, paddingMask, type TextEncoder } from './text-encoder.ts';

export { type BertConfig, bertConfigSchema } from './bert-layers.ts';

// Shapes: B sentences, T tokens, D width. Members carry Hugging Face's names, so that paths are checkpoint names.

/** BERT without its pooler: embeddings, then layers of masked self-attention (Devlin et al.); or MPNet, likewise. */
export class BertEncoder extends nn.Module implements TextEncoder {
  readonly config: BertConfig;
  readonly width: number;
  readonly vocabulary: number;
  readonly positions: number;
  readonly tokenTable = { name: 'embeddings.word_embeddings.weight' };
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
    return withoutGrad(() => ({
      layers: this.encoder.layer.map((layer) => layer.packed(precision)),
      relative: this.encoder.relative_attention_bias?.byDistance(this.positions).keep(),
      embed: (rows) => this.embeddings.rows(rows),
    }));
  }
}

/** A BERT's or MPNet's settings from the config.json of its folder, checked. */
export function readBertConfig(folder: string): BertConfig {
  const { model_type: kind = 'bert' } = readModelConfig(folder);
  if (kind !== 'bert' && kind !== 'mpnet')
    throw new UserError(
      `${folder} holds a model of type ${JSON.stringify(kind)}; expected a BERT or an MPNet as encoder`,
    );
  const config = folderConfig(bertConfigSchema, folder);
  if (config.hidden_size % config.num_attention_heads !== 0)
    throw new UserError(
      `${folder}/config.json: hidden_size ${config.hidden_size} does not divide into ${config.num_attention_heads} heads`,
    );
  return config;
}

const projections: Readonly<Record<string, string>> = { q: 'query', k: 'key', v: 'value' };

/** Name here of a stored tensor; nothing for heads, poolers and counters, which hold nothing that is used. */
export function bertName(stored: string): string | undefined {
  const name = stored
    .replace(/^(?:bert|mpnet|model|0\.auto_model)\./, '')
    .replace(/LayerNorm\.gamma$/, 'LayerNorm.weight')
    .replace(/LayerNorm\.beta$/, 'LayerNorm.bias')
    // MPNet's names of what BERT has too.
    .replace(/\.attention\.attn\.([qkv])\./, (_, part: string) => `.attention.self.${projections[part]}.`)
    .replace('.attention.attn.o.', '.attention.output.dense.')
    .replace('.attention.LayerNorm.', '.attention.output.LayerNorm.');
  if (name === 'embeddings.position_ids') return undefined;
  return /^(?:embeddings|encoder)\./.test(name) ? name : undefined;
}

function bertClaims(config: BertConfig): Claim[] {
  const of = (key: keyof BertConfig & string, tensor: RegExp, axis?: number) =>
    claim(key, config[key] as number, tensor, axis);
  return [
    of('num_hidden_layers', /^encoder\.layer\.(\d+)\./),
    of('vocab_size', /^embeddings\.word_embeddings\.weight$/, 0),
    of('hidden_size', /^embeddings\.word_embeddings\.weight$/, 1),
    of('max_position_embeddings', /^embeddings\.position_embeddings\.weight$/, 0),
    config.model_type === 'mpnet'
      ? of('relative_attention_num_buckets', /^encoder\.relative_attention_bias\.weight$/, 0)
      : of('type_vocab_size', /^embeddings\.token_type_embeddings\.weight$/, 0),
    of('intermediate_size', /^encoder\.layer\.0\.intermediate\.dense\.weight$/, 0),
  ];
}

/** A trained BERT or MPNet from a Hugging Face folder, of safetensors or else of an ONNX graph; 16-bit weights become float32. */
export function openBert(
  folder: string,
  options: TensorOptions & {
    generator?: Generator;
    config?: BertConfig;
    /** Opens an ONNX graph that has them, where there are no safetensors. */
    weights?: (() => Weights) | undefined;
  } = {},
): BertEncoder {
  const config = options.config ?? readBertConfig(folder);
  const { generator = new Generator(0), weights } = options;
  const rules = { claims: bertClaims(config), rename: bertName, weights };
  return openEncoder(folder, () => new BertEncoder(config, generator, options), rules);
}

// Shapes: S texts, N tokens of all of them, D width.

/** Texts that lie one after the other, without padding. */
export interface TokenRows {
  /** [N] int32 */
  readonly ids: Tensor;
  /** The place of each token in its text. [N] int32 */
  readonly places: Tensor;
}

/** An encoder's layers, packed, and what comes before them. */
export interface PackedParts {
  readonly layers: readonly PackedLayer[];
  /** What attention adds to scores by distance: see `encoderLayer`. */
  readonly relative?: Tensor | undefined;
  /** Token numbers → the first layer's input. [N, D] */
  embed(rows: TokenRows): Tensor;
}

/**
 * Whether products of packed weights pay. In float32 they need a processor's AVX-512, without which libtorch's products
 * are faster; the other precisions are what was asked for, and take packed weights everywhere. Heads have to fill vectors.
 */
export function packs(precision: EncoderPrecision, headWidth: number): boolean {
  return headWidth % 16 === 0 && (precision !== 'float32' || packedProductsHere().float32);
}

/** Texts as token numbers → unit means of their states. [S, D] */
export function packedVectors(
  { embed, layers, relative }: PackedParts,
  texts: readonly ArrayLike<number>[],
): Tensor {
  return withoutGrad(() => {
    const { ids, places, ends } = tokenRows(texts);
    const states = layers.reduce(
      (x, layer) => scope(() => encoderLayer(x, ends, layer, relative)),
      scope(() => embed({ ids, places })),
    );
    return unitTextMeans(states, ends);
  });
}

/** Texts of fewer tokens are read in bfloat16 where int8 is asked for: over so few, its rounding does not average out. */
const fewTokens = 9;

/** Vectors of texts, each read in the precision that suits its length, in their order. [S, D] */
export function byPrecision(
  texts: readonly Int32Array[],
  asked: EncoderPrecision,
  read: (texts: readonly Int32Array[], precision: EncoderPrecision) => Tensor,
): Tensor {
  const isShort = ({ length }: Int32Array) => length < fewTokens;
  if (asked !== 'int8' || !texts.some(isShort)) return read(texts, asked);
  if (texts.every(isShort)) return read(texts, 'bfloat16');
  const rows = [...texts.keys()];
  const short = rows.filter((row) => isShort(texts[row]!));
  const long = rows.filter((row) => !isShort(texts[row]!));
  const place = new Int32Array(texts.length);
  for (const [at, row] of [...short, ...long].entries()) place[row] = at;
  const of = (some: readonly number[]) => some.map((row) => texts[row]!);
  return withoutGrad(() =>
    cat([read(of(short), 'bfloat16'), read(of(long), 'int8')], 0).indexSelect(
      0,
      Tensor.fromArray(place, [place.length]),
    ),
  );
}

function tokenRows(texts: readonly ArrayLike<number>[]): TokenRows & { ends: Tensor } {
  const total = texts.reduce((sum, { length }) => sum + length, 0);
  const ids = new Int32Array(total);
  const places = new Int32Array(total);
  const ends = new BigInt64Array(texts.length + 1);
  let end = 0;
  for (const [n, text] of texts.entries()) {
    ids.set(text, end);
    for (let at = 0; at < text.length; at++) places[end + at] = at;
    end += text.length;
    ends[n + 1] = BigInt(end);
  }
  return {
    ids: Tensor.fromArray(ids, [total]),
    places: Tensor.fromArray(places, [total]),
    ends: Tensor.fromArray(ends, [ends.length]),
  };
}

/** Frees packed weights; norms are the encoder's own. */
export function freePacked({ layers, relative }: PackedParts): void {
  for (const { attention, output, up, down } of layers)
    for (const { data, table } of [attention, output, up, down]) {
      data.free();
      table.free();
    }
  relative?.free();
}
