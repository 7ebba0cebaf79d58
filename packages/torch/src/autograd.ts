import { defaultDevice } from './device.ts';
import { guarded, native } from './native.ts';
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
  const create = options.createGraph ?? false;
  const handles = guarded(
    'grad',
    () => outputs.map((t) => ({ shape: t.shape, dtype: t.dtype })),
    () =>
      native.grad(
        outputs.map((t) => t.handle),
        inputs.map((t) => t.handle),
        options.gradients?.map((t) => t.handle) ?? null,
        options.retainGraph ?? create,
        create,
      ),
  );
  return handles.map((handle) => (handle === null ? undefined : new Tensor(handle, 'grad')));
}
