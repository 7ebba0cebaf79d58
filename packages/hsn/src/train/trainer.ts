import { reasonOf, UserError } from '@hidden-schema/base';
import type { BatchOrder, BatchPosition } from '@hidden-schema/text';
import { type Generator, type nn, scope, type Tensor, withoutGrad } from '@hidden-schema/torch';
import * as optim from '@hidden-schema/torch/optim';
import { span } from '@hidden-schema/torch/profile';
import { drawnAside, type HiddenSchemaNetwork, type ModelSpec } from '../model.ts';
import type { LossTerms } from '../objective/objective.ts';
import { nameOfToday } from '../tensor-names.ts';
import { Replicas } from './replicas.ts';
import { type PlateauState, Updater, type UpdateSettings } from './updater.ts';

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

/** Where a training stands, beside its weights: what a checkpoint's state.json keeps of it. */
export interface TrainerState {
  step: number;
  position: BatchPosition;
  /** Updates of each parameter group; runs of version 0.1 kept one number for all. */
  updates: number | readonly number[];
  /** The model's generator, base64. */
  generator: string;
  /** Of the schedule `plateau`: how far rates have fallen. */
  plateau?: PlateauState;
}

/** What every training has: a model with its generator, and an optimiser. */
interface TrainerParts {
  readonly step: number;
  readonly model: nn.Module & { readonly generator: Generator };
  readonly optimizer: optim.Adam;
}

/** The order of batches: where it stands, and going there. */
export interface Order {
  position(): BatchPosition;
  seek(position: BatchPosition): void;
}

export function trainerState({ step, model, optimizer }: TrainerParts, order: Order): TrainerState {
  return {
    step,
    position: order.position(),
    updates: optimizer.counts,
    generator: Buffer.from(model.generator.state()).toString('base64'),
  };
}

/** Weights, moments, order and generator as a checkpoint has them; those of other settings are refused. */
export function restoreTrainer(
  { model, optimizer }: TrainerParts,
  order: Order,
  saved: { model: ReadonlyMap<string, Tensor>; optimizer: ReadonlyMap<string, Tensor> },
  state: TrainerState,
): void {
  try {
    model.load(saved.model);
    const { updates } = state;
    const counts = typeof updates === 'number' ? optimizer.groups.map(() => updates) : updates;
    const moments = new Map([...saved.optimizer].map(([name, tensor]) => [nameOfToday(name), tensor]));
    optimizer.load(moments, counts);
  } catch (error) {
    throw new UserError(
      `the checkpoint of step ${state.step} needs the settings it was made with: ${reasonOf(error)}`,
    );
  }
  order.seek(state.position);
  model.generator.restore(Buffer.from(state.generator, 'base64'));
}

/** Training of a Hidden Schema Network: kinds of data say how a batch is made, the rest is the same for all. */
export abstract class NetworkTraining<K extends ModelSpec> implements Training<K['batch']> {
  readonly model: HiddenSchemaNetwork<K>;
  abstract readonly settings: UpdateSettings;
  abstract readonly groups: readonly optim.ParameterGroup[];
  abstract readonly order: BatchOrder;

  constructor(model: HiddenSchemaNetwork<K>) {
    this.model = model;
  }

  abstract batch(rows: Int32Array, part: { first: number; end: number }): K['batch'];
  abstract validate(step: number): number;

  /** The exact posterior that teaches the encoder, where there is one. L tensors [B, K] */
  protected teacher(_batch: K['batch'], _replicas: Replicas): readonly Tensor[] | undefined {
    return undefined;
  }

  loss(batch: K['batch'], step: number, replicas: Replicas): Loss {
    const teacher = this.teacher(batch, replicas);
    const terms = this.model.forward(batch, { step, teacher, holders: replicas });
    return { loss: terms.loss, figures: this.figures(terms) };
  }

  protected figures({ reconstruction, walk, graph, teacher, tokens }: LossTerms): Loss['figures'] {
    return {
      reconstruction: reconstruction.item(),
      kl_walk: walk.item(),
      kl_graph: graph.item(),
      ...(teacher ? { teacher: teacher.item() } : {}),
      tokens,
    };
  }

  /** Mean objective of held-out sentences at full β. */
  protected meanObjective(step: number, batches: HeldOut<K['batch']>): number {
    return meanObjective(this.model, batches, { step, beta: this.model.config.objective.beta.to });
  }
}

/** Held-out batches, each made when it is looked at. */
export type HeldOut<Batch> = Iterable<{ count: number; make: () => Batch }>;

/** What is trained: its loss on a batch. */
type Trained<Batch> = nn.Module & {
  readonly generator: Generator;
  forward(batch: Batch, options: { step: number; beta: number }): { loss: Tensor };
};

/** Mean loss of held-out sentences, without dropout or dropped words; batches are made in a scope. */
export function meanObjective<Batch>(
  model: Trained<Batch>,
  batches: HeldOut<Batch>,
  options: { step: number; beta: number },
): number {
  model.train(false);
  return drawnAside(model, () => {
    let [sum, total] = [0, 0];
    for (const { count, make } of batches) {
      sum += withoutGrad(() => model.forward(make(), options).loss.item()) * count;
      total += count;
    }
    return sum / total;
  });
}
