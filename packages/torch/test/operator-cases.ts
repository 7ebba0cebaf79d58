import fc from 'fast-check';
import { layerNorm } from '../src/functional.ts';
import { call, Generator, linear, Tensor } from '../src/index.ts';
import { native } from '../src/native.ts';
import { anySize, type Draw, draws, type Wanted } from './operator-arguments.ts';

/** One call of a fused operator and the same by libtorch's own. */
export interface Call {
  readonly wanted: readonly Wanted[];
  readonly draw: Draw<unknown>;
  fused(x: readonly Tensor[]): Tensor[];
  composed(x: readonly Tensor[]): Tensor[];
  /** Whether the operator may refuse arguments that it was not drawn to be unfit for: what its documentation says. */
  readonly restricted?: boolean;
  /** What rounding is measured by where sums cancel. */
  readonly scale?: number;
}

/** Calls of one operator. */
export type Calls = fc.Arbitrary<Call>;

interface Operator<O> {
  readonly sizes: readonly fc.Arbitrary<number>[];
  readonly options: fc.Arbitrary<O>;
  build(sizes: readonly number[], options: O, draw: Draw<O>): Omit<Call, 'draw'>;
}

export function calls<O>({ sizes, options, build }: Operator<O>): Calls {
  return draws(sizes, options).map((draw) => ({ draw, ...build(draw.sizes, draw.options, draw) }));
}

const one = (
  name: string,
  ...args: Parameters<typeof call> extends [string, ...infer R] ? R : never
): Tensor[] => [call(`engine::${name}`, ...args)];
export const few = fc.constantFrom(0, 1, 2, 3, 5);
const anyShape = fc
  .array(anySize, { maxLength: 4 })
  .map((shape) => shape.map((n, i) => (i > 1 ? Math.min(n, 5) : n)));

/** Something unfit now and then. */
export const mostly = <T>(fit: fc.Arbitrary<T>, unfit: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 20, arbitrary: fit }, { weight: 1, arbitrary: unfit });

/** How dropout is called; probabilities that are none come now and then. */
const dropping = fc.record({
  p: mostly(fc.constantFrom(0, 0.3, 0.9, 1), fc.constantFrom(-0.1, 1.5, Number.NaN)),
  offset: mostly(fc.constantFrom(0, 1, 17, 2 ** 40), fc.constant(-1)),
  shape: anyShape,
});
const mask = (shape: readonly number[], p: number, offset: number, seed: number): Tensor =>
  new Tensor(native.dropoutMask(shape, p, new Generator(seed).handle, offset), 'dropoutMask');

const dropout = calls({
  sizes: [],
  options: dropping,
  build: (_, { p, offset, shape }, { seed }) => ({
    wanted: [{ shape }],
    fused: ([x]) => one('dropout', x!, p, new Generator(seed), offset),
    composed: ([x]) => [x!.mul(mask(x!.shape, p, offset, seed))],
  }),
});

const reluDropout = calls({
  sizes: [],
  options: dropping,
  build: (_, { p, offset, shape }, { seed }) => ({
    wanted: [{ shape }],
    fused: ([x]) => one('relu_dropout', x!, p, new Generator(seed), offset),
    composed: ([x]) => [x!.relu().mul(mask(x!.shape, p, offset, seed))],
  }),
});

const addDropout = calls({
  sizes: [],
  options: fc.record({ drop: dropping, base: fc.constantFrom('same', 'last', 'ones', 'longer') }),
  build: (_, { drop: { p, offset, shape }, base }, { seed }) => {
    const shapes = { same: shape, last: shape.slice(1), ones: shape.map(() => 1), longer: [2, ...shape] };
    return {
      wanted: [{ shape: shapes[base] }, { shape }],
      fused: ([b, x]) => one('add_dropout', b!, x!, p, new Generator(seed), offset),
      composed: ([b, x]) => [b!.add(x!.mul(mask(x!.shape, p, offset, seed)))],
    };
  },
});

