import { cat, type Generator, nn, type Tensor, type TensorOptions } from '@hidden-schema/torch';
import type { KeysValues, KeyValueCache, Memory } from './cache.ts';
import { Projection, StepProjections } from './projection.ts';
import { sinusoidalPositions } from './text-encoder.ts';

// Shapes: B sentences, T tokens, L walk steps, S width of a symbol (K when one-hot), H heads, G key/value heads,
// d width of a head, E = G·d width of keys and values (D in GPT-2).

export interface SymbolOptions {
  /** Width of a symbol's vector: K where symbols are one-hot. */
  symbols: number;
  /** Whether that is the width of learned vectors; numbers unless given. */
  vectors?: boolean | undefined;
  /** paper: Eq. psa. authors: a shared biased map to the model's width, positions there, biased keys and values. */
  variant?: 'paper' | 'authors' | undefined;
  /** Whether the order of the symbols is marked; by default in the paper's variant only, as in the authors' program. */
  positions?: boolean | undefined;
  /** Times the size of the positions, 1 in Eq. psa: at full size they drown a decoder that starts from scratch. */
  positionScale?: number | undefined;
  /** L where each step of a walk has projections of its own; else one for all, as in Eq. psa. */
  steps?: number | undefined;
  /** Standard deviation of the initial projections. */
  deviation?: number | undefined;
  /** attention: keys and values in every layer. embedding: added to every token's embedding. both; attention unless given. */
  reading?: 'attention' | 'embedding' | 'both' | undefined;
}

/** Whether layers have keys and values of the schema. */
export const attendsTo = (options: SymbolOptions | undefined): options is SymbolOptions =>
  options !== undefined && options.reading !== 'embedding';

/** A schema as every layer takes it: its vectors, and what is added to them after a layer's own projection. */
export interface PreparedSchema {
  readonly rows: Tensor; // [B, L, S], or [B, L, D] in the authors' variant
  readonly positions: Tensor | undefined; // [L, E]
  /** What every token's embedding gets. [B, 1, D] */
  readonly added: Tensor | undefined;
}

/** What the layers share on the way from symbols to keys and values. */
export class SchemaInput extends nn.Module {
  readonly map_symbols: nn.Linear | undefined;
  readonly into_embedding: Projection | undefined; // weight [S, D]
  readonly vectors: boolean;
  /** Whether layers have keys and values of the schema. */
  readonly attended: boolean;
  readonly #symbols: number;
  readonly #positions: 'before' | 'after' | 'none';
  readonly #positionScale: number;
  readonly #width: number;

  constructor(options: SymbolOptions, width: number, generator: Generator, tensors: TensorOptions = {}) {
    super();
    const authors = options.variant === 'authors';
    this.#symbols = options.symbols;
    this.vectors = options.vectors ?? false;
    this.attended = attendsTo(options);
    this.#width = width;
    const marked = options.positions ?? !authors;
    this.#positions = !marked ? 'none' : authors ? 'before' : 'after';
    this.#positionScale = options.positionScale ?? 1;
    if (authors) this.map_symbols = new nn.Linear(options.symbols, width, generator, tensors);
    if (options.reading === 'embedding' || options.reading === 'both') {
      const { symbols, deviation = 0.02 } = options;
      const kind = { ...tensors, layout: 'in-out', bias: false, deviation } as const;
      this.into_embedding = new Projection(symbols, width, generator, kind);
    }
  }

