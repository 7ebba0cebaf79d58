import type { BatchPosition } from '../corpus/batches.ts';
import { Random } from '../corpus/random.ts';
import { UserError } from '../errors.ts';

export interface LengthOrderOptions {
  batchSize: number;
  seed: number;
  /** Batches whose sentences are sorted together: more of them pad less, fewer mix lengths more. */
  pool?: number;
  /** Leave out the last batch of an epoch when it is not full; true unless given. */
  dropLast?: boolean;
}

const POOL = 50;
/** Two 16-bit lengths and a place fill the 53 bits of a sort key. */
const MOST_POOLED = 2 ** 21;

/**
 * Shuffled batches of rows of like length, endless over epochs; an epoch's order depends on (seed, epoch) alone.
 * Rows are shuffled, sorted by length within pools, cut into batches, and the batches shuffled.
 */
export class LengthOrder {
  /** Never more than there are rows, so that a corpus smaller than one batch is still one batch. */
  readonly batchSize: number;
  readonly batchesPerEpoch: number;
  readonly #rows: Int32Array;
  readonly #lengthOf: (row: number) => number;
  readonly #options: LengthOrderOptions;
  #position: BatchPosition = { epoch: 0, batch: 0 };
  #epoch: { order: Int32Array; starts: Int32Array } | undefined;

  /** `lengthOf` is what rows are sorted by: a whole number below 2^32. */
  constructor(rows: Int32Array, lengthOf: (row: number) => number, options: LengthOrderOptions) {
    const { batchSize, pool = POOL } = options;
    for (const [name, value] of Object.entries({ sentences: rows.length, 'batch size': batchSize, pool })) {
      if (!Number.isInteger(value) || value < 1)
        throw new UserError(`batches: ${name} must be a whole number of at least 1, got ${value}`);
    }
    this.#rows = rows;
    this.#lengthOf = lengthOf;
    this.#options = options;
    this.batchSize = Math.min(batchSize, rows.length);
    const batches = rows.length / this.batchSize;
    this.batchesPerEpoch = (options.dropLast ?? true) ? Math.floor(batches) : Math.ceil(batches);
  }

  position(): BatchPosition {
    return { ...this.#position };
  }

  seek({ epoch, batch }: BatchPosition): void {
    const whole = Number.isSafeInteger(epoch) && epoch >= 0 && Number.isInteger(batch) && batch >= 0;
    if (!whole || batch >= this.batchesPerEpoch)
      throw new UserError(
        `batches: position epoch ${epoch}, batch ${batch} is outside an epoch of ${this.batchesPerEpoch} batches`,
      );
    if (epoch !== this.#position.epoch) this.#epoch = undefined;
    this.#position = { epoch, batch };
  }

  next(): { epoch: number; index: number; rows: Int32Array } {
    const { epoch, batch } = this.#position;
    this.#epoch ??= this.#drawn(epoch);
    const start = this.#epoch.starts[batch]!;
    const rows = this.#epoch.order.slice(start, start + this.batchSize);
    if (batch + 1 < this.batchesPerEpoch) this.#position = { epoch, batch: batch + 1 };
    else this.seek({ epoch: epoch + 1, batch: 0 });
    return { epoch, index: batch, rows };
  }

  /** The order of an epoch's rows, and where its batches begin. */
  #drawn(epoch: number): { order: Int32Array; starts: Int32Array } {
    const random = new Random(this.#options.seed, epoch + 1);
    const order = random.shuffle(Int32Array.from(this.#rows));
    // An unfull batch is made of what the shuffle left over, so that the longest are not left out in every epoch.
    const kept = order.subarray(0, Math.min(order.length, this.batchesPerEpoch * this.batchSize));
    const whole = kept.length - (kept.length % this.batchSize);
    const pool = Math.min((this.#options.pool ?? POOL) * this.batchSize, MOST_POOLED);
    for (let start = 0; start < whole; start += pool)
      this.#sortByLength(kept.subarray(start, Math.min(whole, start + pool)));
    const starts = Int32Array.from({ length: this.batchesPerEpoch }, (_, i) => i * this.batchSize);
    return { order: kept, starts: random.shuffle(starts) };
  }

  /** Equals stay as they were shuffled. */
  #sortByLength(rows: Int32Array): void {
    const places = Float64Array.from(rows, (row, place) => this.#lengthOf(row) * MOST_POOLED + place).sort();
    const sorted = Int32Array.from(places, (key) => rows[key % MOST_POOLED]!);
    rows.set(sorted);
  }
}
