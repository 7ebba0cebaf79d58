import { Random } from '@hidden-schema/base';
import type { BatchOrder } from '@hidden-schema/text';
import type * as optim from '@hidden-schema/torch/optim';
import type { Preparation, PreparationState } from './task.ts';
import type { Trainer } from './trainer.ts';

/** What a warm start asks of the training that follows it. */
type WarmTrainer = Pick<Trainer, 'step' | 'fitter' | 'endFitting'>;

/** Updates made between two looks. */
const updatesAtOnce = 50;
/** A stream of the seed that is not an epoch's own. */
const drawStream = 1_000_001;

/** Some of the rows, drawn by the seed: those that codes are made of. */
export const drawnRows = (rows: Iterable<number>, count: number, seed: number): Int32Array =>
  new Random(seed, drawStream).shuffle(Int32Array.from(rows)).slice(0, count);

/** What walks are fitted to, for one kind of data. */
export interface WalkCodes {
  /** The sentences that have codes, in batches. */
  readonly order: BatchOrder;
  /** Whether all codes are made; they are made again when a stopped warm start goes on, being no part of a checkpoint. */
  readonly ready: boolean;
  /** Makes some of the codes; returns figures for the progress. `fresh`: no update was made yet. */
  makeSome(fresh: boolean): Record<string, number>;
  /** One update towards the codes; returns the nats a symbol still costs. */
  update(optimizer: optim.Adam): number;
}

/** A warm start: codes of some sentences are made, then walks are fitted to them while the decoder waits. */
export class WarmStart implements Preparation {
  readonly label = 'warm start';
  readonly unit = 'steps';
  readonly most: number;
  readonly #trainer: WarmTrainer;
  readonly #codes: WalkCodes;
  #count = 0;

  constructor(trainer: WarmTrainer, codes: WalkCodes, updates: number) {
    this.#trainer = trainer;
    this.#codes = codes;
    this.most = updates;
  }

  get wanted(): boolean {
    return this.#trainer.step === 0 && this.#count < this.most;
  }
  get state(): PreparationState {
    return { count: this.#count };
  }
  set state({ count }: PreparationState) {
    this.#count = count;
    const { batchesPerEpoch } = this.#codes.order;
    this.#codes.order.seek({ epoch: Math.floor(count / batchesPerEpoch), batch: count % batchesPerEpoch });
  }

  advance(): Record<string, number> {
    if (!this.#codes.ready) return this.#codes.makeSome(this.#count === 0);
    let loss = 0;
    const optimizer = this.#trainer.fitter();
    const end = Math.min(this.most, this.#count + updatesAtOnce);
    for (; this.#count < end; this.#count++) loss = this.#codes.update(optimizer);
    if (this.#count === this.most) this.#trainer.endFitting();
    return { fit: loss };
  }
}
