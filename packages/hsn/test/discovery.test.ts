import { UserError } from '@hidden-schema/base';
import { digits, f64, sigmoid } from '@hidden-schema/testing/closeness';
import { allWalks } from '@hidden-schema/testing/enumeration';
import { padded } from '@hidden-schema/text';
import { Generator, Tensor, tensor, zeros } from '@hidden-schema/torch';
import { TransformerText } from '@hidden-schema/transformers';
import { describe, expect, test } from 'vitest';
import { dictionaryOf } from '../src/discovery/dictionary.ts';
import { type Discovered, encodePoints } from '../src/discovery/encode.ts';
import { fitSymbols } from '../src/discovery/fit.ts';
import { evidence, linkProbabilities } from '../src/discovery/links.ts';
import { type DiscoveryOptions, discoveryOptions } from '../src/discovery/options.ts';
import { pursue } from '../src/discovery/pursuit.ts';
import { PursuitEncoder } from '../src/discovery/pursuit-encoder.ts';
import { digamma } from '../src/graph/gamma.ts';
import { PairIndex } from '../src/graph/pairs.ts';
import type { GraphPosterior } from '../src/graph/posterior.ts';
import type { Symbols } from '../src/symbols/symbols.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkableGraph } from '../src/walk/transition.ts';
import { dot, plantedPoints, unit } from './planted-points.ts';

/** Rows of a tensor [n, m] as arrays. */
function rows(matrix: Tensor): number[][] {
  const width = matrix.dim(-1);
  const all = matrix.toNumbers();
  return Array.from({ length: all.length / width }, (_, row) => all.slice(row * width, (row + 1) * width));
}

describe('planted symbols', () => {
  const planted = plantedPoints(1500, 12);
  const fitted = fitSymbols(planted.points, { symbols: 12, length: 3, exits: 2, density: 0.36, seed: 3 });

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
      row.map((p, k) => (j === k ? p === 0 : p > 0.5 === planted.links[match[j]!]![match[k]!]!)),
    );
    expect(agreeing.filter(Boolean).length / agreeing.length).toBeGreaterThan(0.9);
    const walks = rows(encoded.walks);
    const right = walks.filter((walk, n) => match[walk[0]!] === planted.walks[n]![0]);
    expect(right.length / walks.length).toBeGreaterThan(0.95);
    for (const walk of walks)
      for (let i = 1; i < walk.length; i++) expect(links[walk[i - 1]!]![walk[i]!]).toBeGreaterThan(0.5);
  });

  test('the record tells lengths, links and what is explained', async () => {
    const { sweeps, encoded } = await fitted;
    expect(sweeps).toHaveLength(16);
    expect(sweeps.map(({ length }) => length).slice(0, 4)).toEqual([1, 2, 3, 3]);
    expect(sweeps[0]!.links).toBe(0);
    expect(sweeps.at(-1)!.links).toBeGreaterThan(20);
    expect(sweeps.at(-1)!.explained).toBeGreaterThan(0.9);
    const mean = encoded.explained.mean().item();
    expect(mean).toBeGreaterThan(0.9);
    expect(Math.abs(mean - sweeps.at(-1)!.explained)).toBeLessThan(0.05);
  });
});

