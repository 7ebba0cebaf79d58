import { scope, Tensor } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';

/** A point by its place among all, with what its walk leaves over. */
interface Left {
  place: number;
  left: number;
}

/** Worst first; of two that are equally bad the one that comes first. */
const byLeft = (a: Left, b: Left): number => b.left - a.left || a.place - b.place;

/** The points that are explained worst, a few of them, whichever process has them. */
export class WorstPoints {
  readonly #most: number;
  #found: Left[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** What the walks of some points leave over; `first` is the place of the first of them. */
  add(left: ArrayLike<number>, first: number): void {
    if (this.#most === 0) return;
    const least = this.#found.length < this.#most ? -1 : this.#found.at(-1)!.left;
    const worse = Array.from(left, (value, at) => ({ place: first + at, left: value })).filter(
      (one) => one.left > least,
    );
    if (worse.length > 0) this.#found = [...this.#found, ...worse].sort(byLeft).slice(0, this.#most);
  }

  /** Those of all processes. */
  share(replicas: Replicas): void {
    if (replicas.size === 1 || this.#most === 0) return;
    const width = 2 * this.#most;
    const numbers = new Float64Array(width * replicas.size).fill(0);
    for (let at = 0; at < this.#most; at++) {
      const { place, left } = this.#found[at] ?? { place: -1, left: -1 };
      numbers.set([place, left], replicas.rank * width + 2 * at);
    }
    const all = scope(() => {
      const sum = Tensor.fromArray(numbers, [numbers.length]);
      replicas.sum([sum]);
      return sum.toNumbers();
    });
    this.#found = Array.from({ length: all.length / 2 }, (_, at) => ({
      place: all[2 * at]!,
      left: all[2 * at + 1]!,
    }))
      .filter(({ place }) => place >= 0)
      .sort(byLeft)
      .slice(0, this.#most);
  }

  /** The places of the `count` worst. */
  places(count: number): number[] {
    return this.#found.slice(0, count).map(({ place }) => place);
  }
}
