import { noGrad } from '../autograd.ts';
import { stack } from '../functional.ts';
import { scope } from '../scope.ts';
import type { Tensor } from '../tensor.ts';

/** Scales all gradients so that their joint Euclidean norm is at most `limit`; returns the norm before. */
export function clipGradients(parameters: readonly Tensor[], limit: number): number {
  return scope(() =>
    noGrad(() => {
      const gradients = parameters.flatMap((p) => p.grad ?? []);
      if (gradients.length === 0) return 0;
      const norm = stack(gradients.map((g) => g.norm()))
        .norm()
        .item();
      const factor = limit / (norm + 1e-6);
      if (factor < 1) for (const gradient of gradients) gradient.mul_(factor);
      return norm;
    }),
  );
}