/** From its formula: libtorch 1.13 misreads a gradient of its own operator that does not lie in one piece. */
export const byErf = (x: Tensor): Tensor => x.mul(0.5).mul(call('erf', x.mul(Math.SQRT1_2)).add(1));

const erfGelu = calls({
  sizes: [],
  options: anyShape,
  build: (_, shape) => ({
    wanted: [{ shape }],
    fused: ([x]) => one('erf_gelu', x!),
    composed: ([x]) => [byErf(x!)],
  }),
});

const gelu = calls({
  sizes: [],
  options: anyShape,
  build: (_, shape) => ({
    wanted: [{ shape, value: (choices) => (choices.below(33) - 16) / 2 }],
    fused: ([x]) => one('gelu', x!),
    composed: ([x]) => [x!.gelu('tanh')],
  }),
});

const crossEntropy = calls({
  sizes: [anySize, anySize],
  options: mostly(fc.constant(0), fc.constantFrom(1, -1)),
  build: ([n = 0, v = 0], beyond) => ({
    wanted: [
      { shape: [n, v] },
      {
        shape: [n],
        dtype: 'int64',
        // One in four is ignored; now and then one is no class.
        value: (choices) =>
          choices.below(4) === 0 || v === 0
            ? -100
            : beyond !== 0 && choices.below(8) === 0
              ? beyond > 0
                ? v
                : -1
              : choices.below(v),
      },
    ],
    fused: ([x, y]) => one('cross_entropy', x!, y!),
    composed: ([x, y]) => [call('cross_entropy_loss', x!, y!, undefined, 0, -100)],
  }),
});

/** Rows of any rank before the last dimension. */
const leading = fc.array(fc.constantFrom(0, 1, 2, 3, 4), { maxLength: 2 });

const linearGelu = calls({
  sizes: [anySize, anySize],
  options: fc.record({ rows: leading, tanh: fc.boolean() }),
  build: ([n = 0, m = 0], { rows, tanh }) => ({
    wanted: [{ shape: [...rows, n] }, { shape: [m, n] }, { shape: [m] }],
    fused: ([x, w, b]) => one('linear_gelu', x!, w!, b!, tanh),
    composed: ([x, w, b]) => [tanh ? linear(x!, w!, b!).gelu('tanh') : byErf(linear(x!, w!, b!))],
  }),
});

const linearNorm = calls({
  sizes: [anySize, anySize],
  options: fc.record({ rows: leading, base: fc.constantFrom('same', 'same', 'last') }),
  build: ([n = 0, m = 0], { rows, base }) => ({
    wanted: [
      { shape: [...rows, n] },
      { shape: [m, n] },
      { shape: [m] },
      { shape: base === 'same' ? [...rows, m] : [m] },
      { shape: [m] },
      { shape: [m] },
    ],
    // Where the elements of a row are nearly one, the norm makes much of how they are rounded.
    scale: 300,
    fused: ([x, w, b, base, scale, shift]) => one('linear_norm', x!, w!, b!, base!, scale!, shift!, 1e-5),
    composed: ([x, w, b, base, scale, shift]) => [
      layerNorm(base!.add(linear(x!, w!, b!)), scale!, shift!, 1e-5),
    ],
  }),
});

const fewLinear = calls({
  sizes: [anySize, anySize],
  options: fc.record({ rows: leading, bias: fc.boolean() }),
  build: ([n = 0, m = 0], { rows, bias }) => ({
    wanted: [{ shape: [...rows, n] }, { shape: [m, n] }, ...(bias ? [{ shape: [m] }] : [])],
    fused: ([x, w, b]) => one('few_linear', x!, w!, b),
    composed: ([x, w, b]) => [linear(x!, w!, b)],
  }),
});

export const smallOperators: Readonly<Record<string, Calls>> = {
  dropout,
  relu_dropout: reluDropout,
  add_dropout: addDropout,
  gelu,
  erf_gelu: erfGelu,
  cross_entropy: crossEntropy,
  linear_gelu: linearGelu,
  linear_norm: linearNorm,
  few_linear: fewLinear,
};
