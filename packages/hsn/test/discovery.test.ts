import { UserError } from '@hidden-schema/base';
import { digits, expectClose, f64, sigmoid } from '@hidden-schema/testing/closeness';
import { padded } from '@hidden-schema/text';
import { Generator, liveTensors, Tensor, tensor, zeros } from '@hidden-schema/torch';
import { TransformerText } from '@hidden-schema/transformers';
import { describe, expect, test } from 'vitest';
import { type Discovered, encodePoints, freeDiscovered } from '../src/discovery/encode.ts';
import { fitStages, fitSymbols, type StageRecord } from '../src/discovery/fit.ts';
import { evidence, inferLinks } from '../src/discovery/links.ts';
import { type DiscoveryOptions, discoveryOptions } from '../src/discovery/options.ts';
import { PursuitEncoder } from '../src/discovery/pursuit-encoder.ts';
import { PairIndex } from '../src/graph/bernoulli.ts';
import { digamma } from '../src/graph/gamma.ts';
import { countLikelyLinks } from '../src/graph/likely.ts';
import type { GraphPosterior } from '../src/graph/posterior.ts';
import type { Symbols } from '../src/symbols/symbols.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';
import { dot, plantedPoints } from './planted-points.ts';

/** Rows of a tensor [n, m] as arrays. */
function rows(matrix: Tensor): number[][] {
  const width = matrix.dim(-1);
  const all = matrix.toNumbers();
  return Array.from({ length: all.length / width }, (_, row) => all.slice(row * width, (row + 1) * width));
}

describe('planted symbols', () => {
  // Wide enough for a second and a third symbol to stand out.
  const planted = plantedPoints(1500, 12, { width: 256, noise: 0.01 });
  const told: StageRecord[] = [];
  const fitted = fitSymbols(planted.points, {
    ...{ symbols: 12, length: 3, exits: 2, density: 0.36, seed: 3 },
    onStage: (record) => told.push(record),
  });

  test('the dictionary is found again', async () => {
    const found = rows((await fitted).discovered.symbols);
    const nearest = planted.atoms.map((atom) => found.map((symbol) => dot(atom, symbol)));
    const matches = nearest.map((row) => row.indexOf(Math.max(...row)));
    expect(new Set(matches).size).toBe(12);
    for (const row of nearest) expect(Math.max(...row)).toBeGreaterThan(0.9);
  });

  test('so are the links, the first symbols, and walks keep to links', async () => {
    const { discovered, encoded } = await fitted;
    const found = rows(discovered.symbols);
    const match = found.map((symbol) => {
      const closeness = planted.atoms.map((atom) => dot(atom, symbol));
      return closeness.indexOf(Math.max(...closeness));
    });
    const links = rows(discovered.linkProbabilities);
    const agreeing = links.flatMap((row, j) =>
      row.map((p, k) => (j === k ? p === 1 : p > 0.5 === planted.links[match[j]!]![match[k]!]!)),
    );
    expect(agreeing.filter(Boolean).length / agreeing.length).toBeGreaterThan(0.9);
    const walks = rows(encoded.walks);
    const right = walks.filter((walk, n) => match[walk[0]!] === planted.walks[n]![0]);
    expect(right.length / walks.length).toBeGreaterThan(0.95);
    for (const walk of walks)
      for (let i = 1; i < walk.length; i++) expect(links[walk[i - 1]!]![walk[i]!]).toBeGreaterThan(0.5);
  });

  test('later symbols are those of the texts, hardly a false one among them, and a walk that has ended stays', async () => {
    const { discovered, encoded } = await fitted;
    const match = rows(discovered.symbols).map((symbol) => {
      const closeness = planted.atoms.map((atom) => dot(atom, symbol));
      return closeness.indexOf(Math.max(...closeness));
    });
    let [named, wrong] = [0, 0];
    for (const [n, walk] of rows(encoded.walks).entries()) {
      const later = walk.slice(1).filter((symbol, i) => symbol !== walk[i]);
      named += later.length;
      wrong += later.filter((symbol) => !planted.walks[n]!.includes(match[symbol]!)).length;
      const ended = walk.findIndex((symbol, i) => i > 0 && symbol === walk[i - 1]);
      if (ended > 0) expect(new Set(walk.slice(ended)).size).toBe(1);
    }
    // 2% of those that are named may be false, and noise decides a few.
    expect(named).toBeGreaterThan(1000);
    expect(wrong / named).toBeLessThan(0.03);
  });

  test('the stages are told in their order, the last with links and what is explained', async () => {
    const { explained, discovered } = await fitted;
    expect(told.map(({ stage }) => stage)).toEqual(fitStages);
    expect(told.map(({ done }) => done)).toEqual([1, 2, 3, 4]);
    expect(told.slice(0, 3).every(({ links }) => links === undefined)).toBe(true);
    expect(told[3]!.links).toBe(countLikelyLinks(discovered.linkProbabilities));
    expect(told[3]!.links).toBeGreaterThan(20);
    expect(told[3]!.explained).toBe(explained);
    // First symbols alone explain 0.73; walks leave out what says little beside them.
    expect(explained).toBeGreaterThan(0.8);
  });
});

