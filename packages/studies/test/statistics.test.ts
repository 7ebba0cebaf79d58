import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { burstsOf } from '../src/measures/bursts.ts';
import { coefficientDeviations } from '../src/measures/coefficient-deviations.ts';
import { compareGroups } from '../src/measures/groups.ts';
import { walkFeatures } from '../src/measures/linear-reader.ts';
import { classProbabilities, fitLogisticRegression } from '../src/measures/logistic-regression.ts';
import { periodsOf } from '../src/measures/periods.ts';
import { predictLabels } from '../src/measures/prediction.ts';
import { countPresence } from '../src/measures/presence.ts';
import {
  benjaminiHochberg,
  cohensH,
  differenceInterval,
  fisherExact,
  homogeneityTest,
  mcNemarExact,
  upperGamma,
  wilsonInterval,
} from '../src/measures/proportions.ts';
import { studyTime } from '../src/measures/time.ts';

const fixture = <T>(name: string): T =>
  JSON.parse(
    readFileSync(new URL(`../../../fixtures/statistics/${name}.json`, import.meta.url), 'utf8'),
  ) as T;
type Rows = number[][];
const near = (value: number, wanted: number) => {
  expect(Math.abs(value - wanted)).toBeLessThan(1e-9);
  // Small p-values must be right in proportion too.
  if (wanted > 0) expect(Math.abs(value / wanted - 1)).toBeLessThan(1e-8);
};

describe('against statsmodels and scipy', () => {
  const shares = fixture<{ wilson: Rows; newcombe: Rows; effects: Rows }>('shares');
  const tests = fixture<{
    fisher: Rows;
    mcnemar: Rows;
    gamma: Rows;
    homogeneity: [[number, number][], number][];
    p: number[];
    corrected: number[];
  }>('tests');

  test('Wilson intervals, differences after Newcombe, and effects', () => {
    for (const [count, total, low, high] of shares.wilson) {
      const found = wilsonInterval(count!, total!);
      expect(found[0]).toBeCloseTo(low!, 10);
      expect(found[1]).toBeCloseTo(high!, 10);
    }
    for (const [a, n, b, m, low, high] of shares.newcombe) {
      const found = differenceInterval({ count: a!, total: n! }, { count: b!, total: m! });
      expect(found[0]).toBeCloseTo(low!, 10);
      expect(found[1]).toBeCloseTo(high!, 10);
    }
    for (const [a, n, b, m, h] of shares.effects) expect(cohensH(a! / n!, b! / m!)).toBeCloseTo(h!, 10);
  });

  test("Fisher's and McNemar's exact tests, χ², and Benjamini–Hochberg", () => {
    for (const [a, b, c, d, p] of tests.fisher) near(fisherExact(a!, b!, c!, d!), p!);
    for (const [b, c, p] of tests.mcnemar) near(mcNemarExact(b!, c!), p!);
    for (const [a, x, q] of tests.gamma) near(upperGamma(a!, x!), q!);
    for (const [groups, p] of tests.homogeneity)
      near(homogeneityTest(groups.map(([count, total]) => ({ count, total }))), p);
    const corrected = benjaminiHochberg(tests.p);
    for (const [at, p] of tests.corrected.entries()) expect(corrected[at]).toBeCloseTo(p, 12);
  });

  test('bursts are those of the cheapest of all sequences', () => {
    const { cases } = fixture<{
      cases: { counts: number[]; totals: number[]; states: number[]; gains: number[] }[];
    }>('bursts');
    expect(cases.some(({ states }) => states.includes(1))).toBe(true);
    for (const { counts, totals, states, gains } of cases) {
      const found = burstsOf(counts.map((count, at) => ({ count, total: totals[at]! })));
      const inBurst = states.map((_, at) => Number(found.some(({ from, to }) => from <= at && at <= to)));
      expect(inBurst).toEqual(states);
      const weight = found.reduce((sum, burst) => sum + burst.weight, 0);
      expect(weight).toBeCloseTo(
        gains.filter((_, at) => states[at] === 1).reduce((a, b) => a + b, 0),
        9,
      );
    }
  });
});

