import { describe, expect, test } from 'vitest';
import { Generator, randn, scope, type Tensor, zeros } from '../src/index.ts';
import * as optim from '../src/optim.ts';
import { expectClose, readFixture, revive, type Stored, tolerances } from './fixtures.ts';

interface AdamCase {
  readonly name: string;
  readonly decoupled: boolean;
  readonly settings: { readonly beta1: number; readonly beta2: number; readonly epsilon: number };
  readonly rates: readonly [number, number];
  readonly decays: readonly [number, number];
  readonly scale: readonly number[];
  readonly start: readonly Stored[];
  readonly path: readonly (readonly Stored[])[];
}
interface ClipCase {
  readonly name: string;
  readonly limit: number;
  readonly gradients: readonly Stored[];
  readonly norm: Stored;
  readonly clipped: readonly Stored[];
}
interface Fixture {
  readonly adam: readonly AdamCase[];
  readonly clip: readonly ClipCase[];
  readonly schedules: Readonly<Record<string, readonly number[]>>;
}

const fixture = readFixture<Fixture>('optim');
type Float = keyof typeof tolerances;

interface Training {
  readonly parameters: readonly Tensor[];
  readonly optimiser: optim.Adam;
  step(): void;
}

/** The objective of make_torch_fixtures.py: sum(cos(w + i)) + sum(w²)·scale/2. */
function training(given: AdamCase, dtype: Float): Training {
  const parameters = given.start.map((w) => revive(w, dtype).requireGrad());
  const named = parameters.map((w, i) => [`w${i}`, w] as const);
  const groups = [named.slice(0, 2), named.slice(2)].map((group, i) => ({
    parameters: group,
    rate: given.rates[i]!,
    decay: given.decays[i]!,
  }));
  const optimiser = new optim.Adam(groups, { ...given.settings, decoupled: given.decoupled });
  const step = () =>
    scope(() => {
      optimiser.zeroGrad();
      const losses = parameters.map((w, i) =>
        w
          .add(i)
          .cos()
          .sum()
          .add(
            w
              .mul(w)
              .sum()
              .mul(given.scale[i]! / 2),
          ),
      );
      losses.reduce((a, b) => a.add(b)).backward();
      optimiser.step();
    });
  return { parameters, optimiser, step };
}

describe.each(['float64', 'float32'] as const)('20 steps as PyTorch, %s', (dtype) => {
  test.each(fixture.adam.map((c) => [c.name, c] as const))('%s', (_, given) => {
    const { parameters, step, optimiser } = training(given, dtype);
    for (const [index, expected] of given.path.entries()) {
      step();
      for (const [i, w] of parameters.entries())
        expectClose(w, expected[i]!, tolerances[dtype], `w${i} after step ${index + 1}`);
    }
    expect(optimiser.counts).toEqual([20, 20]);
  });
});

