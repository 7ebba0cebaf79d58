import { call, type Tensor, zeros } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import type { Travelled } from './links.ts';
import type { Pursued } from './pursuit.ts';

// Shapes: n points of a block, b candidates, l steps, K symbols.

/**
 * What walks of all points leave behind for the graph: sums alone, so that processes add theirs, in float64, whose
 * rounding is lost afterwards: in whatever order they are added, the same comes out. Kept tensors: `free` when done.
 */
export class TraversalSums {
  /** Expected traversals and their squared probabilities, summed over texts; stays are none. [K·K] */
  readonly #traversals: Tensor;
  readonly #certainty: Tensor;
  /** Squared length of all points, and what of it their best walks leave over. [2] */
  readonly #lengths: Tensor;
  readonly #symbols: number;

  constructor(symbols: number) {
    const sum = (size: number) => zeros([size], { dtype: 'float64' }).keep();
    this.#symbols = symbols;
    this.#traversals = sum(symbols * symbols);
    this.#certainty = sum(symbols * symbols);
    this.#lengths = sum(2);
  }

  /** A block of points with their walks. */
  add({ walks, logProbabilities, squares, left }: Pursued): void {
    const K = this.#symbols;
    const probabilities = logProbabilities.softmax(1); // [n, b]
    for (let i = 1; i < walks.dim(2); i++) {
      const [from, to] = [walks.select(2, i - 1), walks.select(2, i)];
      const moves = from.ne(to).to('float32');
      const pair = from.mul(K).add(to); // [n, b]
      const same = pair.unsqueeze(2).eq(pair.unsqueeze(1)).to('float32'); // candidates that share this step
      const marginal = same.mul(probabilities.unsqueeze(1)).sum(2);
      const moved = probabilities.mul(moves);
      this.#traversals.add_(counted(pair, moved, K * K));
      this.#certainty.add_(counted(pair, moved.mul(marginal), K * K));
    }
    this.#lengths.select(0, 0).add_(squares.to('float64').sum());
    this.#lengths.select(0, 1).add_(left.select(1, 0).to('float64').sum());
  }

  /** Adds up what all processes found. */
  share(replicas: Replicas): void {
    replicas.sum([this.#traversals, this.#certainty, this.#lengths]);
  }

  /** Per text: expected traversals and squared probabilities. [K, K] float64 each */
  travelled(texts: number): Travelled {
    const K = this.#symbols;
    return {
      traversals: this.#traversals.reshape(K, K).div(texts),
      certainty: this.#certainty.reshape(K, K).div(texts),
    };
  }

  /** Share of the points' squared length that their best walks explain. */
  explained(): number {
    const [all, left] = this.#lengths.toNumbers();
    return all! > 0 ? 1 - left! / all! : 1;
  }

  free(): void {
    for (const sum of [this.#traversals, this.#certainty, this.#lengths]) sum.free();
  }
}

/** Weights added up by class. [classes] float64 */
function counted(classes: Tensor, weights: Tensor, count: number): Tensor {
  return call('bincount', classes.reshape(-1), weights.to('float64').reshape(-1), count);
}
