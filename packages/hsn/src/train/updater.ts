import { optim, span, type Tensor } from '@hidden-schema/torch';
import { NumberFailure } from './non-finite.ts';
import { Plateau, type PlateauSettings } from './plateau.ts';
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
export function clipped(parameters: readonly Tensor[], clip: UpdateSettings['clip']): number {
  return optim.clipGradients(parameters, clip === 'none' ? Number.POSITIVE_INFINITY : clip);
}

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
