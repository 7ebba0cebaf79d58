import { Random } from '@hidden-schema/base';
import { allWalks } from '@hidden-schema/testing/enumeration';
import { Generator, randn, scope, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { dictionaryOf, unitRows } from '../src/discovery/dictionary.ts';
import { pursue, solveNnls } from '../src/discovery/pursuit.ts';
import { dot, unit } from './planted-points.ts';

const K = 4;
const symbols = [
  unit([1, 0.2, 0, 0.1]),
  unit([0.3, 1, 0.1, 0]),
  unit([0, 0.4, 1, 0.3]),
  unit([0.2, -0.6, 0.1, 1]),
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

/** Non-negative least squares on these symbols, by two rounds of coordinates from the coefficients before. */
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

/** A formula of the comment above `pursue`: scores of each step's symbols after a walk with its coefficients. */
type Scores = (walk: readonly number[], a: readonly number[]) => number[];

const told = (walk: readonly number[], a: readonly number[], e: readonly number[]) =>
  walk.reduce((sum, m, at) => sum + a[at]! * dot(symbols[m]!, e), 0);
const gain = (c: number) => c * Math.abs(c);

const plain =
  (onLinks: boolean): Scores =>
  (walk, a) =>
    symbols.map((e, k) => {
      const i = walk.length;
      if (i > 0 && onLinks && !(linked[walk[i - 1]!]![k]! > 0.5)) return Number.NEGATIVE_INFINITY;
      if (walk.includes(k)) return onLinks ? -4 * later : Number.NEGATIVE_INFINITY;
      return (i === 0 ? first : later) * gain(dot(e, x) - [0, 0, 0.5, 1][i]! * told(walk, a, e));
    });

const starts = [symbols[1]!, symbols[0]!, unit([0, 0, 1, 1]), unit([1, 1, 0, 1])];
const cutoffs = [0.45, 0.6, 0.3, 0.2];

const standing =
  (onLinks: boolean): Scores =>
  (walk) =>
    symbols.map((e, k) => {
      const i = walk.length;
      const last = walk[i - 1];
      if (i === 0) return first * gain(dot(starts[k]!, x));
      if (k === last) return 0;
      if (onLinks && !(linked[last!]![k]! > 0.5)) return Number.NEGATIVE_INFINITY;
      if (walk.includes(k)) return -4 * later;
      const least = cutoffs[k]! * Math.max(cutoffs[k]!, 0.75 * dot(symbols[walk[0]!]!, x));
      return later * (gain(dot(e, x)) - least);
    });

/** log q of one walk; −∞ where it leaves the links. A step that stays changes no coefficient. */
function logProbability(walk: readonly number[], scoresOf: Scores): number {
  let total = 0;
  let a: number[] = [];
  for (const [i, symbol] of walk.entries()) {
    const scores = scoresOf(walk.slice(0, i), a);
    total += scores[symbol]! - Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    if (i === 0) a = [Math.max(0, dot(symbols[symbol]!, x))];
    else a = symbol === walk[i - 1] ? [...a, 0] : solved(walk.slice(0, i + 1), a);
  }
  return total;
}

/** With 1 on the diagonal, as discovery makes them where walks may stay. */
const looped = linked.map((row, j) => row.map((p, k) => (j === k ? 1 : p)));

describe('the posterior over walks', () => {
  test.each([
    ['any step', plain(false), {}],
    ['on links', plain(true), { linkProbabilities: tensor(linked) }],
    ['that may stay, any step', standing(false), { starts: tensor(starts), cutoffs: tensor(cutoffs) }],
    [
      'that may stay, on links',
      standing(true),
      { starts: tensor(starts), cutoffs: tensor(cutoffs), linkProbabilities: tensor(looped) },
    ],
  ] as const)('a beam wide enough finds every walk, as enumeration does: %s', (_, scoresOf, reading) => {
    const options = { length: 4, candidates: K ** 4, sharpness: { first, later } };
    const found = pursue(tensor([x]), dictionaryOf(tensor(symbols), reading), options);
    const logs = found.logProbabilities.toNumbers();
    const walks = found.walks.toNumbers();
    const walkAt = (at: number) => walks.slice(4 * at, 4 * at + 4);
    const byName = new Map(logs.map((log, at) => [walkAt(at).join(' '), log]));
    const expected = allWalks(K, 4).map((walk) => ({ walk, log: logProbability(walk, scoresOf) }));
    for (const { walk, log } of expected) {
      if (log === Number.NEGATIVE_INFINITY) expect(byName.get(walk.join(' '))).toBeLessThan(-1e5);
      else expect(byName.get(walk.join(' ')), walk.join(' ')).toBeCloseTo(log, 4);
    }
    expect(logs.reduce((sum, log) => sum + Math.exp(log), 0)).toBeCloseTo(1, 5);
    const best = expected.sort((a, b) => b.log - a.log)[0]!;
    expect(walkAt(0)).toEqual(best.walk);
  });
});

describe('walks that may stay', () => {
  const [texts, count, width, length] = [400, 12, 8, 6];
  /** Points all over a small space, where symbols overlap either way, and links at random. */
  function read(seed: number) {
    const generator = new Generator(seed);
    const random = new Random(seed);
    const own = unitRows(randn([count, width], generator));
    const points = unitRows(randn([texts, width], generator));
    const cut = Array.from({ length: count }, () => 0.25 + 0.1 * random.next());
    const open = Array.from({ length: count }, () =>
      Array.from({ length: count }, () => random.next() < 0.4),
    );
    const links = open.map((row, j) => row.map((there, k) => (j === k || there || open[k]![j] ? 0.9 : 0.1)));
    const reading = { linkProbabilities: tensor(links), starts: own, cutoffs: tensor(cut) };
    const steps: number[][] = [];
    const dictionary = dictionaryOf(own, reading);
    const found = pursue(points, dictionary, {
      length,
      candidates: 1,
      sharpness: { first: 800, later: 800 },
      onStep: (_, scores) => steps.push(scores.toNumbers()),
    });
    const flat = found.walks.toNumbers();
    const walks = Array.from({ length: texts }, (_, n) => flat.slice(n * length, (n + 1) * length));
    const cosines = points.matmul(own.transpose(0, 1)).toNumbers();
    const weights = solveNnls(points, dictionary, found.walks.squeeze(1)).toNumbers();
    return { walks, cosines, cut, links, steps, coefficients: found.coefficients.toNumbers(), weights };
  }

  test('name nothing that does not stand out after the first, keep to links, and once ended stay ended', () => {
    const seen = { moves: 0, ended: 0, whole: 0 };
    for (const seed of [1, 2, 3, 4, 5])
      scope(() => {
        const { walks, cosines, cut, links } = read(seed);
        for (const [n, walk] of walks.entries()) {
          let ended = false;
          for (const [i, symbol] of walk.entries()) {
            if (i === 0) continue;
            expect(links[walk[i - 1]!]![symbol]).toBeGreaterThan(0.5);
            if (symbol === walk[i - 1]) ended = true;
            else {
              seen.moves++;
              expect(ended, walk.join(' ')).toBe(false);
              expect(cosines[n * count + symbol]!).toBeGreaterThan(cut[symbol]!);
              expect(walk.indexOf(symbol)).toBe(i);
            }
          }
          if (ended) seen.ended++;
          else seen.whole++;
        }
      });
    // All of it happens often.
    expect(Math.min(seen.moves, seen.ended)).toBeGreaterThan(1000);
    expect(seen.whole).toBeGreaterThan(3);
  });

  test('have weights that are the coefficients they were found with, none for a stay', () => {
    const { walks, coefficients, weights } = read(7);
    for (const [at, weight] of weights.entries()) expect(weight).toBeCloseTo(coefficients[at]!, 5);
    for (const [n, walk] of walks.entries())
      for (const [i, symbol] of walk.entries())
        if (i > 0 && symbol === walk[i - 1]) expect(coefficients[n * length + i]).toBe(0);
  });

  test('no symbol elsewhere outweighs the best step that is open', () => {
    const { walks, links, steps } = read(8);
    for (const [i, scores] of steps.entries()) {
      if (i === 0) continue;
      for (const [n, walk] of walks.entries()) {
        const own = scores.slice(n * count, (n + 1) * count);
        const open = own.filter((_, k) => links[walk[i - 1]!]![k]! > 0.5);
        expect(Math.max(...own)).toBe(Math.max(...open));
        expect(own[walk[i]!]).toBe(Math.max(...open));
      }
    }
  });
});
