import {
  expectClose,
  expectFinite,
  f64,
  gradientOf,
  sigmoid,
  someLogits,
  sum,
} from '@hidden-schema/testing/closeness';
import { allBits, linkTable, tableKl } from '@hidden-schema/testing/enumeration';
import { Generator, type nn, type Tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LinkDistribution, PairIndex } from '../src/graph/bernoulli.ts';
import { FreeLogits, type GraphPosterior, InnerProduct, PairNetwork } from '../src/graph/posterior.ts';
import { BernoulliPrior, logit, PowerLawPrior } from '../src/graph/prior.ts';
import { Symbols } from '../src/symbols/symbols.ts';

const float64 = { dtype: 'float64' } as const;

describe('pairs', () => {
  test.each([false, true])('vector and matrix are each other’s inverse, self-loops %s', (selfLoops) => {
    const pairs = new PairIndex(4, selfLoops);
    expect(pairs.count).toBe(selfLoops ? 10 : 6);
    const values = Array.from({ length: pairs.count }, (_, e) => e + 1);
    const matrix = pairs.matrix(f64(values));
    expectClose(pairs.vector(matrix), values);
    expectClose(matrix, matrix.transpose(0, 1));
    const rows = matrix.toNumbers();
    for (const [e, value] of values.entries())
      expect(rows[pairs.rows[e]! * 4 + pairs.columns[e]!]).toBe(value);
    if (!selfLoops) expect([0, 5, 10, 15].map((i) => rows[i])).toEqual([0, 0, 0, 0]);
  });

  test('pairs run row by row', () => {
    const pairs = new PairIndex(3);
    expect([...pairs.rows]).toEqual([0, 0, 1]);
    expect([...pairs.columns]).toEqual([1, 2, 2]);
  });
});

describe.each([
  ['K = 4', 4, false],
  ['K = 3 with self-loops', 3, true],
] as const)('links of all 64 graphs, %s', (_, nodes, selfLoops) => {
  const pairs = new PairIndex(nodes, selfLoops);
  const logits = someLogits(pairs.count);
  const links = new LinkDistribution(pairs, f64(logits));
  const graphs = allBits(pairs.count);
  const table = linkTable(graphs, logits.map(sigmoid));

  test('log-probabilities', () => {
    expect(graphs).toHaveLength(64);
    const logs = graphs.map((bits) => links.logProb(pairs.matrix(f64(bits))).item());
    expectClose(logs.map(Math.exp), table, 1e-12);
    expectClose(sum(logs.map(Math.exp)), 1, 1e-12);
  });

  test('divergence from one probability for all, and from one for each', () => {
    const p = 0.3;
    const flat = linkTable(
      graphs,
      logits.map(() => p),
    );
    expectClose(links.kl(new BernoulliPrior(p).belief()), tableKl(table, flat), 1e-12);
    const prior = new PowerLawPrior({ p: 0.2, exponent: 2.5 }, pairs, new Generator(4), float64);
    const belief = prior.belief();
    const each = linkTable(graphs, (belief.logPresent as Tensor).exp().toNumbers());
    expectClose(
      (belief.logAbsent as Tensor).exp().add((belief.logPresent as Tensor).exp()),
      logits.map(() => 1),
      1e-12,
    );
    expectClose(links.kl(belief), tableKl(table, each), 1e-12);
  });

  test('samples have the links’ probabilities', () => {
    const generator = new Generator(9);
    const draws = 2000;
    const counts = new Array<number>(nodes * nodes).fill(0);
    for (let n = 0; n < draws; n++) {
      const sample = links.sample(generator, { temperature: 0.5, hard: true });
      for (const [i, a] of sample.toNumbers().entries()) counts[i]! += a / draws;
    }
    expectClose(counts, links.matrix(), 0.06);
  });
});

describe('relaxed links', () => {
  const logits = f64([9000, -9000, 0, 3, -3, 30]).requireGrad();
  const links = new LinkDistribution(new PairIndex(4), logits);

  test.each([0, 1e-12, 0.5, 1 - 1e-12, 1])('noise of %d gives finite values and gradients', (u) => {
    for (const hard of [true, false]) {
      const sample = links.sampleWith(f64([u, u, u, u, u, u]), { temperature: 0.1, hard });
      expectFinite(sample, 'sample');
      expectClose(sample, sample.transpose(0, 1), 1e-15);
      expectFinite(gradientOf(sample.mul(f64([1, 2, 3, 4])).sum(), logits), 'gradient');
    }
  });

  test('divergence of certain links is finite, and never negative', () => {
    const certain = links.kl(new BernoulliPrior(0.05).belief());
    expectFinite(certain, 'divergence');
    expectFinite(gradientOf(certain, logits), 'gradient');
    const finite = fc.double({ min: -50, max: 50, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(finite, { minLength: 3, maxLength: 3 }),
        fc.double({ min: 0.001, max: 0.999, noNaN: true }),
        (x, p) => {
          const kl = new LinkDistribution(new PairIndex(3), f64(x)).kl(new BernoulliPrior(p).belief()).item();
          expect(kl).toBeGreaterThan(-1e-12);
        },
      ),
    );
  });
});

