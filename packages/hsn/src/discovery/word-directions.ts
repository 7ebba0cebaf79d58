import { noGrad, scope, Tensor, zeros } from '@hidden-schema/torch';
import type { Replicas } from '../train/replicas.ts';
import { unitRows } from './dictionary.ts';
import { type SparseRows, sparseProduct, transposed } from './sparse.ts';

// Shapes: n texts of a block, V pieces, S width of a point.

/** Of the mean over all uses, what a piece has at least that tells: half leaves out stop words of any language. */
const leastShare = 0.5;

/** Where words stand among texts. */
export interface WordDirections {
  /** The direction in which the texts of each piece lie together; unit rows, zero where they lie anywhere. [V, S] */
  readonly directions: Tensor;
  /** 1 for a piece that tells of its texts, 0 for one that any text may have. [V] */
  readonly telling: Tensor;
}

/**
 * The mean m of the n unit points whose texts have a piece: its direction is where the piece stands, and its squared
 * length how much they agree. Points drawn at random have |m|² = 1/n in the mean, so that ρ = (|m|² − 1/n) / (1 − 1/n) is
 * zero for a piece that any text may have and one where its texts are all alike.
 */
export class WordSums {
  readonly #sums: Tensor; // [V, S] float64
  readonly #texts: Tensor; // [V] float64

  constructor({ pieces, width }: { pieces: number; width: number }) {
    this.#sums = zeros([pieces, width], { dtype: 'float64' }).keep();
    this.#texts = zeros([pieces], { dtype: 'float64' }).keep();
  }

  /** Points [n, S] of some texts, and counts [n, V] of their pieces. */
  add(points: Tensor, counts: SparseRows): void {
    noGrad(() =>
      scope(() => {
        const across = transposed(counts);
        const present = { ...across, values: across.values.fill(1) };
        this.#sums.add_(sparseProduct(present, points).to('float64'));
        const { indptr } = across;
        const texts = Float64Array.from({ length: indptr.length - 1 }, (_, v) => indptr[v + 1]! - indptr[v]!);
        this.#texts.add_(Tensor.fromArray(texts, [texts.length]));
      }),
    );
  }

  /** Over the texts of all processes. */
  directions(replicas: Replicas): WordDirections {
    replicas.sum([this.#sums, this.#texts]);
    return noGrad(() =>
      scope(() => {
        const means = this.#sums.div(this.#texts.clamp(1).unsqueeze(1));
        const telling = tellingOf(means.mul(means).sum(1).toNumbers(), this.#texts.toNumbers());
        return {
          directions: unitRows(means).to('float32').keep(),
          telling: Tensor.fromArray(telling, [telling.length]).keep(),
        };
      }),
    );
  }

  free(): void {
    this.#sums.free();
    this.#texts.free();
  }
}

/** 1 where ρ is more than half of its mean over all uses. */
function tellingOf(squaredLengths: readonly number[], texts: readonly number[]): Float32Array {
  // One text agrees with nothing.
  const agreement = texts.map((n, v) =>
    n > 1 ? Math.max(0, (squaredLengths[v]! - 1 / n) / (1 - 1 / n)) : 0,
  );
  const uses = texts.reduce((sum, n) => sum + n, 0);
  const mean = agreement.reduce((sum, rho, v) => sum + rho * texts[v]!, 0) / Math.max(1, uses);
  return Float32Array.from(agreement, (rho) => (rho > leastShare * mean ? 1 : 0));
}