describe('Adam', () => {
  const given = fixture.adam[1]!;
  const values = (tensors: Iterable<Tensor>) => [...tensors].map((t) => t.toArray());

  test('continues from its saved state bit for bit', () => {
    const whole = training(given, 'float32');
    for (let i = 0; i < 20; i++) whole.step();

    const before = training(given, 'float32');
    for (let i = 0; i < 7; i++) before.step();
    const saved = new Map([...before.optimiser.namedTensors()].map(([name, t]) => [name, t.clone()]));
    const after = training(given, 'float32');
    for (const [i, w] of after.parameters.entries()) w.detach().copy_(before.parameters[i]!.detach());
    after.optimiser.load(saved, before.optimiser.counts);
    for (let i = 7; i < 20; i++) after.step();

    expect(values(after.parameters)).toEqual(values(whole.parameters));
    expect(after.optimiser.counts).toEqual([20, 20]);
    expect([...saved.keys()]).toEqual(['w0', 'w1', 'w2'].flatMap((w) => [`${w}.first`, `${w}.second`]));
  });
  test('says which part of the state is missing', () => {
    const { optimiser } = training(given, 'float32');
    const state = new Map(optimiser.namedTensors());
    state.delete('w1.second');
    expect(() => optimiser.load(state, [1, 1])).toThrow("the optimiser's state lacks w1.second");
    expect(() => optimiser.load(state, [1])).toThrow('of 1 groups, expected 2');
  });
  test('leaves a parameter without gradient alone', () => {
    const [used, unused] = [zeros([2]).requireGrad(), zeros([2]).requireGrad()];
    const parameters = [['used', used] as const, ['unused', unused] as const];
    const optimiser = new optim.Adam([{ parameters, rate: 0.1, decay: 0.1 }], { decoupled: true });
    used.sum().backward();
    optimiser.step();
    expect(unused.toNumbers()).toEqual([0, 0]);
    expect(used.toNumbers().every((w) => w < 0)).toBe(true);
  });
  test('a group that waited starts as if it were new', () => {
    const [early, late] = [zeros([1]).requireGrad(), zeros([1]).requireGrad()];
    const optimiser = new optim.Adam(
      [early, late].map((w, i) => ({ parameters: [[`w${i}`, w] as const], rate: 0.1 })),
    );
    for (let i = 0; i < 50; i++) {
      optimiser.zeroGrad();
      early.sum().backward();
      optimiser.step();
    }
    optimiser.zeroGrad();
    late.mul(3).sum().backward();
    optimiser.step();
    expect(optimiser.counts).toEqual([50, 1]);
    expect(late.item()).toBeCloseTo(-0.1, 6);
  });
  test('follows a change of rate', () => {
    const w = zeros([1], { dtype: 'float64' }).requireGrad();
    const optimiser = new optim.Adam([{ parameters: [['w', w]], rate: 0.1 }]);
    optimiser.groups[0]!.rate = 0;
    w.sum().backward();
    optimiser.step();
    expect(w.item()).toBe(0);
    optimiser.groups[0]!.rate = 0.5;
    optimiser.step();
    expect(w.item()).toBeCloseTo(-0.5, 6);
  });
  test('zeroGrad() drops the gradients', () => {
    const { parameters, step, optimiser } = training(given, 'float32');
    step();
    expect(parameters.every((w) => w.grad !== undefined)).toBe(true);
    optimiser.zeroGrad();
    expect(parameters.every((w) => w.grad === undefined)).toBe(true);
  });
  test('updates many elements in threads as one by one', () => {
    const start = randn([100_000], new Generator(1), { dtype: 'float64' });
    const update = (pieces: readonly Tensor[]) => {
      const parameters = pieces.map((t, i) => [`${i}`, t.clone().requireGrad()] as const);
      const optimiser = new optim.Adam([{ parameters, rate: 0.1 }]);
      for (const [, w] of parameters) w.mul(w).sum().backward();
      optimiser.step();
      return parameters.flatMap(([, w]) => w.toNumbers());
    };
    expect(update([start])).toEqual(update(start.chunk(7, 0)));
  });
});

describe('clipping by norm as PyTorch', () => {
  describe.each(['float64', 'float32'] as const)('%s', (dtype) => {
    test.each(fixture.clip.map((c) => [c.name, c] as const))('%s', (_, given) => {
      const parameters = given.gradients.map((g) => {
        const w = zeros(g.shape, { dtype }).requireGrad();
        w.setGrad(revive(g, dtype));
        return w;
      });
      const norm = optim.clipGradients(parameters, given.limit);
      expect(norm).toBeCloseTo(Number(given.norm.data[0]), dtype === 'float64' ? 12 : 5);
      for (const [i, w] of parameters.entries())
        expectClose(w.grad!, given.clipped[i]!, tolerances[dtype], `gradient ${i}`);
    });
  });
  test('without any gradient the norm is 0', () => {
    expect(optim.clipGradients([zeros([2]).requireGrad()], 1)).toBe(0);
  });
});

describe('schedules as PyTorch', () => {
  const { constant, cosineDecay, linearDecay, stepDecay, warmup } = optim;
  const schedules: Record<string, optim.Schedule> = {
    constant,
    'warmup(5)': warmup(5),
    'linearDecay(8)': linearDecay(8),
    'linearDecay(8, 0.25)': linearDecay(8, 0.25),
    'cosineDecay(10)': cosineDecay(10),
    'cosineDecay(10, 0.1)': cosineDecay(10, 0.1),
    'stepDecay(3, 0.5)': stepDecay(3, 0.5),
    'warmup(5, linearDecay(8))': warmup(5, linearDecay(8)),
  };
  test.each(Object.entries(fixture.schedules))('%s', (name, expected) => {
    const schedule = schedules[name]!;
    for (const [step, rate] of expected.entries())
      expect(schedule(step), `step ${step}`).toBeCloseTo(rate, 12);
  });
  test('every exported schedule is in the fixture', () => {
    const names = Object.keys(fixture.schedules).join();
    for (const name of ['constant', 'warmup', 'linearDecay', 'cosineDecay', 'stepDecay'])
      expect(names).toContain(name);
  });
  test('cosineDecay stays at its floor', () => {
    expect(cosineDecay(10, 0.1)(50)).toBeCloseTo(0.1, 12);
  });
});
