import { expect } from 'vitest';
import { type call, Generator, grad, randn, scope, type Tensor, TorchError } from '../src/index.ts';

/** The largest difference between two tensors, relative to the largest element. */
export function difference(a: Tensor, b: Tensor): number {
  expect(a.shape).toEqual(b.shape);
  const [x, y] = [a.toNumbers(), b.toNumbers()];
  const most = Math.max(1e-6, ...y.map(Math.abs));
  return Math.max(...x.map((value, i) => Math.abs(value - y[i]!))) / most;
}

/** Value and gradients of a function of leaves, under a random linear loss. */
export function valueAndGradients(body: (...x: Tensor[]) => Tensor, inputs: readonly Tensor[]): Tensor[] {
  const leaves = inputs.map((x) => x.detach().requireGrad());
  const y = body(...leaves);
  const weights = randn(y.shape, new Generator(11)).to(y.dtype);
  return [y, ...(grad([y.mul(weights).sum()], leaves) as Tensor[])];
}

export function expectSame(fused: readonly Tensor[], composed: readonly Tensor[], bound = 2e-5): void {
  expect(fused.length).toBe(composed.length);
  for (const [i, tensor] of fused.entries()) expect(difference(tensor, composed[i]!)).toBeLessThan(bound);
}

/** What an operator is called with. */
export type Arguments = Parameters<typeof call> extends [string, ...infer R] ? R : never;

/** What the engine says of a call that it refuses. */
export function refusal(body: () => unknown): string {
  try {
    scope(body);
  } catch (error) {
    expect(error).toBeInstanceOf(TorchError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}