test('each step is as sure as the one before, times the fade', () => {
  const sizes = { vocabulary: 9, width: 8, layers: 1, heads: 2, hidden: 8, positions: 4, dropout: 0 };
  const text = new TransformerText(sizes, new Generator(1));
  const sure = (fade: number) =>
    new PursuitEncoder(text, { length: 3, pieces: 0, dimensions: 0, sharpness: 200, fade, follow: 'rest' })
      .sharpness;
  for (const [fade, wanted] of [
    [1, [200, 200, 200]],
    [0.5, [200, 100, 50]],
  ] as const)
    for (const [i, kappa] of sure(fade).exp().toNumbers().entries()) expect(kappa).toBeCloseTo(wanted[i]!, 2);
});

test('a walk that is drawn away from the best one still follows its text', () => {
  // Symbols along the axes; 0 is linked to 1 and 2 alone, and from 3 links lead to 1 and 4.
  const K = 5;
  const links = digits('01100 10010 10001 01001 00110');
  const sizes = { vocabulary: 9, width: K, layers: 1, heads: 1, hidden: 8, positions: 4, dropout: 0 };
  const text = new TransformerText(sizes, new Generator(1));
  const kappa = 10;
  const read = { length: 2, pieces: 0, dimensions: 0, sharpness: kappa, fade: 1, follow: 'rest' } as const;
  const encoder = new PursuitEncoder(text, read);
  const axes = Array.from({ length: K }, (_, i) => Array.from({ length: K }, (_, j) => Number(i === j)));
  encoder.attach(
    { rows: () => tensor(axes) } as unknown as Symbols,
    { links: () => ({ matrix: () => tensor(links) }) } as unknown as GraphPosterior,
  );
  const x = [0.7, 0.1, 0.3, 0.6, 0.5];
  const batch = { encoder: padded([Int32Array.of(1)], { pad: 0 }), points: tensor([x]) };
  const graph = new WalkableGraph(tensor(links), 'uniform');
  const walks = WalkDistribution.fromScores(graph, encoder.scores(batch));
  // The best walk begins with 0, to which 4 has no link; one that is drawn at 3 goes on to 4 rather than to 1.
  const after = walks.following(1, Tensor.fromArray(BigInt64Array.of(3n), [1])).toNumbers();
  const [toOne, toFour] = [1, 4].map((k) => Math.exp(kappa * x[k]! ** 2));
  expect(after[4]).toBeCloseTo(toFour! / (toOne! + toFour!), 5);
  expect(after[1]).toBeCloseTo(toOne! / (toOne! + toFour!), 5);
  expect(walks.best()[0]!.walk).toEqual([0, 2]);
});

describe('links from traversals', () => {
  const K = 4;
  const traversals = [
    [0, 0.8, 0.02, 0],
    [0.6, 0, 0.5, 0.01],
    [0, 0.4, 0, 0.9],
    [0.03, 0, 0.7, 0],
  ];
  const travelled = { traversals: f64(traversals), certainty: f64(traversals) };
  const densityPrior = [1, 4] as const;

  test('the evidence is the closed form’s', () => {
    const [texts, M, pairs] = [20, 3, 6];
    const at = Array.from({ length: K }, (_, j) =>
      Array.from({ length: K }, (_, k) => [j, k] as const).slice(j + 1),
    );
    let logits = at.flat().map(() => Math.log(1 / 4));
    for (let round = 0; round < 3; round++) {
      const q = (j: number, k: number) =>
        j === k
          ? 0
          : sigmoid(logits[at.flat().findIndex(([a, b]) => a === Math.min(j, k) && b === Math.max(j, k))]!);
      const degree = (j: number) =>
        Math.max(
          1,
          [0, 1, 2, 3].reduce((sum, k) => sum + q(j, k), 0),
        );
      const departures = (j: number) => traversals[j]!.reduce((sum, c) => sum + c, 0);
      const expected = logits.reduce((sum, logit) => sum + sigmoid(logit), 0);
      const odds = digamma(1 + expected) - digamma(4 + pairs - expected);
      logits = at.flat().map(([j, k]) => {
        const used = M * (traversals[j]![k]! + traversals[k]![j]!);
        const x = texts * (used - departures(j) / degree(j) - departures(k) / degree(k)) + odds;
        return Math.abs(x) <= 12 ? x : Math.sign(x) * (12 + Math.log(Math.abs(x) / 12));
      });
    }
    const found = evidence(new PairIndex(K), travelled, { texts, densityPrior }, M);
    for (const [e, logit] of logits.entries()) expect(found[e]).toBeCloseTo(logit, 6);
  });

  test('every symbol that is travelled keeps an exit, and no pair that never is gets one', () => {
    const options = { texts: 20, density: 0.01, exits: 1, densityPrior };
    const links = rows(inferLinks(travelled, options));
    expect(links.map((row, j) => row[j])).toEqual([1, 1, 1, 1]);
    expect(links.map((row, j) => row.filter((p, k) => k !== j && p > 0.5).length)).toEqual([1, 1, 1, 1]);
    const more = rows(inferLinks(travelled, { ...options, exits: 3 }));
    expect(more[0]![3]).toBeGreaterThan(0.5);
    const none = { traversals: f64(traversals).mul(0), certainty: f64(traversals).mul(0) };
    const alone = rows(inferLinks(none, { ...options, exits: 3 }));
    expect(Math.max(...alone.flatMap((row, j) => row.filter((_, k) => k !== j)))).toBeLessThan(0.5);
  });
});

