import fc from 'fast-check';
import { call, type DType, Tensor } from '../src/index.ts';
import { Choices } from './fuzz-inputs.ts';

/** How an argument's elements lie in memory. */
const layouts = ['plain', 'offset', 'turned', 'sliced', 'expanded', 'overlapping'] as const;
export type Layout = (typeof layouts)[number];

/** One change that may make an argument unfit. */
export interface Mutation {
  readonly kind: 'none' | 'size' | 'fewer dimensions' | 'more dimensions' | 'dtype' | 'all dtypes';
  readonly argument: number;
  readonly dimension: number;
  readonly size: number;
  readonly dtype: DType;
}

/** What fast-check draws for one call: sizes by place, and for each argument its layout and whether it is trained. */
export interface Draw<O> {
  readonly sizes: readonly number[];
  readonly layouts: readonly Layout[];
  readonly trained: readonly boolean[];
  readonly mutation: Mutation;
  readonly seed: number;
  readonly options: O;
}

/** Empty, single, whole vectors of 16 and what lies beside them. */
export const anySize: fc.Arbitrary<number> = fc.constantFrom(0, 1, 1, 2, 3, 5, 15, 16, 17, 33);

const dtypes = fc.constantFrom<DType>('float64', 'float16', 'bfloat16', 'int64', 'int32', 'bool', 'float32');
const most = 8;

const mutations: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constant('none' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('size', 'fewer dimensions', 'more dimensions', 'dtype', 'all dtypes'),
    },
  ),
  argument: fc.nat(most - 1),
  dimension: fc.nat(3),
  size: anySize,
  dtype: dtypes,
});

export function draws<O>(
  sizes: readonly fc.Arbitrary<number>[],
  options: fc.Arbitrary<O>,
): fc.Arbitrary<Draw<O>> {
  return fc.record({
    sizes: fc.tuple(...sizes),
    layouts: fc.array(fc.constantFrom(...layouts), { minLength: most, maxLength: most }),
    trained: fc.oneof(
      fc.constant(Array<boolean>(most).fill(false)),
      fc.array(fc.boolean(), { minLength: most, maxLength: most }),
    ),
    mutation: mutations,
    seed: fc.nat(),
    options,
  });
}

/** A tensor argument before it is made. */
export interface Wanted {
  readonly shape: readonly number[];
  readonly dtype?: DType;
  /** Values other than eighths from −2 to 2, whose sums float32 holds exactly. */
  readonly value?: (choices: Choices) => number;
}

export function mutated(wanted: readonly Wanted[], mutation: Mutation): Wanted[] {
  const at = mutation.argument % Math.max(1, wanted.length);
  return wanted.map((argument, i) => {
    if (mutation.kind === 'all dtypes' && argument.dtype === undefined)
      return { ...argument, dtype: mutation.dtype };
    if (i !== at) return argument;
    if (mutation.kind === 'dtype') return { ...argument, dtype: mutation.dtype };
    const shape = [...argument.shape];
    const place = mutation.dimension % Math.max(1, shape.length);
    if (mutation.kind === 'size' && shape.length > 0) shape[place] = mutation.size;
    if (mutation.kind === 'fewer dimensions') shape.splice(place, 1);
    if (mutation.kind === 'more dimensions') shape.splice(place, 0, mutation.size);
    return { ...argument, shape };
  });
}

/** Whether the change left every argument as it was. */
export function same(before: readonly Wanted[], after: readonly Wanted[]): boolean {
  return before.every(
    ({ shape, dtype = 'float32' }, i) =>
      dtype === (after[i]!.dtype ?? 'float32') && shape.join() === after[i]!.shape.join(),
  );
}

const eighths = (choices: Choices): number => (choices.below(33) - 16) / 8;
const count = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);

/** The argument as a tensor, its elements lying as asked for; the same draw gives the same elements. */
export function make(
  { shape, dtype = 'float32', value = eighths }: Wanted,
  layout: Layout,
  seed: number,
): Tensor {
  const choices = new Choices(seed);
  const filled = (sizes: readonly number[]): Tensor => {
    const data = Float64Array.from({ length: count(sizes) }, () => value(choices));
    return Tensor.fromArray(data, sizes).to(dtype);
  };
  switch (layout) {
    case 'plain':
      return filled(shape);
    case 'offset':
      return filled([count(shape) + 3])
        .narrow(0, 3, count(shape))
        .reshape(...shape);
    case 'turned':
      return filled([...shape].reverse()).permute(...shape.map((_, i) => shape.length - 1 - i));
    case 'sliced':
      return sliced(filled, shape);
    case 'expanded':
      return filled(shape.map((n) => (n > 0 && choices.below(2) === 0 ? 1 : n))).expand(...shape);
    case 'overlapping':
      return call(
        'as_strided',
        filled([shape.reduce((sum, n) => sum + Math.max(0, n - 1), 1)]),
        shape,
        shape.map(() => 1),
      );
  }
}

/** Every second element of the first and of the last dimension. */
function sliced(filled: (sizes: readonly number[]) => Tensor, shape: readonly number[]): Tensor {
  const ends = new Set([0, shape.length - 1].filter((i) => i >= 0 && i < shape.length));
  let out = filled(shape.map((n, i) => (ends.has(i) ? 2 * n + 1 : n)));
  for (const i of ends) out = call('slice.Tensor', out, i, 1, 2 * shape[i]! + 1, 2);
  return out;
}
