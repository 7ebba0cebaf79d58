import { int64, noGrad, type Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import type { LanguageDecoder, Prompted } from './language-decoder.ts';

/** Keys and values of one layer. [B, G, S, d] each */
export interface KeysValues {
  readonly key: Tensor;
  readonly value: Tensor;
}

/** What an encoder of the decoder's own has read. */
export interface Memory {
  readonly states: Tensor; // [B, S, D]
  /** Added to scores, so low for padding that no attention is left on it. [B, 1, 1, S] */
  readonly mask: Tensor;
}

/**
 * Keys and values of everything a decoder has read, symbols first, so that a new token costs one position.
 * Room for all tokens is taken at the start; views of it are handed out, nothing is copied twice. For inference only.
 */
export class KeyValueCache {
  /** Tokens that it can hold, besides the symbols. */
  readonly capacity: number;
  readonly #layers: (KeysValues & { readonly symbols: number })[] = [];
  readonly #sources: KeysValues[] = [];
  #length = 0;
  #recurrent: { hidden: Tensor; cell: Tensor } | undefined;

  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1)
      throw new RangeError(`a cache holds a whole number of tokens from 1, got ${capacity}`);
    this.capacity = capacity;
  }

  /** Tokens in it. */
  get length(): number {
    return this.#length;
  }

  /** Writes new tokens of a layer behind what is there, and gives the layer's whole keys and values. */
  extend(layer: number, token: KeysValues, symbols: (() => KeysValues) | undefined): KeysValues {
    const count = token.key.dim(2);
    if (this.#length + count > this.capacity)
      throw new RangeError(
        `a cache for ${this.capacity} tokens holds ${this.#length}, ${count} more do not fit`,
      );
    this.#layers[layer] ??= this.#start(token, symbols?.());
    const room = this.#layers[layer];
    const at = room.symbols + this.#length;
    write(room, token, at);
    return { key: room.key.narrow(2, 0, at + count), value: room.value.narrow(2, 0, at + count) };
  }

  /** Keys and values of a layer over what an encoder has read: made once. */
  source(layer: number, make: () => KeysValues): KeysValues {
    const made = this.#sources[layer];
    if (made) return made;
    const { key, value } = make();
    this.#sources[layer] = { key: key.detach().keep(), value: value.detach().keep() };
    return this.#sources[layer];
  }

  /** Sentence i goes on from what sentence `rows[i]` was; the encoder's part must be the same for all. */
  reorder(rows: Tensor): void {
    noGrad(() => {
      for (const { key, value } of this.#layers)
        for (const part of [key, value]) {
          const moved = part.indexSelect(0, rows);
          part.copy_(moved);
          moved.free();
        }
    });
    if (!this.#recurrent) return;
    const { hidden, cell } = this.#recurrent;
    this.keepRecurrent({ hidden: hidden.indexSelect(1, rows), cell: cell.indexSelect(1, rows) });
  }

  /** Counts tokens that all layers have taken in. */
  advance(count: number): void {
    this.#length += count;
  }

  /** A recurrent decoder's state after all tokens so far. */
  get recurrent(): { hidden: Tensor; cell: Tensor } | undefined {
    return this.#recurrent;
  }
  keepRecurrent({ hidden, cell }: { hidden: Tensor; cell: Tensor }): void {
    const before = this.#recurrent;
    this.#recurrent = { hidden: hidden.clone().keep(), cell: cell.clone().keep() };
    before?.hidden.free();
    before?.cell.free();
  }

  free(): void {
    this.#recurrent?.hidden.free();
    this.#recurrent?.cell.free();
    this.#recurrent = undefined;
    for (const { key, value } of [...this.#layers, ...this.#sources]) {
      key.free();
      value.free();
    }
    this.#layers.length = 0;
    this.#sources.length = 0;
    this.#length = 0;
  }

  #start(token: KeysValues, symbols: KeysValues | undefined): KeysValues & { symbols: number } {
    const [batch, groups, , width] = token.key.shape as [number, number, number, number];
    const length = symbols?.key.dim(2) ?? 0;
    const { dtype, device } = token.key;
    const shape = [batch, groups, length + this.capacity, width];
    const room = (): Tensor => zeros(shape, { dtype, device }).keep();
    const made = { key: room(), value: room(), symbols: length };
    if (symbols) write(made, symbols, 0);
    return made;
  }
}

function write(room: KeysValues, part: KeysValues, at: number): void {
  const count = part.key.dim(2);
  noGrad(() => {
    room.key.narrow(2, at, count).copy_(part.key.detach());
    room.value.narrow(2, at, count).copy_(part.value.detach());
  });
}

// Shapes: R sentences side by side, V vocabulary.

interface ReadingOptions {
  prompts: readonly (readonly number[])[];
  /** [R, L, S] */
  schema?: Tensor;
  maxNewTokens: number;
  /** Keep keys and values of what was read; true unless given. */
  cached?: boolean;
}

/** Sentences that a decoder reads on and on, token after token, without dropout and gradients. */
export class Reading {
  /** The tokens that each sentence starts with. */
  readonly starts: Prompted['starts'];
  /** Tokens that a sentence has at most. */
  readonly limit: number;
  readonly cache: KeyValueCache | undefined;
  readonly #decoder: LanguageDecoder;
  readonly #schema: Tensor | undefined;
  readonly #memory: Prompted['memory'] | undefined;

  constructor(decoder: LanguageDecoder, { prompts, schema, maxNewTokens, cached = true }: ReadingOptions) {
    this.#decoder = decoder;
    this.#schema = schema;
    const { starts, memory } = this.#untrained(() => {
      const read = decoder.prompted(prompts);
      read.memory?.states.keep();
      read.memory?.mask.keep();
      return read;
    });
    this.starts = starts;
    this.#memory = memory;
    const longest = Math.max(...starts.map((start) => start.length));
    this.limit = Math.min(decoder.maxPositions, longest + maxNewTokens);
    if (cached) this.cache = new KeyValueCache(this.limit);
  }

  /** What is made of the scores [R, V] of the token after these rows, which go on where the last ones ended. */
  scored<Result>(rows: readonly (readonly number[])[], make: (scores: Tensor) => Result): Result {
    return this.#untrained(() => {
      const width = rows[0]!.length;
      const tokens = int64(rows.flat(), [rows.length, width]);
      const given = { cache: this.cache, memory: this.#memory };
      const states = this.#decoder.hidden(tokens, this.#schema, given);
      return make(this.#decoder.logits(states.select(1, width - 1)));
    });
  }

  free(): void {
    this.cache?.free();
    this.#memory?.states.free();
    this.#memory?.mask.free();
  }

  /** Tensors that are to last are kept inside. */
  #untrained<Result>(run: () => Result): Result {
    const { training } = this.#decoder;
    this.#decoder.train(false);
    try {
      return withoutGrad(run);
    } finally {
      this.#decoder.train(training);
    }
  }
}
