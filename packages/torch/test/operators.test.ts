import { describe, expect, test } from 'vitest';
import * as create from '../src/create.ts';
import * as functional from '../src/functional.ts';
import { type DType, grad, int64, scope, Tensor, tensor } from '../src/index.ts';
import { expectClose, isStored, readFixture, revive, type Stored, tolerances } from './fixtures.ts';

interface Case {
  readonly name: string;
  readonly method?: string;
  readonly function?: string;
  readonly args: readonly unknown[];
  readonly outputs: readonly Stored[];
  readonly cotangents: readonly (Stored | null)[];
  readonly gradients: readonly (Stored | null)[];
}

type Operator = (this: unknown, ...args: unknown[]) => unknown;

const cases = readFixture<Case[]>('operators');
const functions: Record<string, unknown> = { ...functional, ...create };

/** JSON back to arguments: stored tensors are made, null is an argument left out, the words are numbers. */
function argument(value: unknown, float: DType, leaves: Tensor[]): unknown {
  if (value === null) return undefined;
  if (value === '-Infinity' || value === 'Infinity') return Number(value);
  if (Array.isArray(value)) return value.map((element) => argument(element, float, leaves));
  if (!isStored(value)) return value;
  const made = revive(value, float);
  if (value.grad) leaves.push(made);
  return made;
}

function resultsOf(value: unknown): Tensor[] {
  if (value instanceof Tensor) return [value];
  return Object.values(value as Record<string, Tensor>);
}

function run(given: Case, args: unknown[]): Tensor[] {
  if (given.function !== undefined) return resultsOf((functions[given.function] as Operator)(...args));
  const [self, ...rest] = args;
  return resultsOf((self as Record<string, Operator>)[given.method!]!.apply(self, rest));
}

function checkGradients(given: Case, results: Tensor[], leaves: Tensor[], float: keyof typeof tolerances) {
  if (given.gradients.length === 0) return;
  const used = [...given.cotangents.entries()].flatMap(([i, c]) => (c ? [[i, c] as const] : []));
  const found = grad(
    used.map(([i]) => results[i]!),
    leaves,
    { gradients: used.map(([i, c]) => revive(c, results[i]!.dtype === 'float64' ? 'float64' : float)) },
  );
  for (const [i, expected] of given.gradients.entries()) {
    if (expected === null) expect(found[i], `gradient ${i}`).toBeUndefined();
    else expectClose(found[i]!, expected, tolerances[float], `gradient ${i}`);
  }
}

function check(given: Case, float: keyof typeof tolerances): void {
  scope(() => {
    const leaves: Tensor[] = [];
    const results = run(
      given,
      given.args.map((value) => argument(value, float, leaves)),
    );
    expect(results).toHaveLength(given.outputs.length);
    for (const [i, expected] of given.outputs.entries()) {
      if (float === 'float64') expect(results[i]!.dtype).toBe(expected.dtype);
      // A result of float32 is rounded as such, whatever went in: releases differ in the last bit of exp.
      const precision = results[i]!.dtype === 'float32' ? 'float32' : float;
      expectClose(results[i]!, expected, tolerances[precision], `output ${i}`);
    }
    checkGradients(given, results, leaves, float);
  });
}

describe('as PyTorch, float64', () => {
  test.each(cases.map((c) => [c.name, c] as const))('%s', (_, given) => check(given, 'float64'));
});

describe('as PyTorch, float32', () => {
  const holdsFloat64 = (value: unknown): boolean =>
    Array.isArray(value) ? value.some(holdsFloat64) : isStored(value) && value.dtype === 'float64';
  const floats = cases.filter((c) => holdsFloat64(c.args));
  test.each(floats.map((c) => [c.name, c] as const))('%s', (_, given) => check(given, 'float32'));
});

describe('coverage by PyTorch numbers', () => {
  /** Handles, lifetime, data access and autograd's switches: these compute nothing. */
  const notNumeric = [
    ...['constructor', 'handle', 'alive', 'shape', 'dtype', 'device', 'size', 'dim'],
    ...['free', 'keep', 'escape', 'item', 'toArray', 'toNumbers'],
    ...['requiresGrad', 'requireGrad', 'grad', 'setGrad', 'backward'],
  ];
  /** Random draws are in random.test.ts, the LSTM in modules.test.ts, whole numbers below. */
  const elsewhere = [
    'int64',
    'rand',
    'randn',
    'randint',
    'randperm',
    'bernoulli',
    'multinomial',
    'dropout',
    'lstm',
  ];
  /** Kernels of our own, which have no numbers of PyTorch: fused.test.ts compares them with the operators composed. */
  const kernels = [
    ...['withoutKernels', 'hasKernels', 'fusable', 'attentionFits', 'fewLinear', 'linearGelu', 'linearNorm'],
    ...['addDropout', 'reluDropout', 'fusedAttention', 'fusedSelfAttention', 'tanhGelu'],
  ];

  test('every operator method of Tensor has a case', () => {
    const covered = new Set([...notNumeric, ...cases.map((c) => c.method)]);
    // Those of the table of operators too.
    const methods = [Tensor.prototype, Object.getPrototypeOf(Tensor.prototype)].flatMap(
      Object.getOwnPropertyNames,
    );
    expect(methods.filter((name) => !covered.has(name))).toEqual([]);
  });
  test('whole numbers are a list, or of a shape', () => {
    const [list, table] = [int64([3, -1]), int64(Int32Array.of(1, 2, 3, 4), [2, 2])];
    expect([list.dtype, list.shape, list.toNumbers()]).toEqual(['int64', [2], [3, -1]]);
    expect([table.shape, table.toNumbers()]).toEqual([
      [2, 2],
      [1, 2, 3, 4],
    ]);
  });
  test('every function has a case', () => {
    const covered = new Set([...elsewhere, ...kernels, ...cases.map((c) => c.function)]);
    expect(Object.keys(functions).filter((name) => !covered.has(name))).toEqual([]);
  });
});

describe('data in and out', () => {
  test('ragged nested arrays are refused, also where the count would fit', () => {
    const wrong = 'nested arrays of one shape are expected, these are ragged';
    expect(() => tensor([[1, 2], [3]])).toThrow(wrong);
    expect(() => tensor([[1, 2], [3], [4, 5, 6]])).toThrow(wrong);
    expect(() => tensor([[1], 2])).toThrow(wrong);
    expect(() => tensor([1, [2]])).toThrow(wrong);
  });
  test.each([
    Float32Array.of(1.5, -2),
    Float64Array.of(0.1, 1e300),
    Int8Array.of(-128, 127),
    Int16Array.of(-32768, 32767),
    Int32Array.of(-(2 ** 31), 2 ** 31 - 1),
    BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n),
    Uint8Array.of(0, 255),
  ])('%s comes back as it went in', (data) => {
    const made = tensor(data);
    expect(made.toArray()).toEqual(data);
    expect(tensor(data.subarray(1)).toArray()).toEqual(data.slice(1));
  });
  test('item() of a bool, an int64 and a float', () => {
    expect(tensor([true], { dtype: 'bool' }).item()).toBe(1);
    expect(tensor(7, { dtype: 'int64' }).item()).toBe(7);
    expect(tensor(0.1, { dtype: 'float64' }).item()).toBe(0.1);
  });
});