describe('the posterior over walks', () => {
  const K = 4;
  const symbols = [
    unit([1, 0.2, 0, 0.1]),
    unit([0.3, 1, 0.1, 0]),
    unit([0, 0.4, 1, 0.3]),
    unit([0.2, 0, 0.1, 1]),
  ];
  const x = unit([0.8, 0.5, 0.3, 0.4]);
  /** A path 0 – 1 – 2 – 3 with the chord 0 – 2. */
  const linked = [
    [0, 0.9, 0.8, 0.1],
    [0.9, 0, 0.7, 0.2],
    [0.8, 0.7, 0, 0.6],
    [0.1, 0.2, 0.6, 0],
  ];
  const [first, later] = [3, 5];

  /** Non-negative least squares on these symbols, by many rounds of coordinates from the coefficients before. */
  function solved(taken: readonly number[], before: readonly number[]): number[] {
    const a = [...before, 0];
    for (let round = 0; round < 2; round++)
      for (const [i, k] of taken.entries()) {
        if (taken.indexOf(k) < i) continue;
        const others = taken.reduce(
          (sum, m, at) => sum + (at === i ? 0 : a[at]! * dot(symbols[k]!, symbols[m]!)),
          0,
        );
        a[i] = Math.max(0, dot(symbols[k]!, x) - others);
      }
    return a;
  }

  /** log q of one walk, from the formula above `pursue`; −∞ where it leaves the links. */
  function logProbability(walk: readonly number[], onLinks: boolean): number {
    let total = 0;
    let a: number[] = [];
    for (const [i, symbol] of walk.entries()) {
      const taken = walk.slice(0, i);
      const scores = symbols.map((e, k) => {
        if (i > 0 && onLinks && !(linked[walk[i - 1]!]![k]! > 0.5)) return Number.NEGATIVE_INFINITY;
        const seen = taken.includes(k);
        if (seen) return onLinks ? -4 * later : Number.NEGATIVE_INFINITY;
        const told = taken.reduce((sum, m, at) => sum + a[at]! * dot(symbols[m]!, e), 0);
        const c = dot(e, x) - [0, 0, 0.5, 1][i]! * told;
        return (i === 0 ? first : later) * c * Math.abs(c);
      });
      total += scores[symbol]! - Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
      a = i === 0 ? [Math.max(0, dot(symbols[symbol]!, x))] : solved(walk.slice(0, i + 1), a);
    }
    return total;
  }

  test.each([false, true])(
    'a beam wide enough finds every walk, as enumeration does (on links: %s)',
    (onLinks) => {
      const options = { length: 4, candidates: K ** 4, sharpness: { first, later } };
      const dictionary = dictionaryOf(tensor(symbols), onLinks ? tensor(linked) : undefined);
      const found = pursue(tensor([x]), dictionary, options);
      const logs = found.logProbabilities.toNumbers();
      const byName = new Map(rows(found.walks.squeeze(0)).map((walk, at) => [walk.join(' '), logs[at]!]));
      const expected = allWalks(K, 4).map((walk) => ({ walk, log: logProbability(walk, onLinks) }));
      for (const { walk, log } of expected) {
        if (log === Number.NEGATIVE_INFINITY) expect(byName.get(walk.join(' '))).toBeLessThan(-1e5);
        else expect(byName.get(walk.join(' '))).toBeCloseTo(log, 4);
      }
      const total = logs.reduce((sum, log) => sum + Math.exp(log), 0);
      expect(total).toBeCloseTo(1, 5);
      const best = expected.sort((a, b) => b.log - a.log)[0]!;
      expect(rows(found.walks.squeeze(0))[0]).toEqual(best.walk);
    },
  );
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
    const links = rows(linkProbabilities(travelled, options));
    expect(links.map((row) => row.filter((p) => p > 0.5).length)).toEqual([1, 1, 1, 1]);
    const more = rows(linkProbabilities(travelled, { ...options, exits: 3 }));
    expect(more[0]![3]).toBeGreaterThan(0.5);
    const none = { traversals: f64(traversals).mul(0), certainty: f64(traversals).mul(0) };
    expect(Math.max(...linkProbabilities(none, { ...options, exits: 3 }).toNumbers())).toBeLessThan(0.5);
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
    expect(two.discovered.symbols.toNumbers()).toEqual(one.discovered.symbols.toNumbers());
    expect(two.discovered.linkProbabilities.toNumbers()).toEqual(
      one.discovered.linkProbabilities.toNumbers(),
    );
    expect(two.encoded.walks.toNumbers()).toEqual(one.encoded.walks.toNumbers());
    expect(two.encoded.probabilities.toNumbers()).toEqual(one.encoded.probabilities.toNumbers());
    expect(other.discovered.symbols.toNumbers()).not.toEqual(one.discovered.symbols.toNumbers());
  });

  test('a text alone, or among others, gets the walk it got in fitting', async () => {
    const { discovered, encoded } = await fitSymbols(points, given);
    for (const row of [0, 1, 350, 699]) {
      const alone = encodePoints(discovered, points.narrow(0, row, 1));
      for (const name of ['walks', 'coefficients', 'candidates', 'probabilities', 'explained'] as const)
        expect(alone[name].toNumbers()).toEqual(encoded[name].narrow(0, row, 1).toNumbers());
    }
    const late = encodePoints(discovered, points.narrow(0, 123, 400));
    expect(late.walks.toNumbers()).toEqual(encoded.walks.narrow(0, 123, 400).toNumbers());
    expect(late.coefficients.toNumbers()).toEqual(encoded.coefficients.narrow(0, 123, 400).toNumbers());
  });
});

