import { arange, type Generator, rand, type Tensor } from '@hidden-schema/torch';

/** log p for use under an expectation, where p = 0 weighs nothing: finite there, and without a gradient. */
export const expectedLog = (p: Tensor): Tensor => p.clamp(1e-30).log();

/** What the logarithm of a probability of zero is: that of 1e-8, or 0 as in the authors' program. */
export type LogZero = 'floor' | 'free';

/** log p where a prior may forbid what a posterior does: at least log 1e-8, and that or 0 where p = 0. */
export function guardedLog(p: Tensor, logZero: LogZero): Tensor {
  const log = p.clamp(1e-8).log();
  return logZero === 'free' ? log.maskedFill(p.eq(0), 0) : log;
}

/** Σ_k p_k (log p_k − log q_k) over the last dimension. */
export const categoricalKl = (logP: Tensor, logQ: Tensor): Tensor => logP.exp().mul(logP.sub(logQ)).sum(-1);

/** How a discrete draw is relaxed: temperature of the softmax, and whether the value is made hard (straight-through). */
export interface Relaxation {
  readonly temperature: number;
  readonly hard: boolean;
}

/** Keeps logarithms of probabilities and of uniform draws finite, in float32 too. */
const tiny = 1e-12;

/** Uniform draws in [0, 1) for one relaxed sample. */
export const uniformNoise = (like: Tensor, generator: Generator): Tensor =>
  rand(like.shape, generator, { dtype: like.dtype });

/** A value that is `hard` forwards and has the gradient of `soft` backwards. */
export const straightThrough = (hard: Tensor, soft: Tensor): Tensor => hard.sub(soft).detach().add(soft);

/** Gumbel-softmax sample of a categorical given by probabilities [B, K] and uniform noise [B, K]. */
export function gumbelSoftmax(
  probabilities: Tensor,
  noise: Tensor,
  { temperature, hard }: Relaxation,
): Tensor {
  const gumbel = noise
    .clamp(tiny, 1 - tiny)
    .log()
    .neg()
    .add(tiny)
    .log()
    .neg();
  const soft = probabilities.add(tiny).log().add(gumbel).div(temperature).softmax(-1);
  if (!hard) return soft;
  const chosen = arange(soft.dim(-1)).eq(soft.argmax(-1, true)); // one-hot, without one_hot's search for the range
  return straightThrough(chosen.to(soft.dtype), soft);
}

/** Binary concrete sample of Bernoulli variables given by logits and uniform noise of the same shape. */
export function binaryConcrete(logits: Tensor, noise: Tensor, { temperature, hard }: Relaxation): Tensor {
  const bounded = noise.clamp(1e-7, 1 - 1e-7);
  const logistic = bounded.log().sub(bounded.neg().log1p());
  const soft = logits.add(logistic).div(temperature).sigmoid();
  return hard ? straightThrough(soft.gt(0.5).to(soft.dtype), soft) : soft;
}