  /** `keyWidth` is E, the width of the keys that the positions are added to. */
  prepare(schema: Tensor, batch: number, keyWidth: number): PreparedSchema {
    if (schema.shape.length !== 3 || schema.dim(0) !== batch || schema.dim(2) !== this.#symbols) {
      const expected = `[${batch}, L, ${this.#symbols}] (sentences, walk steps, symbols)`;
      throw new RangeError(`a schema has shape ${expected}, got [${schema.shape.join(', ')}]`);
    }
    const added = this.into_embedding?.forward(schema).sum(1, true);
    const mapped = this.map_symbols ? this.map_symbols.forward(schema) : schema;
    const length = schema.dim(1);
    if (this.#positions === 'before')
      return { rows: mapped.add(this.#placed(length, this.#width, mapped)), positions: undefined, added };
    const positions = this.#positions === 'after' ? this.#placed(length, keyWidth, mapped) : undefined;
    return { rows: mapped, positions, added };
  }

  #placed(length: number, width: number, like: Tensor): Tensor {
    const table = sinusoidalPositions(length, width).to(like.dtype);
    const full = like.device === 'cpu' ? table : table.toDevice(like.device);
    return this.#positionScale === 1 ? full : full.mul(this.#positionScale);
  }
}

/**
 * One layer's own W_K^e and W_V^e (Eq. psa): K̃ = [e·W_K^e + p; K], Ṽ = [e·W_V^e + p; V], with p added after the
 * projection and no bias. In the authors' variant the input is already mapped, and the projections have biases. With
 * projections for each step, a symbol may mean one thing at the first step and another later: what a text is about, and what
 * it says next.
 */
export class SymbolAttention extends nn.Module {
  readonly k: Projection | StepProjections; // weight [S, E], or [L, S, E]
  readonly v: Projection | StepProjections;

  constructor(
    options: SymbolOptions,
    sizes: { width: number; keyWidth: number },
    generator: Generator,
    tensors: TensorOptions = {},
  ) {
    super();
    const authors = options.variant === 'authors';
    const inputs = authors ? sizes.width : options.symbols;
    const deviation = options.deviation ?? 0.02;
    const kind = { ...tensors, layout: 'in-out', bias: authors, deviation } as const;
    const { steps } = options;
    const projection = () =>
      steps === undefined
        ? new Projection(inputs, sizes.keyWidth, generator, kind)
        : new StepProjections(steps, { inputs, outputs: sizes.keyWidth }, generator, kind);
    this.k = projection();
    this.v = projection();
  }

  /** Keys and values of the symbols. [B, G, L, d] each */
  forward(schema: PreparedSchema, heads: number): KeysValues {
    const placed = (rows: Tensor): Tensor => (schema.positions ? rows.add(schema.positions) : rows);
    return {
      key: nn.splitHeads(placed(this.k.forward(schema.rows)), heads),
      value: nn.splitHeads(placed(this.v.forward(schema.rows)), heads),
    };
  }
}

/** What one pass through the decoder hands to the attention of every layer. */
export interface AttentionContext {
  /** Added to the scores, broadcast to [B, H, T, L + T]: 0 where a query may look, −∞ where not. */
  readonly mask: Tensor | undefined;
  readonly schema: PreparedSchema | undefined;
  readonly cache: KeyValueCache | undefined;
  /** Collects each layer's attention onto the symbols. [B, H, T, L] */
  readonly attention: Tensor[] | undefined;
  /** What an encoder of the decoder's own has read. */
  readonly memory?: Memory | undefined;
}

export interface AttentionParts {
  readonly layer: number;
  readonly query: Tensor; // [B, H, T, d]
  readonly token: KeysValues; // [B, G, T, d] each
  readonly psa: SymbolAttention | undefined;
  readonly dropout: nn.Dropout;
}

/**
 * Pseudo-self-attention: Eq. attention over keys and values that the symbols head (Eq. psa). [B, T, H·d]
 * The scale is that of one head, d^{-1/2}; the paper writes D^{-1/2}, and means GPT-2's attention.
 */
export function attendWithSymbols(parts: AttentionParts, context: AttentionContext): Tensor {
  const { query, psa, dropout } = parts;
  const { schema, mask, attention } = context;
  const symbols = schema && psa ? () => psa.forward(schema, parts.token.key.dim(1)) : undefined;
  const { key, value } = augmented(parts, context, symbols);
  const length = schema?.rows.dim(1) ?? 0;
  const keep = (weights: Tensor) => void attention!.push(weights.narrow(-1, 0, length).detach());
  const options = { mask, seen: attention && symbols && keep, dropout };
  const shared = query.dim(1) / key.dim(1);
  return nn.joinHeads(nn.attend(query, repeated(key, shared), repeated(value, shared), options));
}

/** The symbols' keys and values before the tokens'; with a cache, before all tokens so far. */
function augmented(
  parts: AttentionParts,
  context: AttentionContext,
  symbols: (() => KeysValues) | undefined,
): KeysValues {
  const { token, layer } = parts;
  if (context.cache) return context.cache.extend(layer, token, symbols);
  if (!symbols) return token;
  const first = symbols();
  return { key: cat([first.key, token.key], 2), value: cat([first.value, token.value], 2) };
}

/** Grouped heads: each key/value head serves `times` query heads that follow one another. [B, G·times, S, d] */
function repeated(x: Tensor, times: number): Tensor {
  if (times === 1) return x;
  const [batch, groups, length, width] = x.shape as [number, number, number, number];
  return x
    .unsqueeze(2)
    .expand(batch, groups, times, length, width)
    .reshape(batch, groups * times, length, width);
}