describe('what may come', () => {
  const fit = (points: Tensor, given = {}) => fitSymbols(points, { symbols: 5, length: 3, ...given });

  test('texts that are all the same, or say nothing', async () => {
    const same = tensor(Array.from({ length: 30 }, () => [0.6, 0.8, 0]));
    const one = await fit(same);
    expect(new Set(rows(one.encoded.walks).map(String)).size).toBe(1);
    expect(one.encoded.explained.toNumbers().every((share) => share > 0.99)).toBe(true);
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

  test('with few texts a symbol, symbols still settle', async () => {
    // Little in common, and 8 texts a symbol: many symbols have fewer than `fewestTexts`.
    const { points } = plantedPoints(320, 12, { noise: 0.5 });
    const { sweeps, encoded } = await fit(points, { symbols: 40 });
    const restarted = sweeps.map((record) => record.restarted);
    expect(restarted.slice(5)).toEqual(restarted.slice(5).map(() => 0));
    expect(Math.max(...restarted)).toBeLessThan(20);
    expect(new Set(encoded.walks.select(1, 0).toNumbers()).size).toBeGreaterThan(30);
  });

  test('probabilities sum to one, uncertainty is their entropy, a symbol twice has no second coefficient', async () => {
    const { encoded } = await fit(plantedPoints(300, 8).points, {
      symbols: 8,
      length: 6,
      exits: 1,
      density: 0.01,
    });
    const probabilities = rows(encoded.probabilities);
    const uncertainty = encoded.uncertainty.toNumbers();
    for (const [n, row] of probabilities.entries()) {
      expect(row.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
      expect(uncertainty[n]).toBeCloseTo(-row.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0), 4);
    }
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

  test('an abort between sweeps ends it', async () => {
    const stop = new AbortController();
    const seen: number[] = [];
    const fitting = fit(plantedPoints(60, 5).points, {
      signal: stop.signal,
      onSweep: ({ sweep }: { sweep: number }) => {
        seen.push(sweep);
        if (sweep === 2) stop.abort(new Error('enough'));
      },
    });
    await expect(fitting).rejects.toThrow('enough');
    expect(seen).toEqual([1, 2]);
  });

  test('mistakes are named', async () => {
    const { points } = plantedPoints(20, 5);
    await expect(fit(points, { symbols: 21 })).rejects.toThrow(
      '21 symbols need at least as many texts, got 20; ask for fewer symbols or give more texts',
    );
    await expect(fit(points, { length: 6 })).rejects.toThrow(
      'a walk of 6 steps needs as many symbols, got 5; ask for more symbols or shorter walks',
    );
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
      linkProbabilities: zeros([5, 5]),
      options: discoveryOptions({ symbols: 5, length: 3 }),
    };
    expect(() => encodePoints(discovered, zeros([2, 4]))).toThrow(UserError);
    expect(() => encodePoints(discovered, zeros([2, 4]))).toThrow(
      'points of width 3 were expected, got [2, 4]',
    );
  });
});
