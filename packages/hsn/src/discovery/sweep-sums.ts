import { call, type Tensor, zeros } from '@hidden-schema/torch';
import { type Pursued, spread } from './pursuit.ts';

// Shapes: n points of a block, b candidates, l steps, K symbols, S width.

/** What a sweep over all points leaves behind for symbols and graph. Kept tensors: `free` when done. */
export class SweepSums {
  /** Σ w·x over all steps [K, S], and Σ w·a of every symbol of the walk over later steps [K, K]; w is a step's pull. */
  readonly #pulls: Tensor;
  readonly #shared: Tensor;
  /** Expected traversals and their squared probabilities, summed over texts. [K·K] float64 */
  readonly #traversals: Tensor;
  readonly #certainty: Tensor;
  /** Expected texts of which each symbol is the first. [K] float64 */
  readonly #firsts: Tensor;
  readonly #firstWeight: number;
  /** Squared length of each point that its best walk leaves over, block by block. */
  readonly #left: Float32Array[] = [];

  constructor(symbols: number, width: number, firstWeight: number) {
    const wide = { dtype: 'float64' } as const;
    this.#firstWeight = firstWeight;
    this.#pulls = zeros([symbols, width]).keep();
    this.#shared = zeros([symbols, symbols]).keep();
    this.#traversals = zeros([symbols * symbols], wide).keep();
    this.#certainty = zeros([symbols * symbols], wide).keep();
    this.#firsts = zeros([symbols], wide).keep();
  }

  add({ walks, coefficients, logProbabilities, left }: Pursued, block: Tensor): void {
    const [n, b] = walks.shape as [number, number];
    const K = this.#firsts.dim(0);
    const probabilities = logProbabilities.softmax(1); // [n, b]
    const told = spread(walks, coefficients, K); // [n·b, K]
    const pull = coefficients.mul(probabilities.unsqueeze(2)); // [n, b, l]
    pull.select(2, 0).mul_(this.#firstWeight);
    this.#pulls.add_(spread(walks, pull, K).reshape(n, b, K).sum(1).transpose(0, 1).matmul(block));
    pull.select(2, 0).zero_();
    this.#shared.add_(spread(walks, pull, K).transpose(0, 1).matmul(told));
    this.#firsts.add_(counted(walks.select(2, 0), probabilities, K));
    this.#addTraversals(walks, probabilities, K);
    this.#left.push(left.select(1, 0).contiguous().toArray() as Float32Array);
  }

  #addTraversals(walks: Tensor, probabilities: Tensor, K: number): void {
    const l = walks.dim(2);
    for (let i = 1; i < l; i++) {
      const pair = walks
        .select(2, i - 1)
        .mul(K)
        .add(walks.select(2, i)); // [n, b]
      const same = pair.unsqueeze(2).eq(pair.unsqueeze(1)).to('float32'); // candidates that share this step
      const marginal = same.mul(probabilities.unsqueeze(1)).sum(2);
      this.#traversals.add_(counted(pair, probabilities, K * K));
      this.#certainty.add_(counted(pair, probabilities.mul(marginal), K * K));
    }
  }

  /** Expected texts that begin with each symbol. */
  firsts(): Float64Array {
    return this.#firsts.toArray() as Float64Array;
  }

  /** Per text: expected traversals and squared probabilities. [K, K] float64 each */
  travelled(texts: number): { traversals: Tensor; certainty: Tensor } {
    const K = this.#firsts.dim(0);
    return {
      traversals: this.#traversals.reshape(K, K).div(texts),
      certainty: this.#certainty.reshape(K, K).div(texts),
    };
  }

  /**
   * Where each symbol turns: Σ w·x over the texts that begin with it, as a cluster's mean, and Σ w·(r + a·e_k) over its
   * later uses, r being what the whole walk leaves over; r + a·e_k = x − Σ_{m≠k} a_m·e_m. [K, S]
   */
  directions(symbols: Tensor): Tensor {
    const own = call('diag', this.#shared).unsqueeze(1).mul(symbols);
    return this.#pulls.sub(this.#shared.matmul(symbols)).add(own);
  }

  /** Squared length left over, in the order of the points. [N] */
  left(): Float32Array {
    const all = new Float32Array(this.#left.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.#left) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  free(): void {
    for (const sum of [this.#pulls, this.#shared, this.#traversals, this.#certainty, this.#firsts])
      sum.free();
  }
}

/** Weights added up by class. [classes] float64 */
function counted(classes: Tensor, weights: Tensor, count: number): Tensor {
  return call('bincount', classes.reshape(-1), weights.to('float64').reshape(-1), count);
}
