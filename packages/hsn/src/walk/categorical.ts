import type { Tensor } from '@hidden-schema/torch';

/** log p for use under an expectation, where p = 0 weighs nothing: finite there, and without a gradient. */
export function expectedLog(p: Tensor): Tensor {
  return p.clamp(1e-30).log();
}

/** Σ_k p_k (log p_k − log q_k) over the last dimension. */
export function categoricalKl(logP: Tensor, logQ: Tensor): Tensor {
  return logP.exp().mul(logP.sub(logQ)).sum(-1);
}
