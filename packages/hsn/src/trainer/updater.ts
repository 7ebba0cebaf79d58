import { optim, type Tensor } from '@hidden-schema/torch';
import { UserError } from '../errors.ts';

/** The settings of updates that every model's training has. */
export interface UpdateSettings {
  steps: number;
  warmup: number;
  schedule: 'constant' | 'linear' | 'cosine';
  clip: number;
  decay: number;
}

/** Gradients to updates: scheduled rates, clipping, and a refusal of what is not a number. */
export class Updater {
  readonly optimizer: optim.Adam;
  readonly #rates: readonly number[];
  readonly #settings: UpdateSettings;
  readonly #schedule: optim.Schedule;

  constructor(groups: readonly optim.ParameterGroup[], settings: UpdateSettings) {
    this.#rates = groups.map(({ rate }) => rate);
    this.#settings = settings;
    this.#schedule = rateSchedule(settings);
    this.optimizer = new optim.Adam(groups, { decoupled: settings.decay > 0 });
  }

  /** The first group's rate at a step, from 0. */
  rateAt(step: number): number {
    return this.#schedule(step) * this.#rates[0]!;
  }

  /** Gradients of the loss, clipped; returns their norm before. Nothing is updated yet. */
  backward(loss: Tensor): number {
    this.optimizer.zeroGrad();
    loss.backward();
    const parameters = this.optimizer.groups.flatMap((group) => group.parameters.map(([, tensor]) => tensor));
    return optim.clipGradients(parameters, this.#settings.clip);
  }

  /** Updates the weights, unless a figure of this step is not a number. */
  update(metrics: { step: number; epoch: number }, batch: number): void {
    refuseNonFinite(metrics, batch);
    const factor = this.#schedule(metrics.step - 1);
    for (const [i, group] of this.optimizer.groups.entries()) group.rate = factor * this.#rates[i]!;
    this.optimizer.step();
  }
}

function rateSchedule({ schedule, steps, warmup }: UpdateSettings): optim.Schedule {
  const rest = Math.max(1, steps - warmup);
  const after = {
    constant: optim.constant,
    linear: optim.linearDecay(rest),
    cosine: optim.cosineDecay(rest),
  };
  return optim.warmup(warmup, after[schedule]);
}

/** A loss or gradient that is not a number stops training before it reaches the weights. */
function refuseNonFinite(metrics: { step: number; epoch: number }, batch: number): void {
  for (const [name, value] of Object.entries(metrics)) {
    if (Number.isFinite(value)) continue;
    throw new UserError(
      `step ${metrics.step} (epoch ${metrics.epoch}, batch ${batch}): ${name} is ${value}; ` +
        'the weights of the step before are kept. Try a lower training.rate, or graph.hard: true',
    );
  }
}
