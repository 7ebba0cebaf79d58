import { UserError } from '../errors.ts';
import { Random } from './random.ts';

/** Where a run stands: `batch` is the next to be given in `epoch`. */
export interface BatchPosition {
  epoch: number;
  batch: number;
}

export interface Batch {
  epoch: number;
  index: number;
  rows: Int32Array;
}

/** Shuffled batches, endless over epochs; the order of an epoch depends on (seed, epoch) alone. */
export class BatchOrder {
  readonly count: number;
  /** Never more than `count`, so that a corpus smaller than one batch is still one batch. */
  readonly batchSize: number;
  readonly batchesPerEpoch: number;
  readonly #seed: number;
  #position: BatchPosition = { epoch: 0, batch: 0 };
  #order: Int32Array | undefined;

  constructor(count: number, batchSize: number, seed: number, dropLast = true) {
    for (const [name, value] of Object.entries({ count, 'batch size': batchSize })) {
      if (!Number.isInteger(value) || value < 1) {
        throw new UserError(`batches: ${name} must be a whole number of at least 1, got ${value}`);
      }
    }
    this.count = count;
    this.batchSize = Math.min(batchSize, count);
    this.batchesPerEpoch = dropLast ? Math.floor(count / this.batchSize) : Math.ceil(count / this.batchSize);
    this.#seed = seed;
  }

  position(): BatchPosition {
    return { ...this.#position };
  }

  seek({ epoch, batch }: BatchPosition): void {
    const whole = Number.isSafeInteger(epoch) && epoch >= 0 && Number.isInteger(batch) && batch >= 0;
    if (!whole || batch >= this.batchesPerEpoch) {
      throw new UserError(
        `batches: position epoch ${epoch}, batch ${batch} is outside an epoch of ${this.batchesPerEpoch} batches`,
      );
    }
    if (epoch !== this.#position.epoch) this.#order = undefined;
    this.#position = { epoch, batch };
  }

  next(): Batch {
    const { epoch, batch } = this.#position;
    this.#order ??= this.#shuffled(epoch);
    const start = batch * this.batchSize;
    const rows = this.#order.slice(start, start + this.batchSize);
    if (batch + 1 < this.batchesPerEpoch) this.#position = { epoch, batch: batch + 1 };
    else this.seek({ epoch: epoch + 1, batch: 0 });
    return { epoch, index: batch, rows };
  }

  #shuffled(epoch: number): Int32Array {
    const rows = Int32Array.from({ length: this.count }, (_, row) => row);
    return new Random(this.#seed, epoch + 1).shuffle(rows);
  }
}
