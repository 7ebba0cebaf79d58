import { defaultDevice } from './engine.ts';
import { guarded, native } from './native.ts';
import { scope } from './scope.ts';
import { Tensor } from './tensor.ts';

/** Runs `body` without recording it for gradients. */
export function noGrad<T>(body: () => T): T {
  const before = native.gradMode(false);
  try {
    return body();
  } finally {
    native.gradMode(before);
  }
}

/** Runs `body` without gradients, and frees every tensor made in it except those in what it returns. */
export const withoutGrad = <T>(body: () => T): T => scope(() => noGrad(body));

/**
 * Runs `body` with matrix products of the default device in bfloat16 where libtorch deems it safe; weights and sums stay
 * in float32.
 */
export function autocast<T>(body: () => T): T {
  const device = defaultDevice();
  native.autocast(true, device);
  try {
    return body();
  } finally {
    native.autocast(false, device);
  }
}

/** Gradients of the sum of `outputs` with respect to `inputs`; undefined where there is no dependence. */
export function grad(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  options: { gradients?: readonly Tensor[]; retainGraph?: boolean; createGraph?: boolean } = {},
): (Tensor | undefined)[] {
  const { gradients, createGraph: create = false, retainGraph: retain = create } = options;
  const of = (tensors: readonly Tensor[]) => tensors.map(({ handle }) => handle);
  const run = () => native.grad(of(outputs), of(inputs), gradients ? of(gradients) : null, retain, create);
  const handles = guarded('grad', run, outputs);
  return handles.map((handle) => (handle === null ? undefined : new Tensor(handle, 'grad')));
}