describe('the same again', () => {
  const { points } = plantedPoints(700, 10, { noise: 0.1 });
  const given = { symbols: 10, length: 4, seed: 5 };

  test('the same seed gives the same symbols and walks, another one others', async () => {
    const [one, two, other] = [
      await fitSymbols(points, given),
      await fitSymbols(points, given),
      await fitSymbols(points, { ...given, seed: 6 }),
    ];
    for (const name of ['symbols', 'starts', 'cutoffs', 'linkProbabilities'] as const)
      expect(two.discovered[name].toNumbers()).toEqual(one.discovered[name].toNumbers());
    expect(two.encoded.walks.toNumbers()).toEqual(one.encoded.walks.toNumbers());
    expect(two.encoded.coefficients.toNumbers()).toEqual(one.encoded.coefficients.toNumbers());
    expect(other.discovered.symbols.toNumbers()).not.toEqual(one.discovered.symbols.toNumbers());
  });

  test('a text alone, or among others, gets the walk it got in fitting', async () => {
    const { discovered, encoded } = await fitSymbols(points, given);
    for (const row of [0, 1, 350, 699]) {
      const alone = encodePoints(discovered, points.narrow(0, row, 1));
      for (const name of ['walks', 'coefficients'] as const)
        expect(alone[name].toNumbers()).toEqual(encoded[name].narrow(0, row, 1).toNumbers());
    }
    const late = encodePoints(discovered, points.narrow(0, 123, 400));
    expect(late.walks.toNumbers()).toEqual(encoded.walks.narrow(0, 123, 400).toNumbers());
    expect(late.coefficients.toNumbers()).toEqual(encoded.coefficients.narrow(0, 123, 400).toNumbers());
  });
});

test('points in several blocks: a text alone gets the walk it got among others', async () => {
  // 3000 points are three blocks; the last has 952.
  const { points } = plantedPoints(3000, 8, { noise: 0.1 });
  const { discovered, encoded } = await fitSymbols(points, {
    symbols: 8,
    length: 4,
    seed: 2,
    mostDiffused: 1500,
  });
  for (const row of [0, 1023, 1024, 2047, 2048, 2999]) {
    const alone = encodePoints(discovered, points.narrow(0, row, 1));
    expect(alone.walks.toNumbers(), `row ${row}`).toEqual(encoded.walks.narrow(0, row, 1).toNumbers());
    // Some processors round products of the last rows of a block otherwise.
    expectClose(alone.coefficients, encoded.coefficients.narrow(0, row, 1), 1e-5, `row ${row}`);
  }
  const stayed = rows(encoded.walks).filter((walk) => walk[3] === walk[2]).length;
  expect(stayed).toBeGreaterThan(0);
});