describe('against scikit-learn', () => {
  test('penalised coefficients, and their deviations as numpy inverts the curvature', () => {
    const { rows, labels, fitted } = fixture<{
      rows: Rows;
      labels: number[];
      fitted: { strength: number; coefficients: number[]; deviations: number[] }[];
    }>('regression');
    const uses = rows.flatMap((row) => row.map((x, at) => (x === 1 ? at : -1)));
    const features = walkFeatures({ symbols: Int32Array.from(uses), length: 6 }, 6);
    for (const { strength, coefficients, deviations } of fitted) {
      const model = fitLogisticRegression(features, labels, 2, { strength, tolerance: 1e-10 });
      const found = coefficientDeviations(features, classProbabilities(model, features, 1), strength);
      for (const [at, wanted] of coefficients.entries()) {
        expect(model.coefficients[7 + at]! - model.coefficients[at]!).toBeCloseTo(wanted, 6);
        expect(found[at]).toBeCloseTo(deviations[at]!, 6);
      }
    }
  });

  test('labels that walks tell are predicted, others are not, and only what tells has a coefficient', () => {
    // Symbols 0 and 1 follow the label, 2 and 3 a coin of their own.
    const texts = Array.from({ length: 200 }, (_, n) => [n % 2, 2 + (Math.floor(n / 2) % 2)]);
    const labelled = { walks: texts.flat(), symbols: 4, length: 2, labels: ['a', 'b'] };
    const told = predictLabels({ ...labelled, labelOf: texts.map(([first]) => first!) });
    expect(told.accuracy).toMatchObject({ count: 200, texts: 200 });
    expect(told.floor.share).toBe(0.5);
    expect(told.p).toBeLessThan(1e-20);
    const ofA = told.coefficients.filter((one) => one.label === 'a' && 'symbol' in one);
    expect(ofA.map((one) => ('symbol' in one ? one.symbol : -1)).toSorted()).toEqual([0, 1]);
    const coin = predictLabels({ ...labelled, labelOf: texts.map((_, n) => Math.floor(n / 4) % 2) });
    expect(coin.p).toBeGreaterThan(0.05);
    expect(() => predictLabels({ ...labelled, labelOf: texts.map(() => 0) })).toThrow(
      'two labels with at least 5 texts each',
    );
  });
});

/** Six texts of two groups over four symbols. */
const walks = {
  walks: [0, 1, 0, /**/ 0, 1, 2, /**/ 1, 0, 0, /**/ 2, 3, 2, /**/ 3, 2, 3, /**/ 0, 1, 1],
  symbols: 4,
  length: 3,
};

describe('groups', () => {
  test('texts are counted, each once for a symbol and for a link either way', () => {
    const { texts, symbols, links } = countPresence({ ...walks, groupOf: [0, 0, 0, 1, 1, -1], groups: 2 });
    expect(Array.from(texts)).toEqual([3, 2]);
    expect(symbols.map((counts) => Array.from(counts))).toEqual([
      [3, 0],
      [3, 0],
      [1, 2],
      [0, 2],
    ]);
    expect(links.map(({ link, counts }) => [...link, ...counts])).toEqual([
      [0, 1, 3, 0],
      [1, 2, 1, 0],
      [2, 3, 0, 2],
    ]);
  });

  test('each group beside the rest, or two beside each other', () => {
    const labelled = { ...walks, labels: ['a', 'b', 'empty'], labelOf: [0, 0, 0, 1, 1, -1] };
    const all = compareGroups(labelled, { leastTexts: 1 });
    expect(all.groups).toEqual([
      { group: 'a', texts: 3 },
      { group: 'b', texts: 2 },
    ]);
    expect(all.left).toBe(1);
    expect(all.symbols).toHaveLength(8);
    const one = all.symbols.find(({ symbol, group }) => symbol === 0 && group === 'a')!;
    expect([one.own.count, one.own.texts, one.others.count, one.others.texts]).toEqual([3, 3, 0, 2]);
    expect(one.p).toBeCloseTo(0.1, 12); // one of ten tables
    expect(one.corrected).toBeGreaterThanOrEqual(one.p);
    const pair = compareGroups(labelled, { pair: ['b', 'a'], leastTexts: 1 });
    expect(pair.symbols).toHaveLength(4);
    expect(pair.symbols.find(({ symbol }) => symbol === 0)!.difference).toBe(-1);
  });

  test('walks of a class, whose sizes are no properties of its own, are compared too', () => {
    class Encoded {
      readonly walks = walks.walks;
      readonly labels = ['a', 'b'];
      readonly labelOf = [0, 0, 0, 1, 1, 1];
      get symbols() {
        return walks.symbols;
      }
      get length() {
        return walks.length;
      }
    }
    expect(compareGroups(new Encoded(), { leastTexts: 1 }).symbols).toHaveLength(8);
  });

  test('what cannot be compared is refused in a line', () => {
    const labelled = { ...walks, labels: ['a', 'b'], labelOf: [0, 0, 0, 0, 0, 0] };
    expect(() => compareGroups(labelled)).toThrow('all texts are of the group "a"; two groups are needed');
    expect(() => compareGroups({ ...labelled, labelOf: [-1, -1, -1, -1, -1, -1] })).toThrow(
      'no text is in a group',
    );
    expect(() => compareGroups(labelled, { pair: ['a', 'c'] })).toThrow(
      'there is no group "c"; groups are a, b',
    );
    expect(() => compareGroups(labelled, { pair: ['a', 'a'] })).toThrow('cannot be compared with itself');
    expect(() => compareGroups(labelled, { pair: ['a', 'b'] })).toThrow(
      'no text read so far is of the group "b"',
    );
    const many = Array.from({ length: 60 }, (_, n) => String(n));
    const names = {
      walks: many.flatMap(() => [0, 1, 0]),
      symbols: 2,
      length: 3,
      labels: many,
      labelOf: many.map(Number),
    };
    expect(() => compareGroups(names)).toThrow('there are 60 groups of 60 texts, too many to compare');
  });
});

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

