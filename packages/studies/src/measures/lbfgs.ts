import { dot } from './dot.ts';

const memory = 20;

/**
 * Limited-memory BFGS (Nocedal & Wright 2006, algorithm 7.5) for a smooth convex function; `x` ends at the minimum, where no
 * element of the gradient is larger than `tolerance`.
 */
export function minimise(
  x: Float64Array,
  evaluate: (x: Float64Array, gradient: Float64Array) => number,
  { tolerance, iterations }: { tolerance: number; iterations: number },
): { value: number; converged: boolean } {
  let gradient: Float64Array = new Float64Array(x.length);
  let value = evaluate(x, gradient);
  const pairs: CurvaturePair[] = [];
  for (let i = 0; i < iterations; i++) {
    if (gradient.every((slope) => Math.abs(slope) <= tolerance)) return { value, converged: true };
    const direction = descent(gradient, pairs);
    const found = search({ x, value, gradient, direction }, evaluate, pairs.length === 0);
    // No step lowers the value: what is left is rounding.
    if (!found) return { value, converged: false };
    const step = difference(found.x, x);
    const change = difference(found.gradient, gradient);
    const curvature = dot(step, change);
    if (curvature > 0) pairs.push({ step, change, curvature });
    if (pairs.length > memory) pairs.shift();
    x.set(found.x);
    ({ value, gradient } = found);
  }
  return { value, converged: false };
}

interface CurvaturePair {
  step: Float64Array;
  change: Float64Array;
  curvature: number;
}

/** −H·g by the two loops over the remembered steps (algorithm 7.4). */
function descent(gradient: Float64Array, pairs: readonly CurvaturePair[]): Float64Array {
  const direction = gradient.map((slope) => -slope);
  const shares: number[] = [];
  for (const { step, change, curvature } of pairs.toReversed()) {
    const share = dot(step, direction) / curvature;
    shares.push(share);
    add(direction, change, -share);
  }
  const last = pairs.at(-1);
  const size = last ? last.curvature / dot(last.change, last.change) : 1;
  for (let i = 0; i < direction.length; i++) direction[i]! *= size;
  for (const { step, change, curvature } of pairs)
    add(direction, step, shares.pop()! - dot(change, direction) / curvature);
  return direction;
}

interface Place {
  x: Float64Array;
  value: number;
  gradient: Float64Array;
  direction: Float64Array;
}

/** Halves the step until the value falls enough (Armijo); the value's own rounding is no rise. */
function search(
  { x, value, gradient, direction }: Place,
  evaluate: (x: Float64Array, gradient: Float64Array) => number,
  first: boolean,
): { x: Float64Array; value: number; gradient: Float64Array } | undefined {
  const slope = dot(gradient, direction);
  const rounding = 4 * Number.EPSILON * Math.abs(value);
  let size = first ? Math.min(1, 1 / Math.sqrt(-slope)) : 1;
  for (let tries = 0; tries < 50; tries++, size /= 2) {
    const next = x.slice();
    add(next, direction, size);
    const nextGradient = new Float64Array(x.length);
    const nextValue = evaluate(next, nextGradient);
    if (nextValue <= value + 1e-4 * size * slope + rounding)
      return { x: next, value: nextValue, gradient: nextGradient };
  }
  return undefined;
}

function add(to: Float64Array, what: Float64Array, times: number): void {
  for (let i = 0; i < to.length; i++) to[i]! += times * what[i]!;
}

const difference = (a: Float64Array, b: Float64Array): Float64Array => a.map((value, i) => value - b[i]!);