describe('what may come', () => {
  const fit = (points: Tensor, given = {}) => fitSymbols(points, { symbols: 5, length: 3, ...given });

  test('texts that are all the same, or say nothing', async () => {
    const same = tensor(Array.from({ length: 30 }, () => [0.6, 0.8, 0]));
    const one = await fit(same);
    expect(new Set(rows(one.encoded.walks).map(String)).size).toBe(1);
    expect(one.explained).toBeGreaterThan(0.99);
    const empty = await fit(zeros([30, 3]));
    for (const part of Object.values(empty.encoded)) expect(part.isFinite().all().item()).toBe(1);
    expect(empty.discovered.symbols.isFinite().all().item()).toBe(1);
  });

  test('as many texts as symbols, walks of every symbol, walks of one step', async () => {
    const { points } = plantedPoints(6, 6);
    const whole = await fit(points, { symbols: 6, length: 6 });
    expect(whole.encoded.walks.shape).toEqual([6, 6]);
    const short = await fit(points, { symbols: 6, length: 1 });
    expect(short.encoded.walks.shape).toEqual([6, 1]);
    expect(new Set(short.encoded.walks.toNumbers()).size).toBe(6);
  });

  test('with few texts a symbol, nearly every symbol has some', async () => {
    // Little in common, and 8 texts a symbol: many clusters would have fewer than `fewestTexts`.
    const { points } = plantedPoints(320, 12, { noise: 0.5 });
    const { encoded } = await fit(points, { symbols: 40 });
    expect(new Set(encoded.walks.select(1, 0).toNumbers()).size).toBeGreaterThan(30);
  });

  test('a symbol twice has no second coefficient', async () => {
    const { encoded } = await fit(plantedPoints(300, 8).points, {
      symbols: 8,
      length: 6,
      exits: 1,
      density: 0.01,
    });
    const coefficients = rows(encoded.coefficients);
    let again = 0;
    for (const [n, walk] of rows(encoded.walks).entries())
      for (const [i, symbol] of walk.entries())
        if (walk.indexOf(symbol) < i) {
          again++;
          expect(coefficients[n]![i]).toBe(0);
        }
    expect(again).toBeGreaterThan(0);
  });

  test('few symbols keep fewer links, so that a graph is left; what is given stays', () => {
    const exits = (given: Partial<DiscoveryOptions>) => discoveryOptions(given).exits;
    expect([exits({}), exits({ symbols: 1000 }), exits({ symbols: 20 })]).toEqual([10, 10, 7]);
    expect(exits({ symbols: 20, exits: 12 })).toBe(12);
  });

  test.each(fitStages.slice(0, 3))(
    'an abort after the stage %s ends it, and leaves no tensor behind',
    async (last) => {
      const { points } = plantedPoints(60, 5);
      const before = liveTensors().tensors;
      const stop = new AbortController();
      const seen: string[] = [];
      const fitting = fit(points, {
        signal: stop.signal,
        onStage: ({ stage }: StageRecord) => {
          seen.push(stage);
          if (stage === last) stop.abort(new Error('enough'));
        },
      });
      await expect(fitting).rejects.toThrow('enough');
      expect(seen).toEqual(fitStages.slice(0, fitStages.indexOf(last) + 1));
      expect(liveTensors().tensors).toBe(before);
    },
  );

  test('a fit leaves nothing behind but what it found', async () => {
    const { points } = plantedPoints(60, 5);
    const fitAndFree = async () => {
      const { discovered, encoded } = await fit(points);
      freeDiscovered(discovered);
      for (const part of Object.values(encoded) as Tensor[]) part.free();
      return liveTensors().tensors;
    };
    expect(await fitAndFree()).toBe(await fitAndFree());
  });

  test('mistakes are named', async () => {
    const { points } = plantedPoints(20, 5);
    await expect(fit(points, { symbols: 21 })).rejects.toThrow(
      '21 symbols need at least as many texts, got 20; ask for fewer symbols or give more texts',
    );
    await expect(fit(points, { length: 6, stays: false })).rejects.toThrow(
      'a walk of 6 steps that never stays needs as many symbols, got 5; ask for more symbols or shorter walks',
    );
    await expect(fit(points, { falseDiscoveryRate: 1.5 })).rejects.toThrow(
      'falseDiscoveryRate lies above 0 and at most at 1, got 1.5',
    );
    await expect(fit(points, { neighbours: 0 })).rejects.toThrow('neighbours is a whole number from 1');
    await expect(fit(points, { density: 0 })).rejects.toThrow('density lies above 0 and at most at 1, got 0');
    await expect(fit(points, { sharpness: Number.NaN })).rejects.toThrow(
      'sharpness is a number above 0, got NaN',
    );
    await expect(fit(points, { symbols: 2.5 })).rejects.toThrow('symbols is a whole number from 2');
    const broken = Tensor.fromArray(Float32Array.of(1, Number.NaN), [1, 2]);
    await expect(fit(broken)).rejects.toThrow('points hold NaN or infinite numbers');
    await expect(fit(zeros([0, 3]))).rejects.toThrow('got the shape [0, 3]');
    await expect(fit(zeros([9, 3], { dtype: 'float64' }))).rejects.toThrow('points are float32, got float64');
    const discovered: Discovered = {
      symbols: zeros([5, 3]),
      starts: zeros([5, 3]),
      cutoffs: zeros([5]),
      linkProbabilities: zeros([5, 5]),
      options: discoveryOptions({ symbols: 5, length: 3 }),
    };
    expect(() => encodePoints(discovered, zeros([2, 4]))).toThrow(UserError);
    expect(() => encodePoints(discovered, zeros([2, 4]))).toThrow(
      'points of width 3 were expected, got [2, 4]',
    );
  });
});
