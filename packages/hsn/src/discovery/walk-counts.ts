import { Tensor } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import type { Travelled } from './links.ts';

// Shapes: L steps, K symbols.

/** Where walks are at each step, and how often they go from one symbol to another. */
export class WalkCounts {
  readonly #length: number;
  readonly #symbols: number;
  readonly #at: Float64Array; // [L, K]
  readonly #stays: Float64Array; // [L, K]
  readonly #moves: Float64Array; // [K, K]

  constructor({ length, symbols }: { length: number; symbols: number }) {
    this.#length = length;
    this.#symbols = symbols;
    this.#at = new Float64Array(length * symbols);
    this.#stays = new Float64Array(length * symbols);
    this.#moves = new Float64Array(symbols * symbols);
  }

  /** Walks, one after the other; one that stays where it is travels no link. [n, L] */
  add(walks: ArrayLike<number>): void {
    const [L, K] = [this.#length, this.#symbols];
    for (let at = 0; at < walks.length; at++) {
      const [step, to] = [at % L, walks[at]!];
      this.#at[step * K + to]!++;
      if (step === 0) continue;
      const from = walks[at - 1]!;
      if (from === to) this.#stays[step * K + to]!++;
      else this.#moves[from * K + to]!++;
    }
  }

  /** Adds up what the processes have counted. */
  share(replicas: Replicas): void {
    for (const counts of [this.#at, this.#stays, this.#moves]) {
      const sum = Tensor.fromArray(counts, [counts.length]);
      replicas.sum([sum]);
      counts.set(sum.toArray() as Float64Array);
      sum.free();
    }
  }

  /** How many walks are on each symbol at each step. L lists of K */
  get steps(): Float64Array[] {
    return this.#byStep(this.#at);
  }

  /** How many of them have stayed on it since the step before. L lists of K, zeros first */
  get stays(): Float64Array[] {
    return this.#byStep(this.#stays);
  }

  #byStep(counts: Float64Array): Float64Array[] {
    const K = this.#symbols;
    return Array.from({ length: this.#length }, (_, i) => counts.slice(i * K, (i + 1) * K));
  }

  /** Moves per text, every walk being certain. */
  travelled(texts: number): Travelled {
    const shares = this.#moves.map((count) => count / texts);
    const matrix = () => Tensor.fromArray(shares, [this.#symbols, this.#symbols]);
    return { traversals: matrix(), certainty: matrix() };
  }
}
