import type { BatchOrder } from '@hidden-schema/text';
import { type Generator, type nn, optim, scope, span, type Tensor } from '@hidden-schema/torch';
import { Replicas } from './replicas.ts';
import { restoreTrainer, type TrainerState, trainerState } from './trainer-state.ts';
import { Updater, type UpdateSettings } from './updater.ts';

/** The terms of one training step as plain numbers, in nats per sentence. */
export interface StepMetrics {
  step: number;
  epoch: number;
  loss: number;
  reconstruction: number;
  kl_walk?: number;
  kl_graph?: number;
  /** Of a model without walks: KL of its latents. */
  kl?: number;
  teacher?: number;
  perplexity?: number;
  gradient_norm: number;
  rate: number;
}

/** The terms of a loss as numbers; `tokens` where perplexity is to be told. */
type LossFigures = Pick<StepMetrics, 'reconstruction' | 'kl_walk' | 'kl_graph' | 'kl' | 'teacher'> & {
  tokens?: number;
};

/** A loss with its terms. */
export interface Loss {
  loss: Tensor;
  figures: LossFigures;
}

/** A model with its data and how it learns from them: all that a trainer asks of a kind of training. */
export interface Training<Batch> {
  readonly model: nn.Module & { readonly generator: Generator };
  readonly settings: UpdateSettings;
  readonly groups: readonly optim.ParameterGroup[];
  readonly order: BatchOrder;
  /** What a warm start moves, by name, and how fast. */
  readonly fit?: { parameters: RegExp; rate: number };
  /** The part of a batch's rows that this process holds. */
  batch(rows: Int32Array, part: { first: number; end: number; epoch: number; step: number }): Batch;
  loss(batch: Batch, step: number, replicas: Replicas): Loss;
  /** Losses whose own weights are updated in turn, before the step's. Each is made after the update of the one before. */
  turns?(batch: Batch): Iterable<Tensor>;
  /** The objective on the validation split: what selects the best model and stops training early. */
  validate(step: number): number;
}

/** Beside every training's state: whether its optimiser is still the warm start's. */
type FittedState = TrainerState & { fitting?: boolean };

/** A training under way: one call a step, nothing on disk. Every kind of model is trained by this one. */
export class Trainer<Batch = unknown> {
  readonly training: Training<Batch>;
  readonly #updater: Updater;
  readonly #replicas: Replicas;
  /** The warm start's own optimiser, while it lasts. */
  #fitter: optim.Adam | undefined;
  #step = 0;

  constructor(training: Training<Batch>, replicas: Replicas = Replicas.alone) {
    this.training = training;
    this.#updater = new Updater(training.groups, training.settings, replicas);
    this.#replicas = replicas;
    replicas.part(training.order.batchSize);
  }

  get model(): Training<Batch>['model'] {
    return this.training.model;
  }
  /** That of the phase training is in: what a checkpoint keeps. */
  get optimizer(): optim.Adam {
    return this.#fitter ?? this.#updater.optimizer;
  }
  get step(): number {
    return this.#step;
  }
  get finished(): boolean {
    return this.#step >= this.training.settings.steps || this.#updater.exhausted;
  }

  /** One update on the next batch. */
  trainStep(): StepMetrics {
    return this.model.generator.sharing(this.#replicas.share, () => scope(() => this.#update()));
  }

  #update(): StepMetrics {
    const { rows, epoch, index } = this.training.order.next();
    const part = this.#replicas.part(rows.length);
    this.model.train();
    const batch = span('batch', () => this.training.batch(rows, { ...part, epoch, step: this.#step }));
    for (const turn of this.training.turns?.(batch) ?? []) this.#updater.turn(turn, this.#step);
    const { loss, figures: own } = span('forward', () =>
      this.training.loss(batch, this.#step, this.#replicas),
    );
    const gradient_norm = this.#updater.backward(loss);
    const rate = this.#updater.rateAt(this.#step);
    const { tokens, ...figures } = this.#replicas.means({ loss: loss.item(), ...own });
    const perplexity =
      tokens === undefined
        ? {}
        : { perplexity: Math.exp((figures.reconstruction * (part.end - part.first)) / tokens) };
    const metrics = { step: ++this.#step, epoch, ...figures, ...perplexity, gradient_norm, rate };
    this.#updater.update(metrics, index);
    return metrics;
  }

  validate(): number {
    return this.training.validate(this.#step);
  }

  /** Takes in a validation objective; tells whether rates fall from now on (schedule `plateau`). */
  validated(objective: number): boolean {
    return this.#updater.validated(objective);
  }

  /** The warm start's optimiser, made when it is first asked for. */
  fitter(): optim.Adam {
    const { parameters: moved, rate } = this.training.fit!;
    const parameters = [...this.model.namedParameters()].filter(([name]) => moved.test(name));
    this.#fitter ??= new optim.Adam([{ parameters, rate }]);
    return this.#fitter;
  }

  /** The warm start is over: what follows begins with moments of its own. */
  endFitting(): void {
    this.#fitter?.free();
    this.#fitter = undefined;
  }

  state(): FittedState {
    const { schedule } = this.training.settings;
    return {
      ...trainerState(this, this.training.order),
      ...(this.#fitter ? { fitting: true } : {}),
      ...(schedule === 'plateau' ? { plateau: this.#updater.plateau.state } : {}),
    };
  }

  restore(
    state: FittedState,
    model: ReadonlyMap<string, Tensor>,
    optimizer: ReadonlyMap<string, Tensor>,
  ): void {
    if (state.fitting) this.fitter();
    restoreTrainer(this, this.training.order, { model, optimizer }, state);
    if (state.plateau) this.#updater.plateau.state = state.plateau;
    this.#step = state.step;
  }

  free(): void {
    this.model.free();
    this.#fitter?.free();
    this.#updater.optimizer.free();
  }
}