describe('time', () => {
  test('periods of each length begin where the calendar says', () => {
    const of = (length: Parameters<typeof periodsOf>[1], ...days: string[]) =>
      periodsOf(days.map(day), length).periods.map(({ label, start }) => [
        label,
        new Date(start).toISOString().slice(0, 10),
      ]);
    expect(of('decade', '1859-12-31', '1860-01-01')).toEqual([
      ['1850s', '1850-01-01'],
      ['1860s', '1860-01-01'],
    ]);
    expect(of('quarter', '2019-12-31', '2020-04-01')).toEqual([
      ['2019 Q4', '2019-10-01'],
      ['2020 Q1', '2020-01-01'],
      ['2020 Q2', '2020-04-01'],
    ]);
    expect(of('week', '2026-11-15', '2026-11-16')).toEqual([
      ['2026-11-09', '2026-11-09'],
      ['2026-11-16', '2026-11-16'],
    ]);
    expect(of('month', '0099-12-31', '0100-01-01')).toEqual([
      ['0099-12', '0099-12-01'],
      ['0100-01', '0100-01-01'],
    ]);
    expect(of('day', '1969-12-31', '1970-01-01').map(([label]) => label)).toEqual([
      '1969-12-31',
      '1970-01-01',
    ]);
  });

  test('a length is chosen for which periods have texts', () => {
    const years = Array.from({ length: 1000 }, (_, n) => day(`${1800 + (n % 200)}-01-01`));
    expect(periodsOf(years).length).toBe('decade');
    expect(periodsOf([day('2020-01-01'), Number.NaN, day('2020-06-01')]).periodOf[1]).toBe(-1);
    expect(() => periodsOf([Number.NaN])).toThrow('no text has a date');
    expect(() => periodsOf([day('0001-01-01'), day('2020-01-01')], 'day')).toThrow(
      'choose a longer one with --period',
    );
  });

  test('a planted burst is found, dated and told with its shares, and nothing else is', () => {
    // Symbol 1 is in a tenth of texts, and in most of those of 2003 and 2004.
    const texts = Array.from({ length: 1000 }, (_, n) => {
      const [year, place] = [2000 + (n % 10), Math.floor(n / 10) % 10];
      const often = year === 2003 || year === 2004 ? 7 : 1;
      return { year, second: place < often ? 1 : 2 + (n % 7) };
    });
    const study = studyTime(
      {
        walks: texts.flatMap(({ second }) => [0, second]),
        symbols: 9,
        length: 2,
        times: texts.map(({ year }) => day(`${year}-05-05`)),
      },
      { period: 'year' },
    );
    expect(study.symbols[1]!.bursts.map(({ label }) => label)).toEqual(['2003 to 2004']);
    for (const { symbol, bursts } of study.symbols) if (symbol !== 1) expect(bursts).toEqual([]);
    const [burst] = study.symbols[1]!.bursts;
    expect([burst!.inside.count, burst!.inside.texts, burst!.outside.count]).toEqual([140, 200, 80]);
    expect(study.symbols[1]!.corrected).toBeLessThan(1e-10);
    expect(study.symbols[0]!.p).toBe(1);
    expect(study.links[0]!.link).toEqual([0, 1]);
    expect(study.links[0]!.bursts.map(({ label }) => label)).toEqual(['2003 to 2004']);
  });
});
