import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type DType, Tensor, tensor } from '../src/index.ts';

/** A tensor as fixtures/make_torch_fixtures.py writes it. */
export interface Stored {
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** NaN and infinities are words. */
  readonly data: readonly (number | string | boolean)[];
  readonly grad?: boolean;
}

export function isStored(value: unknown): value is Stored {
  return typeof value === 'object' && value !== null && 'dtype' in value && 'data' in value;
}

export function readFixture<T>(name: string): T {
  const path = new URL(`../../../fixtures/torch/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

/** The stored tensor, with float64 replaced by `float` so that the same case can run in float32. */
export function revive(stored: Stored, float: DType = 'float64'): Tensor {
  const dtype = stored.dtype === 'float64' ? float : stored.dtype;
  const made =
    dtype === 'int64'
      ? Tensor.fromArray(
          BigInt64Array.from(stored.data, (v) => BigInt(v)),
          stored.shape,
        )
      : tensor(Float64Array.from(stored.data, Number), { shape: stored.shape, dtype });
  return stored.grad ? made.requireGrad() : made;
}

export const tolerances = { float64: 1e-10, float32: 1e-5 } as const;

/** The largest finite magnitude. */
export function largest(...stored: readonly Stored[]): number {
  const sizes = stored.flatMap((s) => s.data.map((v) => Math.abs(Number(v))));
  return sizes.filter(Number.isFinite).reduce((a, b) => Math.max(a, b), 0);
}

/**
 * Every element within `tolerance` of its own size, or of a tenth of `size` where it is smaller:
 * the largest element, or what else the numbers were summed from.
 */
export function expectClose(
  actual: Tensor,
  expected: Stored,
  tolerance: number,
  what = 'value',
  size = largest(expected),
): void {
  expect(actual.shape, `${what}'s shape`).toEqual(expected.shape);
  const numbers = actual.toNumbers();
  const wanted = expected.data.map(Number);
  for (const [i, want] of wanted.entries()) {
    const got = numbers[i]!;
    if (Object.is(got, want) || got === want) continue;
    const error = Math.abs(got - want);
    const bound = tolerance * Math.max(Math.abs(want), 0.1 * size);
    if (!(error <= bound)) expect.fail(`${what}: element ${i} is ${got}, PyTorch has ${want}`);
  }
}

/** Equality of large arrays, where an assertion's own comparison takes seconds. */
export function sameBytes(a: ArrayBufferView, b: ArrayBufferView): boolean {
  const bytes = (view: ArrayBufferView) => Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  return bytes(a).equals(bytes(b));
}
