import { Random, UserError } from '@hidden-schema/base';

/** Where a run stands: `batch` is the next to be given in `epoch`. */
export interface BatchPosition {
  epoch: number;
  batch: number;
}

/** The rows of one batch. */
export interface DrawnRows {
  epoch: number;
  index: number;
  rows: Int32Array;
}

export interface OrderOptions {
  batchSize: number;
  seed: number;
  /** What rows are sorted by, a whole number below 2^32; without it rows are shuffled alone. */
  lengthOf?: (row: number) => number;
  /** Batches whose sentences are sorted together: more of them pad less, fewer mix lengths more. */
  pool?: number;
  /** Leave out the last batch of an epoch when it is not full; true unless given. */
  dropLast?: boolean;
}

const POOL = 50;
/** Two 16-bit lengths and a place fill the 53 bits of a sort key. */
const MOST_POOLED = 2 ** 21;

/**
 * Shuffled batches of rows, endless over epochs; an epoch's order depends on (seed, epoch) alone. Where rows have a
 * length they are shuffled, sorted by it within pools, cut into batches, and the batches shuffled.
 */
export class BatchOrder {
  /** Never more than there are rows, so that a corpus smaller than one batch is still one batch. */
  readonly batchSize: number;
  readonly batchesPerEpoch: number;
  readonly #rows: Int32Array;
  readonly #options: OrderOptions;
  #position: BatchPosition = { epoch: 0, batch: 0 };
  #epoch: { order: Int32Array; starts: Int32Array } | undefined;

  constructor(rows: Int32Array, options: OrderOptions) {
    const { batchSize, pool = POOL } = options;
    for (const [name, value] of Object.entries({ sentences: rows.length, 'batch size': batchSize, pool })) {
      if (!Number.isInteger(value) || value < 1)
        throw new UserError(`batches: ${name} must be a whole number of at least 1, got ${value}`);
    }
    this.#rows = rows;
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

  next(): DrawnRows {
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
    const starts = Int32Array.from({ length: this.batchesPerEpoch }, (_, i) => i * this.batchSize);
    const { lengthOf } = this.#options;
    if (!lengthOf) return { order: kept, starts };
    const pool = Math.min((this.#options.pool ?? POOL) * this.batchSize, MOST_POOLED);
    for (let start = 0; start < whole; start += pool)
      sortByLength(kept.subarray(start, Math.min(whole, start + pool)), lengthOf);
    return { order: kept, starts: random.shuffle(starts) };
  }
}

/** Equals stay as they were shuffled. */
function sortByLength(rows: Int32Array, lengthOf: (row: number) => number): void {
  const places = Float64Array.from(rows, (row, place) => lengthOf(row) * MOST_POOLED + place).sort();
  const sorted = Int32Array.from(places, (key) => rows[key % MOST_POOLED]!);
  rows.set(sorted);
}
