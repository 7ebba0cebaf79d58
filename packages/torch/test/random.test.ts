import { describe, expect, test } from 'vitest';
import { bernoulli } from '../src/create.ts';
import {
  type DType,
  Generator,
  multinomial,
  nn,
  ones,
  rand,
  randint,
  randn,
  randperm,
  setThreads,
  type Tensor,
} from '../src/index.ts';
import { expectClose, readFixture, revive, type Stored, sameBytes } from './fixtures.ts';

type Single =
  | 'rand'
  | 'randDouble'
  | 'randn'
  | 'randnLong'
  | 'randint'
  | 'randperm'
  | 'probabilities'
  | 'bernoulli'
  | 'weights'
  | 'multinomial';
type Fixture = Readonly<Record<Single, Stored>> & { readonly seed: number; readonly sequence: Stored[] };

const fixture = readFixture<Fixture>('random');
const fresh = () => new Generator(fixture.seed);
const float64: { dtype: DType } = { dtype: 'float64' };

function expectSame(actual: Tensor, expected: Stored): void {
  expect(actual.dtype).toBe(expected.dtype);
  expect(actual.toNumbers()).toEqual(expected.data);
}

describe('the numbers of torch.Generator().manual_seed(7)', () => {
  const draws: [Single, () => Tensor][] = [
    ['rand', () => rand([5], fresh())],
    ['randDouble', () => rand([5], fresh(), float64)],
    ['randint', () => randint(1000, [6], fresh())],
    ['randperm', () => randperm(20, fresh())],
    ['bernoulli', () => bernoulli(revive(fixture.probabilities), fresh())],
    ['multinomial', () => multinomial(revive(fixture.weights), 6, fresh())],
    ['randn', () => randn([7], fresh())],
  ];
  test.each(draws)('%s, exactly', (name, draw) => expectSame(draw(), fixture[name]));

  // From 16 elements on libtorch uses vector code whose last bit depends on the processor.
  test('randn of 40', () => expectClose(randn([40], fresh()), fixture.randnLong, 1e-6));

  test('one generator after another draw', () => {
    const generator = fresh();
    expectSame(rand([2], generator), fixture.sequence[0]!);
    expectSame(randperm(5, generator), fixture.sequence[1]!);
    expectSame(randn([2], generator), fixture.sequence[2]!);
  });
});

describe('a generator', () => {
  const draw = (generator: Generator) => [
    rand([3], generator).toArray(),
    randn([20], generator).toArray(),
    randn([3], generator, float64).toArray(),
    randperm(10, generator).toArray(),
    new nn.Dropout(0.5, generator).forward(ones([50])).toArray(),
  ];

  test('of the same seed draws the same, of another seed other numbers', () => {
    expect(draw(new Generator(5))).toEqual(draw(new Generator(5)));
    expect(draw(new Generator(5))).not.toEqual(draw(new Generator(6)));
    expect(draw(new Generator(5n))).toEqual(draw(new Generator(5)));
  });
  test('is independent of other generators', () => {
    const [a, b] = [new Generator(5), new Generator(9)];
    const alone = draw(new Generator(5));
    rand([3], b);
    expect(draw(a)).toEqual(alone);
  });
  test('continues from a saved state, also halfway through a pair of normals', () => {
    const generator = new Generator(21);
    randn([3], generator, float64);
    const state = generator.state();
    const continued = draw(generator);
    generator.restore(state);
    expect(draw(generator)).toEqual(continued);
    const other = new Generator(0);
    other.restore(state);
    expect(draw(other)).toEqual(continued);
  });
  test('has a state that drawing does not change afterwards', () => {
    const generator = new Generator(3);
    const state = generator.state();
    const copy = state.slice();
    draw(generator);
    expect(state).toEqual(copy);
    expect(generator.state()).not.toEqual(copy);
  });
  test('takes every 64-bit seed and negative ones', () => {
    const seeds = [0, -1, 2 ** 53 - 1, 2n ** 64n - 1n];
    const firsts = seeds.map((seed) => rand([2], new Generator(seed)).toArray());
    expect(firsts[1]).toEqual(firsts[3]);
    expect(firsts[0]).not.toEqual(firsts[2]);
  });
  test.each([0.5, Number.NaN, 2 ** 53])('refuses %s as a seed', (seed) => {
    expect(() => new Generator(seed)).toThrow(`a seed is a whole number, got ${seed}`);
  });
  test('refuses bytes that are not a state and goes on as before', () => {
    const generator = new Generator(4);
    const state = generator.state();
    expect(() => generator.restore(Uint8Array.of(1, 2, 3))).toThrow(/restore generator/);
    expect(() => generator.restore(state.map((b) => b ^ 255))).toThrow(/restore generator/);
    expect(generator.state()).toEqual(state);
  });
  test('draws the same with one thread and with two', () => {
    const [one, two] = [1, 2].map((threads) => {
      setThreads(threads);
      return randn([100_000], new Generator(8)).toArray();
    });
    expect(sameBytes(one!, two!)).toBe(true);
  });
});
