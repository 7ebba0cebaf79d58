import { UserError } from '@hidden-schema/base';
import { call, type nn, type Tensor, withoutGrad } from '@hidden-schema/torch';
import * as optim from '@hidden-schema/torch/optim';
import { span } from '@hidden-schema/torch/profile';
import { Replicas } from './replicas.ts';

/** The settings of updates that every model's training has. */
export interface UpdateSettings {
  steps: number;
  warmup: number;
  schedule: 'constant' | 'linear' | 'cosine' | 'plateau';
  /** Of the schedule `plateau`. */
  plateau?: PlateauSettings;
  clip: number | 'none';
  decay: number;
}

/** Gradients to updates: scheduled rates, clipping, and a refusal of what is not a number. */
export class Updater {
  readonly optimizer: optim.Adam;
  readonly #rates: readonly number[];
  readonly #settings: UpdateSettings;
  readonly #schedule: optim.Schedule;
  readonly #replicas: Replicas;
  /** Where rates fall as validation stalls; its factor is 1 with any other schedule. */
  readonly plateau: Plateau;

  constructor(
    groups: readonly optim.ParameterGroup[],
    settings: UpdateSettings,
    replicas: Replicas = Replicas.alone,
  ) {
    this.#rates = groups.map(({ rate }) => rate);
    this.#settings = settings;
    this.#schedule = rateSchedule(settings);
    this.optimizer = new optim.Adam(groups, { decoupled: settings.decay > 0 });
    this.#replicas = replicas;
    this.plateau = new Plateau(settings.plateau);
    replicas.averageGradients(this.optimizer);
  }

  /** The first group's rate at a step, from 0. */
  rateAt(step: number): number {
    return this.#schedule(step) * this.plateau.factor * this.#rates[0]!;
  }

  /** Whether rates have fallen so far that training ends. */
  get exhausted(): boolean {
    const { schedule, plateau } = this.#settings;
    return schedule === 'plateau' && this.plateau.factor * this.#rates[0]! < (plateau?.least ?? 0);
  }

  /** Takes in a validation objective; tells whether rates fall from now on. */
  validated(objective: number): boolean {
    return this.#settings.schedule === 'plateau' && this.plateau.validated(objective);
  }

  /** Gradients of the loss, clipped; returns their norm before. Nothing is updated yet. */
  backward(loss: Tensor): number {
    this.optimizer.zeroGrad();
    span('backward', () => this.#replicas.backward(loss));
    // Each group by itself: the graph's gradient may be large where a link is missing, and must not still the others.
    const norms = this.optimizer.groups.map(({ parameters }) =>
      clipped(
        parameters.map(([, tensor]) => tensor),
        this.#settings.clip,
      ),
    );
    return Math.hypot(...norms);
  }

  /** Updates the weights, unless a figure of this step is not a number. */
  update(metrics: { step: number; epoch: number }, batch: number): void {
    refuseNonFinite(metrics, batch);
    this.#apply(metrics.step - 1);
  }

  /** An update by a loss of its own within a step, from 0; one that is not a number changes nothing. */
  turn(loss: Tensor, step: number): void {
    if (Number.isFinite(this.backward(loss))) this.#apply(step);
  }

  #apply(step: number): void {
    const factor = this.#schedule(step) * this.plateau.factor;
    for (const [i, group] of this.optimizer.groups.entries()) group.rate = factor * this.#rates[i]!;
    span('update', () => this.optimizer.step());
  }
}

/** Scales gradients down as the settings say; returns their joint norm before. */
export const clipped = (parameters: readonly Tensor[], clip: UpdateSettings['clip']): number =>
  optim.clipGradients(parameters, clip === 'none' ? Number.POSITIVE_INFINITY : clip);

function rateSchedule({ schedule, steps, warmup }: UpdateSettings): optim.Schedule {
  const rest = Math.max(1, steps - warmup);
  const after = {
    constant: optim.constant,
    plateau: optim.constant,
    linear: optim.linearDecay(rest),
    cosine: optim.cosineDecay(rest),
  };
  return optim.warmup(warmup, after[schedule]);
}

/** A loss or gradient that is not a number stops training before it reaches the weights. */
function refuseNonFinite(metrics: { step: number; epoch: number }, batch: number): void {
  const { step, epoch } = metrics;
  for (const [term, value] of Object.entries(metrics))
    if (!Number.isFinite(value)) throw new NumberFailure({ step, epoch, batch, term, value: String(value) });
}

/** How rates fall where validation stalls. */
export interface PlateauSettings {
  factor: number;
  patience: number;
  least: number;
}

/** Part of a checkpoint. */
export interface PlateauState {
  best: number | null;
  since: number;
  factor: number;
}

/** Rates that fall by a factor after more than `patience` evaluations in a row without a better objective. */
export class Plateau {
  readonly #settings: PlateauSettings;
  #state: PlateauState = { best: null, since: 0, factor: 1 };

  constructor(settings: PlateauSettings = { factor: 1, patience: 0, least: 0 }) {
    this.#settings = settings;
  }

  /** What rates are multiplied by now. */
  get factor(): number {
    return this.#state.factor;
  }
  get state(): PlateauState {
    return this.#state;
  }
  set state(state: PlateauState) {
    this.#state = state;
  }

  /** Takes in a validation objective; tells whether rates fall. */
  validated(objective: number): boolean {
    const { best, since, factor } = this.#state;
    if (best === null || objective < best) {
      this.#state = { best: objective, since: 0, factor };
      return false;
    }
    const falls = since >= this.#settings.patience;
    this.#state = falls
      ? { best, since: 0, factor: factor * this.#settings.factor }
      : { best, since: since + 1, factor };
    return falls;
  }
}

/** Where a number went wrong; kept in `run.json`, for `hsn train --diagnose`. */
export interface Failure {
  readonly step: number;
  readonly epoch?: number;
  /** Which batch of the epoch; absent where the fault showed outside of a step. */
  readonly batch?: number;
  /** A term of the objective, gradient_norm, validation, or the name of a weight. */
  readonly term: string;
  /** NaN, Infinity or -Infinity. */
  readonly value: string;
}

/** A number that is not one: training stops before it reaches the weights, or a checkpoint. */
export class NumberFailure extends UserError {
  readonly failure: Failure;

  constructor(failure: Failure) {
    const { step, epoch, batch, term, value } = failure;
    super(
      batch === undefined
        ? `step ${step}: the ${term} is ${value}; the last checkpoint is kept. Try a lower training.rate; hsn train --diagnose says where it began`
        : `step ${step} (epoch ${epoch}, batch ${batch}): ${term} is ${value}; the weights of the step before are kept. Try a lower training.rate, or graph.hard: true; hsn train --diagnose says where it began`,
    );
    this.failure = failure;
  }
}

/** The first weight that holds NaN or an infinity, if any does: what must not be kept as a checkpoint. */
export const brokenWeight = (model: nn.Module): string | undefined => brokenTensor(model.namedParameters());

/** The name of the first tensor that holds NaN or an infinity, if any does. */
export function brokenTensor(tensors: Iterable<readonly [string, Tensor]>): string | undefined {
  return withoutGrad(() => {
    for (const [name, tensor] of tensors) if (call('all', call('isfinite', tensor)).item() === 0) return name;
    return undefined;
  });
}