describe('posterior networks', () => {
  const K = 7;
  const initialLogit = logit(0.05);
  const options = { hidden: 16, layers: 1, initialLogit, ...float64 };
  const bags = f64(
    Array.from({ length: K }, (_, i) =>
      Array.from({ length: 9 }, (_, w) => (w === i || w === i + 2 ? 0.5 : 0)),
    ),
  );
  const kinds: [string, () => Symbols, number][] = [
    ['indicators', () => Symbols.oneHot(K, float64), 0],
    ['bags of tokens', () => Symbols.bags(bags), 0],
    ['learnable', () => Symbols.learnable(K, 5, new Generator(1), float64), 1],
  ];
  const posteriors: [string, (symbols: Symbols, pairs: PairIndex) => GraphPosterior][] = [
    ['pair network', (symbols, pairs) => new PairNetwork(symbols, pairs, options, new Generator(2))],
    [
      'deeper pair network',
      (symbols, pairs) => new PairNetwork(symbols, pairs, { ...options, layers: 3 }, new Generator(2)),
    ],
    [
      'wide pair network',
      (symbols, pairs) => new PairNetwork(symbols, pairs, { ...options, hidden: 256 }, new Generator(2)),
    ],
    ['inner product', (symbols, pairs) => new InnerProduct(symbols, pairs, options, new Generator(2))],
    [
      'wide inner product',
      (symbols, pairs) => new InnerProduct(symbols, pairs, { ...options, hidden: 256 }, new Generator(2)),
    ],
    ['free logits', (_, pairs) => new FreeLogits(pairs, initialLogit, float64)],
  ];

  describe.each(posteriors)('%s', (name, make) => {
    test.each(kinds)('%s: symmetric, near the prior, trainable', (_, symbols, learned) => {
      for (const selfLoops of [false, true]) {
        const pairs = new PairIndex(K, selfLoops);
        const given = symbols();
        const posterior = make(given, pairs);
        const links = posterior.links();
        expectClose(links.matrix(), links.matrix().transpose(0, 1), 1e-15);
        for (const x of links.logits.toNumbers()) expect(Math.abs(x - initialLogit)).toBeLessThan(0.5);
        expect(given.parameters()).toHaveLength(learned);
        const weights = f64(someLogits(pairs.count));
        for (const parameter of posterior.parameters())
          expect(gradientOf(links.logits.mul(weights).sum(), parameter).norm().item()).toBeGreaterThan(0);
        if (name !== 'free logits') expect(new Set(links.logits.toNumbers()).size).toBe(pairs.count);
      }
    });
  });

  test('the pair network is g on symbol pairs side by side, both orders averaged', () => {
    const symbols = Symbols.oneHot(K, float64);
    const pairs = new PairIndex(K);
    const network = new PairNetwork(symbols, pairs, { ...options, layers: 2 }, new Generator(3));
    const weight = (t: Tensor) => t.unbind(0).map((row) => row.toNumbers());
    const [first, second] = [weight(network.first.weight), weight(network.second.weight)];
    const joint = first.map((row, unit) => [...row, ...second[unit]!]);
    const layer = (W: number[][], bias: number[], x: readonly number[]) =>
      W.map((row, unit) => sum(row.map((w, i) => w * x[i]!)) + bias[unit]!);
    const relu = (x: readonly number[]) => x.map((value) => Math.max(0, value));
    const g = (i: number, j: number) => {
      const input = Array.from({ length: 2 * K }, (_, at) => Number(at === i || at === K + j));
      let x = layer(joint, network.first.bias!.toNumbers(), input);
      for (const { weight: W, bias } of network.rest.layers) x = layer(weight(W), bias!.toNumbers(), relu(x));
      return x[0]!;
    };
    const wanted = [...pairs.rows].map(
      (i, e) => (g(i, pairs.columns[e]!) + g(pairs.columns[e]!, i)) / 2 + initialLogit,
    );
    expectClose(network.links().logits, wanted, 1e-12);
  });

  test('given symbols are a copy, indicators the identity, learnable ones have the asked size', () => {
    const source = f64([
      [1, 0],
      [0, 1],
    ]);
    const given = Symbols.bags(source);
    source.zero_();
    expectClose(given.rows(), [
      [1, 0],
      [0, 1],
    ]);
    expectClose(Symbols.oneHot(2, float64).rows(), [
      [1, 0],
      [0, 1],
    ]);
    const learnable = Symbols.learnable(50, 20, new Generator(0));
    expect(learnable.rows().shape).toEqual([50, 20]);
    expect(learnable.dimension).toBe(20);
    expectClose(learnable.rows().pow(2).sum(1).mean(), 1, 0.15);
  });

  test('names of parameters are paths', () => {
    const network: nn.Module = new PairNetwork(
      Symbols.learnable(3, 2, new Generator(0)),
      new PairIndex(3),
      options,
      new Generator(0),
    );
    const names = [...network.namedTensors()].map(([name]) => name);
    // Symbols belong to the network, where the decoder reads them too.
    expect(names.some((name) => name.startsWith('symbols'))).toBe(false);
    expect([...Symbols.learnable(3, 2, new Generator(0)).namedTensors()].map(([name]) => name)).toEqual([
      'vectors',
    ]);
    expect([...Symbols.oneHot(3).namedTensors()]).toEqual([]);
    expect(names).toContain('rest.layers.0.weight');
  });
});
