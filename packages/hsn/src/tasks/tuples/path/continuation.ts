import { Tensor } from '@hidden-schema/torch';
import { walkTensor } from '../walks.ts';
import type { PathContext } from './path-model.ts';
import type { BegunWalks, FirstHalves, WalkPath } from './walk-path.ts';

/** Scores of steps 1 to M + 1 of second halves from first ones. */
type Scores = (first: Tensor, second: Tensor | undefined, context: PathContext) => Tensor;

/** Walks that a network goes on with. */
export function begunByScores(scores: Scores, first: FirstHalves['first'], context: PathContext): BegunWalks {
  return {
    next(owners, seconds) {
      const rows = Tensor.fromArray(Int32Array.from(owners), [owners.length]);
      const own = { hidden: context.hidden.indexSelect(0, rows), mask: context.mask.indexSelect(0, rows) };
      const written = seconds[0]!.length > 0 ? walkTensor(seconds) : undefined;
      const all = scores(walkTensor(owners.map((of) => first[of]!)), written, own);
      return all.select(1, all.dim(1) - 1).logSoftmax(-1);
    },
  };
}

/** Several path models as one: the mean of their log-probabilities, made to sum to one again. */
export class CombinedPath implements WalkPath {
  readonly #parts: readonly WalkPath[];

  constructor(parts: readonly WalkPath[]) {
    this.#parts = parts;
  }

  begin(halves: FirstHalves): BegunWalks {
    const begun = this.#parts.map((part) => part.begin(halves));
    return {
      next: (owners, seconds) =>
        begun
          .map((walks) => walks.next(owners, seconds))
          .reduce((sum, logs) => sum.add(logs))
          .div(begun.length)
          .logSoftmax(-1),
    };
  }

  train(on: boolean): this {
    for (const part of this.#parts) part.train(on);
    return this;
  }

  free(): void {
    for (const part of this.#parts) part.free();
  }
}
