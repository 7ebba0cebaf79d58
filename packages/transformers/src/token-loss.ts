import { cat, crossEntropy, grad, int64, linear, noGrad, scope, type Tensor } from '@hidden-schema/torch';

// Shapes: N predicted tokens, V vocabulary, D width, B sentences, T tokens.

/** Bytes of logits that are held at a time: enough for a usual batch in one piece, at which slices save nothing. */
export const defaultLogitBudget = 256 << 20;

/** Which predictions of a padded batch count: token t + 1 from the state at t, for t + 1 from `prefix` to the end. */
export interface Predictions {
  /** Rows of the states flattened to [B·(T−1), D]. [N] int64 */
  readonly rows: Tensor;
  /** For each of B·(T−1) positions its place among the N, or N where nothing is predicted. int64 */
  readonly places: Tensor;
  readonly count: number;
}

export function predictionsOf(
  lengths: readonly number[],
  time: number,
  prefix: number | readonly number[] = 1,
): Predictions {
  const rows: number[] = [];
  const places: number[] = [];
  for (const [b, length] of lengths.entries()) {
    const own = typeof prefix === 'number' ? prefix : prefix[b];
    if (!(Number.isInteger(length) && length >= 1 && length <= time))
      throw new RangeError(`sentence ${b} has length ${length}, expected 1 to ${time}`);
    if (own === undefined || !(Number.isInteger(own) && own >= 1))
      throw new RangeError(`sentence ${b} has a prefix of ${own} tokens, expected at least 1`);
    for (let t = 0; t < time - 1; t++) {
      const counts = t + 1 >= own && t + 1 < length;
      places.push(counts ? rows.length : -1);
      if (counts) rows.push(b * (time - 1) + t);
    }
  }
  const count = rows.length;
  return {
    rows: int64(rows),
    places: int64(places.map((place) => (place < 0 ? count : place))),
    count,
  };
}

export interface TokenLosses {
  /** −log p of each predicted token. [N] */
  readonly losses: Tensor;
  /** Zero, carrying the gradient of Σ losses to the output matrix where the logits were sliced. */
  readonly outputTerm: Tensor | undefined;
}

/**
 * Cross-entropy of states [N, D] through an output matrix [V, D] with targets [N], at most `budget` bytes of logits at
 * a time. Where they need several slices, gradients are taken slice by slice and the logits dropped: the losses then
 * carry their exact gradient to the states, and `outputTerm` that of their plain sum to the matrix.
 */
export function tokenLosses(hidden: Tensor, output: Tensor, targets: Tensor, budget: number): TokenLosses {
  const count = hidden.dim(0);
  const width = hidden.dtype === 'float64' ? 8 : 4;
  const rows = Math.max(1, Math.floor(budget / (output.dim(0) * width)));
  const losses = (h: Tensor, w: Tensor, t: Tensor): Tensor =>
    crossEntropy(linear(h, w), t, { reduction: 'none' });
  if (count <= rows) return { losses: losses(hidden, output, targets), outputTerm: undefined };
  const needs = { hidden: isRecorded(hidden), output: isRecorded(output) };
  const sums = new Sums(needs.output);
  for (let start = 0; start < count; start += rows) {
    const length = Math.min(rows, count - start);
    const slice = (x: Tensor): Tensor => x.narrow(0, start, length);
    scope(() => {
      const h = slice(hidden).detach().requireGrad(needs.hidden);
      const w = output.detach().requireGrad(needs.output);
      const nll = losses(h, w, slice(targets));
      const inputs = [...(needs.hidden ? [h] : []), ...(needs.output ? [w] : [])];
      const gradients = inputs.length > 0 ? grad([nll.sum()], inputs) : [];
      sums.add(nll.detach(), needs.hidden ? gradients[0]! : undefined, gradients.at(-1));
    });
  }
  return sums.result(hidden, output);
}

/** Losses and gradients of the slices so far; they outlive the slices' scopes. */
class Sums {
  readonly #losses: Tensor[] = [];
  readonly #states: Tensor[] = [];
  readonly #withOutput: boolean;
  #output: Tensor | undefined;

  constructor(withOutput: boolean) {
    this.#withOutput = withOutput;
  }

  add(losses: Tensor, states: Tensor | undefined, output: Tensor | undefined): void {
    this.#losses.push(losses.keep());
    if (states) this.#states.push(states.keep());
    if (!this.#withOutput || !output) return;
    if (this.#output) this.#output.add_(output);
    else this.#output = output.keep();
  }

  result(hidden: Tensor, output: Tensor): TokenLosses {
    const values = joined(this.#losses);
    const states = this.#states.length > 0 ? joined(this.#states) : undefined;
    const losses = states ? values.add(carrier(hidden.mul(states).sum(-1))) : values;
    const sum = this.#output;
    if (!sum) return { losses, outputTerm: undefined };
    const outputTerm = carrier(output.reshape(-1).matmul(sum.reshape(-1)));
    sum.free();
    return { losses, outputTerm };
  }
}

/** Zero in value; its gradient is that of x. */
const carrier = (x: Tensor): Tensor => x.sub(x.detach());

function joined(parts: readonly Tensor[]): Tensor {
  const whole = noGrad(() => cat(parts));
  for (const part of parts) part.free();
  return whole;
}

/** Whether what is computed from x now enters the gradient's record. */
const isRecorded = (x: Tensor): boolean => x.narrow(0, 0, 0).neg().requiresGrad;
