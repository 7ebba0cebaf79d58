// Gradients without autograd.
import { noGrad, scope, Tensor } from '@hidden-schema/torch';

/** Central differences of a scalar function at a float64 tensor. */
export function finiteDifferences(of: (x: Tensor) => Tensor, at: Tensor, step = 1e-6): number[] {
  const values = Float64Array.from(at.toNumbers());
  const moved = (i: number, by: number): number =>
    scope(() =>
      noGrad(() => {
        const data = values.slice();
        data[i]! += by;
        return of(Tensor.fromArray(data, at.shape)).item();
      }),
    );
  return Array.from(values, (_, i) => (moved(i, step) - moved(i, -step)) / (2 * step));
}
