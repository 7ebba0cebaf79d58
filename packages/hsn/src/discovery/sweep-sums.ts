import { call, type Tensor, zeros } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import { type Pursued, spread } from './pursuit.ts';
import { WorstPoints } from './worst-points.ts';

// Shapes: n points of a block, b candidates, l steps, K symbols, S width.

export interface SumSizes {
  symbols: number;
  width: number;
  firstWeight: number;
  /** Whether the sums of a block are float64 too, not only their sum: see `isSmall`. */
  wide?: boolean;
  /** Points that are remembered as explained worst. */
  worst?: number;
}

/**
 * What a sweep over all points leaves behind for symbols and graph: sums alone, so that processes add theirs. In
 * float64, whose rounding is lost when symbols become float32 again: in whatever order they are added, the same comes
 * out. Kept tensors: `free` when done.
 */
export class SweepSums {
  /** Σ w·x over all steps [K, S], and Σ w·a of every symbol of the walk over later steps [K, K]; w is a step's pull. */
  readonly #pulls: Tensor;
  readonly #shared: Tensor;
  /** Expected traversals and their squared probabilities, summed over texts. [K·K] */
  readonly #traversals: Tensor;
  readonly #certainty: Tensor;
  /** Expected texts of which each symbol is the first. [K] */
  readonly #firsts: Tensor;
  /** Squared length of all points, and what of it their best walks leave over. [2] */
  readonly #lengths: Tensor;
  readonly #firstWeight: number;
  readonly #blockType: 'float32' | 'float64';
  readonly worst: WorstPoints;

  constructor({ symbols, width, firstWeight, wide = false, worst = 0 }: SumSizes) {
    this.#blockType = wide ? 'float64' : 'float32';
    const sum = (...shape: number[]) => zeros(shape, { dtype: 'float64' }).keep();
    this.#firstWeight = firstWeight;
    this.#pulls = sum(symbols, width);
    this.#shared = sum(symbols, symbols);
    this.#traversals = sum(symbols * symbols);
    this.#certainty = sum(symbols * symbols);
    this.#firsts = sum(symbols);
    this.#lengths = sum(2);
    this.worst = new WorstPoints(worst);
  }

  /** A block of points with their walks; `first` is the place of its first point among all. */
  add(found: Pursued, block: Tensor, first: number): void {
    const { walks, coefficients, logProbabilities, squares, left } = found;
    const [n, b] = walks.shape as [number, number];
    const K = this.#firsts.dim(0);
    const probabilities = logProbabilities.softmax(1); // [n, b]
    const told = spread(walks, coefficients, K); // [n·b, K]
    const pull = coefficients.mul(probabilities.unsqueeze(2)); // [n, b, l]
    pull.select(2, 0).mul_(this.#firstWeight);
    const pulled = spread(walks, pull, K).reshape(n, b, K).sum(1); // [n, K]
    this.#pulls.add_(this.#product(pulled, block));
    pull.select(2, 0).zero_();
    this.#shared.add_(this.#product(spread(walks, pull, K), told));
    this.#firsts.add_(counted(walks.select(2, 0), probabilities, K));
    this.#addTraversals(walks, probabilities, K);
    const best = left.select(1, 0);
    this.#lengths.select(0, 0).add_(squares.to('float64').sum());
    this.#lengths.select(0, 1).add_(best.to('float64').sum());
    this.worst.add(best.contiguous().toArray() as Float32Array, first);
  }

  /** aᵀ·b */
  #product(a: Tensor, b: Tensor): Tensor {
    const type = this.#blockType;
    return a.to(type).transpose(0, 1).matmul(b.to(type));
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

  /** Adds up what all processes found. */
  share(replicas: Replicas): void {
    replicas.sum(this.#all);
    this.worst.share(replicas);
  }

  get #all(): Tensor[] {
    return [this.#pulls, this.#shared, this.#traversals, this.#certainty, this.#firsts, this.#lengths];
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
    const wide = symbols.to('float64');
    const own = call('diag', this.#shared).unsqueeze(1).mul(wide);
    return this.#pulls.sub(this.#shared.matmul(wide)).add(own).to('float32');
  }

  /** Share of the points' squared length that their best walks explain. */
  explained(): number {
    const [all, left] = this.#lengths.toNumbers();
    return all! > 0 ? 1 - left! / all! : 1;
  }

  free(): void {
    for (const sum of this.#all) sum.free();
  }
}

/** Weights added up by class. [classes] float64 */
function counted(classes: Tensor, weights: Tensor, count: number): Tensor {
  return call('bincount', classes.reshape(-1), weights.to('float64').reshape(-1), count);
}
