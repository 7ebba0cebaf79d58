/** A learning rate's factor as a function of the update's number, from 0. */
export type Schedule = (step: number) => number;

export const constant: Schedule = () => 1;

/** Rises from 0 to 1 over `steps` updates, then follows `after`. */
export function warmup(steps: number, after: Schedule = constant): Schedule {
  return (step) => (step < steps ? (step + 1) / (steps + 1) : after(step - steps));
}

/** Falls on a line from 1 to `floor` over `steps` updates. */
export function linearDecay(steps: number, floor = 0): Schedule {
  return (step) => floor + (1 - floor) * Math.max(0, 1 - step / steps);
}

/** Falls on half a cosine from 1 to `floor` over `steps` updates. */
export function cosineDecay(steps: number, floor = 0): Schedule {
  return (step) => floor + (1 - floor) * 0.5 * (1 + Math.cos(Math.PI * Math.min(1, step / steps)));
}

/** Multiplies by `factor` every `period` updates. */
export function stepDecay(period: number, factor: number): Schedule {
  return (step) => factor ** Math.floor(step / period);
}
