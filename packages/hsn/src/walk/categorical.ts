import type { Tensor } from '@hidden-schema/torch';

/** log p for use under an expectation, where p = 0 weighs nothing: finite there, and without a gradient. */
export function expectedLog(p: Tensor): Tensor {
  return p.clamp(1e-30).log();
}

/** What the logarithm of a probability of zero is: that of 1e-8, or 0 as in the authors' program. */
export type LogZero = 'floor' | 'free';

/** log p where a prior may forbid what a posterior does: at least log 1e-8, and that or 0 where p = 0. */
export function guardedLog(p: Tensor, logZero: LogZero): Tensor {
  const log = p.clamp(1e-8).log();
  return logZero === 'free' ? log.maskedFill(p.eq(0), 0) : log;
}

/** Σ_k p_k (log p_k − log q_k) over the last dimension. */
export function categoricalKl(logP: Tensor, logQ: Tensor): Tensor {
  return logP.exp().mul(logP.sub(logQ)).sum(-1);
}
