import { noGrad, type Tensor, zeros } from '@hidden-schema/torch';

/** Keys and values of one layer. [B, G, S, d] each */
export interface KeysValues {
  readonly key: Tensor;
  readonly value: Tensor;
}

/**
 * Keys and values of everything a decoder has read, symbols first, so that a new token costs one position.
 * Room for all tokens is taken at the start; views of it are handed out, nothing is copied twice. For inference only.
 */
export class KeyValueCache {
  /** Tokens that it can hold, besides the symbols. */
  readonly capacity: number;
  readonly #layers: (KeysValues & { readonly symbols: number })[] = [];
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

  /** Symbols in it. */
  get symbols(): number {
    return this.#layers[0]?.symbols ?? 0;
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

  /** Makes its rows these of the rows it has, some perhaps several times. [B'] int32 */
  reorder(rows: Tensor): void {
    const taken = (tensor: Tensor): Tensor => {
      const kept = tensor.indexSelect(0, rows).keep();
      tensor.free();
      return kept;
    };
    for (const [at, { key, value, symbols }] of this.#layers.entries())
      this.#layers[at] = { key: taken(key), value: taken(value), symbols };
    if (!this.#recurrent) return;
    // [layers, B, width]
    const along = (tensor: Tensor): Tensor => {
      const kept = tensor.indexSelect(1, rows).keep();
      tensor.free();
      return kept;
    };
    this.#recurrent = { hidden: along(this.#recurrent.hidden), cell: along(this.#recurrent.cell) };
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
    for (const { key, value } of this.#layers) {
      key.free();
      value.free();
    }
    this.#layers.length = 0;
    this.#length = 0;
  }

  #start(token: KeysValues, symbols: KeysValues | undefined): KeysValues & { symbols: number } {
    const [batch, groups, , width] = token.key.shape as [number, number, number, number];
    const length = symbols?.key.dim(2) ?? 0;
    const room = (): Tensor =>
      zeros([batch, groups, length + this.capacity, width], {
        dtype: token.key.dtype,
        device: token.key.device,
      }).keep();
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
