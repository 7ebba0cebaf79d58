// Small tensors, and how near two of them are.
import fs from 'node:fs';
import { grad, Tensor, tensor } from '@hidden-schema/torch';
import { expect } from 'vitest';
import './one-thread.ts';

/** Nested arrays of numbers, as fixtures hold them. */
export type Nested = number | readonly Nested[];

export function readFixture<T>(name: string): T {
  return JSON.parse(fs.readFileSync(new URL(`../../../fixtures/${name}.json`, import.meta.url), 'utf8')) as T;
}

export function f64(data: Nested): Tensor {
  return tensor(data, { dtype: 'float64' });
}

export function transpose(matrix: readonly (readonly number[])[]): number[][] {
  return matrix[0]!.map((_, j) => matrix.map((row) => row[j]!));
}

/** A matrix written as rows of digits: `digits('011 101 110')` is the triangle graph. */
export function digits(rows: string): number[][] {
  return rows.split(' ').map((row) => Array.from(row, Number));
}

export function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** Log-odds of both signs, none alike. */
export function someLogits(count: number): number[] {
  return Array.from({ length: count }, (_, e) => Math.sin(e * 1.7) * 2 - 0.5);
}

function flatten(values: Tensor | Nested): number[] {
  if (values instanceof Tensor) return values.toNumbers();
  return typeof values === 'number' ? [values] : values.flatMap(flatten);
}

export function largestGap(actual: Tensor | Nested, expected: Tensor | Nested): number {
  const a = flatten(actual);
  const b = flatten(expected);
  expect(a.length, 'number of values').toBe(b.length);
  const gaps = a.map((value, i) => (value === b[i] ? 0 : Math.abs(value - b[i]!)));
  // A NaN on either side must count as a gap, and Math.max keeps it.
  return Math.max(0, ...gaps);
}

export function expectClose(
  actual: Tensor | Nested,
  expected: Tensor | Nested,
  tolerance = 1e-9,
  what = 'value',
): void {
  expect(largestGap(actual, expected), `largest gap of ${what}`).toBeLessThan(tolerance);
}

export function expectFinite(values: Tensor | Nested, what: string): void {
  expect(
    flatten(values).filter((value) => !Number.isFinite(value)),
    `not finite in ${what}`,
  ).toEqual([]);
}

/** Gradient of a scalar with respect to one tensor, its computation kept for more. */
export function gradientOf(scalar: Tensor, input: Tensor): Tensor {
  const [gradient] = grad([scalar], [input], { retainGraph: true });
  if (!gradient) throw new Error('the value does not depend on the input');
  return gradient;
}
