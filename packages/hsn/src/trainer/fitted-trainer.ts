import { type Generator, type nn, optim, type Tensor } from '@hidden-schema/torch';
import { Random } from '../corpus/random.ts';
import type { Preparation, PreparationState } from './task.ts';
import { type Order, restoreTrainer, type TrainerState, trainerState } from './trainer-state.ts';
import type { Updater } from './updater.ts';

/** Beside every training's state: whether its optimiser is still the warm start's. */
type FittedState = TrainerState & { fitting?: boolean };

interface FittedParts<Model> {
  model: Model;
  order: Order;
  updater: Updater;
  /** Steps of the training proper. */
  steps: number;
  /** What the warm start moves, by name, and how fast. */
  fit: { parameters: RegExp; rate: number };
}

/** A training that may begin with a warm start, whose optimiser is its own. */
export abstract class FittedTrainer<Model extends nn.Module & { readonly generator: Generator }> {
  readonly model: Model;
  protected readonly updater: Updater;
  readonly #parts: FittedParts<Model>;
  /** Of the warm start, while it lasts. */
  #fitter: optim.Adam | undefined;
  #step = 0;

  constructor(parts: FittedParts<Model>) {
    this.model = parts.model;
    this.updater = parts.updater;
    this.#parts = parts;
  }

  /** That of the phase training is in: what a checkpoint keeps. */
  get optimizer(): optim.Adam {
    return this.#fitter ?? this.updater.optimizer;
  }
  get step(): number {
    return this.#step;
  }
  get finished(): boolean {
    return this.#step >= this.#parts.steps;
  }

  /** Counts the step under way, and returns its number. */
  protected counted(): number {
    return ++this.#step;
  }

  fitting(): optim.Adam {
    const { parameters: moved, rate } = this.#parts.fit;
    const parameters = [...this.model.namedParameters()].filter(([name]) => moved.test(name));
    this.#fitter ??= new optim.Adam([{ parameters, rate }]);
    return this.#fitter;
  }

  /** The warm start is over: what follows begins with moments of its own. */
  fitted(): void {
    this.#fitter?.free();
    this.#fitter = undefined;
  }

  state(): FittedState {
    return { ...trainerState(this, this.#parts.order), ...(this.#fitter ? { fitting: true } : {}) };
  }

  restore(
    state: FittedState,
    model: ReadonlyMap<string, Tensor>,
    optimizer: ReadonlyMap<string, Tensor>,
  ): void {
    if (state.fitting) this.fitting();
    restoreTrainer(this, this.#parts.order, { model, optimizer }, state);
    this.#step = state.step;
  }

  free(): void {
    this.model.free();
    this.#fitter?.free();
    this.updater.optimizer.free();
  }
}

/** Updates made between two looks. */
const updatesAtOnce = 50;
/** A stream of the seed that is not an epoch's own. */
const drawStream = 1_000_001;

/** Some of the rows, drawn by the seed: those that codes are made of. */
export function drawnRows(rows: Iterable<number>, count: number, seed: number): Int32Array {
  return new Random(seed, drawStream).shuffle(Int32Array.from(rows)).slice(0, count);
}

interface FitOrder extends Pick<Order, 'seek'> {
  readonly batchesPerEpoch: number;
}

/** A warm start: codes of some sentences are made, then walks are fitted to them while the decoder waits. */
export abstract class CodeFit implements Preparation {
  readonly label = 'warm start';
  readonly unit = 'steps';
  readonly most: number;
  readonly #trainer: Pick<FittedTrainer<never>, 'step' | 'fitting' | 'fitted'>;
  readonly #order: FitOrder;
  #count = 0;

  constructor(
    trainer: Pick<FittedTrainer<never>, 'step' | 'fitting' | 'fitted'>,
    order: FitOrder,
    most: number,
  ) {
    this.#trainer = trainer;
    this.#order = order;
    this.most = most;
  }

  get wanted(): boolean {
    return this.#trainer.step === 0 && this.#count < this.most;
  }
  get state(): PreparationState {
    return { count: this.#count };
  }
  set state({ count }: PreparationState) {
    this.#count = count;
    const { batchesPerEpoch } = this.#order;
    this.#order.seek({ epoch: Math.floor(count / batchesPerEpoch), batch: count % batchesPerEpoch });
  }

  /** No update was made yet. */
  protected get fresh(): boolean {
    return this.#count === 0;
  }

  advance(): Record<string, number> {
    if (!this.ready) return this.makeSomeCodes();
    let loss = 0;
    const optimizer = this.#trainer.fitting();
    const end = Math.min(this.most, this.#count + updatesAtOnce);
    for (; this.#count < end; this.#count++) loss = this.update(optimizer);
    if (this.#count === this.most) this.#trainer.fitted();
    return { fit: loss };
  }

  /** Whether all codes are made. */
  protected abstract get ready(): boolean;
  /** Codes are made again when a stopped warm start goes on: they are not part of a checkpoint. */
  protected abstract makeSomeCodes(): Record<string, number>;
  /** One update towards the codes; returns the nats a symbol still costs. */
  protected abstract update(optimizer: optim.Adam): number;
}
