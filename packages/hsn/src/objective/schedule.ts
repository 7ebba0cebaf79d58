import type { Annealed, SyntheticConfig } from '../config/network.ts';

/** A temperature at a training step. */
export function annealedAt(value: Annealed, step: number): number {
  if (typeof value === 'number') return value;
  const part = Math.min(1, step / value.steps);
  return value.shape === 'linear'
    ? value.from + (value.to - value.from) * part
    : value.from * (value.to / value.from) ** part;
}

/** β, the weight of the KL terms, at a training step: constant, rising once, or rising again in every cycle. */
export function betaAt(beta: SyntheticConfig['objective']['beta'], step: number): number {
  switch (beta.kind) {
    case 'constant':
      return beta.to;
    case 'linear':
      return beta.to * Math.min(1, step / beta.steps);
    case 'exponential':
      return beta.to * (1 - Math.exp((-5 * step) / beta.steps));
    case 'cyclical':
      return beta.to * cyclePart((step % beta.steps) / beta.steps, beta);
  }
}

/** How high a cycle has risen: it waits, rises, and stays at the top. */
function cyclePart(part: number, { zero, rise }: { zero: number; rise: number }): number {
  return Math.min(1, Math.max(0, part - zero) / rise);
}
