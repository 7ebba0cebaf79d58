import { noGrad, type optim, scope, type Tensor } from '@hidden-schema/torch';
import { LengthOrder } from '../text/index.ts';
import type { StepMetrics } from '../trainer/trainer.ts';
import { restoreTrainer, type TrainerState, trainerState } from '../trainer/trainer-state.ts';
import { Updater } from '../trainer/updater.ts';
import type { PathModel } from './path.ts';
import type { TupleTokens } from './tokens.ts';

/** Posterior walks of tuples, a draw or several of each. */
export interface WalkSet {
  rows: Int32Array;
  /** For each draw, a walk for each row. */
  draws: number[][][];
}

const atOnce = 200;

/** A path model in training on posterior samples: one call a step. */
export class PathTrainer {
  readonly model: PathModel;
  readonly #sets: { train: WalkSet; valid: WalkSet };
  readonly #order: LengthOrder;
  readonly #updater: Updater;
  readonly #place = new Map<number, number>();
  #step = 0;

  constructor(model: PathModel, tokens: TupleTokens, sets: { train: WalkSet; valid: WalkSet }) {
    this.model = model;
    this.#sets = sets;
    const { training, seed } = model.config;
    for (const [place, row] of sets.train.rows.entries()) this.#place.set(row, place);
    this.#order = new LengthOrder(sets.train.rows, (row) => tokens.length(row), {
      batchSize: training.batch,
      seed,
    });
    const groups = [{ parameters: [...model.namedParameters()], rate: training.rate, decay: training.decay }];
    this.#updater = new Updater(groups, training);
  }

  get optimizer(): optim.Adam {
    return this.#updater.optimizer;
  }
  get step(): number {
    return this.#step;
  }
  get finished(): boolean {
    return this.#step >= this.model.config.training.steps;
  }

  trainStep(): StepMetrics {
    return scope(() => {
      const { rows, epoch, index } = this.#order.next();
      const { draws } = this.#sets.train;
      const draw = draws[epoch % draws.length]!;
      this.model.train();
      const { loss } = this.model.loss(
        rows,
        Array.from(rows, (row) => draw[this.#place.get(row)!]!),
      );
      const gradient_norm = this.#updater.backward(loss);
      const value = loss.item();
      const terms = { loss: value, reconstruction: value, kl_walk: 0, kl_graph: 0 };
      const metrics = {
        step: ++this.#step,
        epoch,
        ...terms,
        gradient_norm,
        rate: this.#updater.rateAt(this.#step - 1),
      };
      this.#updater.update(metrics, index);
      return metrics;
    });
  }

  /** −log p of validation walks' second halves, in nats a walk. */
  validate(): number {
    const { rows, draws } = this.#sets.valid;
    this.model.train(false);
    let sum = 0;
    for (let first = 0; first < rows.length; first += atOnce) {
      const some = rows.slice(first, first + atOnce);
      const walks = draws[0]!.slice(first, first + atOnce);
      sum += scope(() => noGrad(() => this.model.loss(some, walks).loss.item())) * some.length;
    }
    return sum / rows.length;
  }

  state(): TrainerState {
    return trainerState(this, this.#order);
  }

  restore(
    state: TrainerState,
    model: ReadonlyMap<string, Tensor>,
    optimizer: ReadonlyMap<string, Tensor>,
  ): void {
    restoreTrainer(this, this.#order, { model, optimizer }, state);
    this.#step = state.step;
  }

  free(): void {
    this.model.free();
    this.optimizer.free();
  }
}
