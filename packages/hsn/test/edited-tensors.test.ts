import { Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { PairIndex } from '../src/graph/bernoulli.ts';
import { changedTensors } from '../src/tasks/language/edited-tensors.ts';

const K = 4;
const pairs = new PairIndex(K);
const chances = [0.9, 0.2, 0.4, 0.7, 0.1, 0.6];
const logit = (p: number) => Math.log(p / (1 - p));
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const chance = (i: number, j: number) =>
  chances[
    Array.from(pairs.rows.keys()).find(
      (e) => pairs.rows[e] === Math.min(i, j) && pairs.columns[e] === Math.max(i, j),
    )!
  ]!;
const rows = [1, 0, 0, 1, 0.6, 0.8, -1, 0];
const float = (values: number[], shape: number[]) => Tensor.fromArray(Float32Array.from(values), shape);
const model = new Map([
  ['symbols.vectors', float(rows, [K, 2])],
  ['graph.logits', float(chances.map(logit), [6])],
  ['walkPrior.start', float([0.1, 0.2, 0.3, 0.4].map(Math.log), [K])],
  ['walkPrior.weights', float([1, 2, 3, 4, 5, 6, 7, 8], [2, K])],
  ['decoder.wte.weight', float([1, 2, 3, 4], [K])],
]);
const numbers = (of: Map<string, Tensor>, name: string) => of.get(name)!.toNumbers();
const close = (got: readonly number[], wanted: readonly number[]) => {
  expect(got.length).toBe(wanted.length);
  for (const [at, value] of wanted.entries()) expect(got[at], `number ${at}`).toBeCloseTo(value, 5);
};
const alone = Array.from({ length: K }, (_, k) => [k]);
const texts = [9, 29, 4, 4];

describe('the tensors of edited symbols', () => {
  test('are the same bytes where nothing changes', () => {
    const same = changedTensors(model, { origins: alone, texts });
    for (const [name, tensor] of model) expect(numbers(same, name)).toEqual(tensor.toNumbers());
  });

  test('of a merged symbol: the mean direction by texts, any of the links, all of the chances', () => {
    // 0 and 1 become one, 3 moves to 1.
    const after = changedTensors(model, { origins: [[0, 1], [3], [2]], texts });
    const mean = [(10 * 1) / 40, (30 * 1) / 40];
    const length = Math.hypot(...mean);
    close(numbers(after, 'symbols.vectors'), [mean[0]! / length, mean[1]! / length, -1, 0, 0.6, 0.8]);
    const either = (k: number) => 1 - (1 - chance(0, k)) * (1 - chance(1, k));
    close(numbers(after, 'graph.logits').map(sigmoid), [either(3), either(2), chance(3, 2)]);
    close(numbers(after, 'walkPrior.start').map(Math.exp), [0.3, 0.4, 0.3]);
    const joint = (a: number, b: number) => Math.log(Math.exp(a) + Math.exp(b));
    close(numbers(after, 'walkPrior.weights'), [joint(1, 2), 4, 3, joint(5, 6), 8, 7]);
    expect(numbers(after, 'decoder.wte.weight')).toEqual([1, 2, 3, 4]);
  });

  test('of a split symbol: what its halves turn to, their parts, and the links given for them', () => {
    const links = Float64Array.from({ length: 25 }, (_, at) => (1 + at) / 30);
    const turns = new Map([
      [0, Float32Array.of(-1, 2)],
      [4, Float32Array.of(0, 1)],
    ]);
    const parts = new Map([
      [0, 0.75],
      [4, 0.25],
    ]);
    const after = changedTensors(model, { origins: [...alone, [0]], texts, turns, parts, links });
    close(numbers(after, 'symbols.vectors'), [0, 1, ...rows.slice(2), Math.SQRT1_2, Math.SQRT1_2]);
    const five = new PairIndex(5);
    const expected = Array.from(five.rows, (i, e) => {
      const j = five.columns[e]!;
      return i === 0 || j === 4 ? links[i * 5 + j]! : chance(i, j);
    });
    close(numbers(after, 'graph.logits').map(sigmoid), expected);
    close(numbers(after, 'walkPrior.start').map(Math.exp), [0.075, 0.2, 0.3, 0.4, 0.025]);
  });

  describe('where walks may stay', () => {
    const loops = new PairIndex(K, true);
    const loopChances = [0.8, 0.9, 0.2, 0.4, 0.3, 0.7, 0.1, 0.95, 0.6, 0.5];
    const loopChance = (i: number, j: number) =>
      loopChances[
        Array.from(loops.rows.keys()).find(
          (e) => loops.rows[e] === Math.min(i, j) && loops.columns[e] === Math.max(i, j),
        )!
      ]!;
    const weights = [0.1, 0.2, 0.3, 0.4, 0.4, 0.3, 0.2, 0.1];
    const stays = [0.5, -1, 2, 0.25, 1, 0, -0.5, 3];
    const staying = new Map([
      ['symbols.vectors', float(rows, [K, 2])],
      ['encoder.starts', float([0, 1, 1, 0, 0.8, 0.6, 0, -1], [K, 2])],
      ['encoder.cutoffs', float([0.3, 0.35, 0.4, 0.45], [K])],
      ['graph.logits', float(loopChances.map(logit), [10])],
      ['walkPrior.start', float([0.1, 0.2, 0.3, 0.4].map(Math.log), [K])],
      ['walkPrior.weights', float(weights.map(Math.log), [2, K])],
      ['walkPrior.stays', float(stays, [2, K])],
      ['encoder.sharpness', float([5, 5, 5], [3])],
    ]);
    /** e^s·f, the weight of a symbol's link to itself at a step. */
    const own = (of: Map<string, Tensor>, step: number, symbol: number) => {
      const J = of.get('walkPrior.stays')!.dim(1);
      const at = step * J + symbol;
      return Math.exp(numbers(of, 'walkPrior.stays')[at]! + numbers(of, 'walkPrior.weights')[at]!);
    };

    test('nothing that does not change does', () => {
      const same = changedTensors(staying, { origins: alone, texts });
      for (const [name, tensor] of staying) expect(numbers(same, name), name).toEqual(tensor.toNumbers());
    });

    test('a merged symbol: links between its parts and to themselves are its links to itself', () => {
      const after = changedTensors(staying, { origins: [[0, 1], [3], [2]], texts });
      const missing = (...pairs: [number, number][]) =>
        pairs.reduce((product, [i, j]) => product * (1 - loopChance(i, j)), 1);
      close(numbers(after, 'graph.logits').map(sigmoid), [
        1 - missing([0, 0], [0, 1], [1, 1]),
        1 - missing([0, 3], [1, 3]),
        1 - missing([0, 2], [1, 2]),
        loopChance(3, 3),
        loopChance(2, 3),
        loopChance(2, 2),
      ]);
      const mean = [30 / 40, 10 / 40];
      const length = Math.hypot(...mean);
      close(numbers(after, 'encoder.starts'), [mean[0]! / length, mean[1]! / length, 0, -1, 0.8, 0.6]);
      close(numbers(after, 'encoder.cutoffs'), [(10 * 0.3 + 30 * 0.35) / 40, 0.45, 0.4]);
      expect(after.get('walkPrior.stays')!.shape).toEqual([2, 3]);
      for (const step of [0, 1]) {
        const log = (k: number) => Math.log(own(staying, step, k));
        expect(Math.log(own(after, step, 0))).toBeCloseTo((10 * log(0) + 30 * log(1)) / 40, 5);
        expect(own(after, step, 1)).toBeCloseTo(own(staying, step, 3), 5);
        expect(own(after, step, 2)).toBeCloseTo(own(staying, step, 2), 5);
      }
      expect(numbers(after, 'encoder.sharpness')).toEqual([5, 5, 5]);
    });

    test('a split symbol: both halves stay as it did, turn and stand out as is given for them', () => {
      const links = Float64Array.from({ length: 25 }, (_, at) => (1 + at) / 30);
      const cutoffs = Float64Array.from([0.11, 0.12, 0.13, 0.14, 0.15]);
      const turns = new Map([
        [1, Float32Array.of(0.6, -0.2)],
        [4, Float32Array.of(-0.6, -0.2)],
      ]);
      const parts = new Map([
        [1, 0.75],
        [4, 0.25],
      ]);
      const change = { origins: [...alone, [1]], texts, turns, parts, links, cutoffs };
      const after = changedTensors(staying, change);
      const five = new PairIndex(5, true);
      const expected = Array.from(five.rows, (i, e) => {
        const j = five.columns[e]!;
        return i === 1 || j === 1 || j === 4 ? links[i * 5 + j]! : loopChance(i, j);
      });
      close(numbers(after, 'graph.logits').map(sigmoid), expected);
      close(numbers(after, 'encoder.cutoffs'), [0.3, 0.12, 0.4, 0.45, 0.15]);
      const turned = ([x, y]: [number, number]) => [x / Math.hypot(x, y), y / Math.hypot(x, y)];
      const starts = numbers(after, 'encoder.starts');
      close(starts.slice(2, 4), turned([1.6, -0.2]));
      close(starts.slice(8, 10), turned([0.4, -0.2]));
      close(starts.slice(4, 8), [0.8, 0.6, 0, -1]);
      for (const step of [0, 1])
        for (const half of [1, 4]) expect(own(after, step, half)).toBeCloseTo(own(staying, step, 1), 5);
    });

    test('a new symbol: where it is given, and staying as others do', () => {
      const links = Float64Array.from({ length: 25 }, (_, at) => (at % 6 === 0 ? 1 : 0.9));
      const turns = new Map([[4, Float32Array.of(3, 4)]]);
      const cutoffs = Float64Array.from([1, 1, 1, 1, 0.2]);
      const after = changedTensors(staying, { origins: [...alone, []], texts, turns, links, cutoffs });
      close(numbers(after, 'encoder.cutoffs'), [0.3, 0.35, 0.4, 0.45, 0.2]);
      close(numbers(after, 'encoder.starts').slice(8), [0.6, 0.8]);
      close(numbers(after, 'symbols.vectors').slice(8), [0.6, 0.8]);
      const logits = numbers(after, 'graph.logits');
      expect(sigmoid(logits[14]!)).toBeCloseTo(1, 5); // to itself
      expect(sigmoid(logits[4]!)).toBeCloseTo(0.9, 5);
      expect(sigmoid(logits[0]!)).toBeCloseTo(loopChance(0, 0), 5);
      for (const step of [0, 1]) {
        const logs = [0, 1, 2, 3].map((k) => (texts[k]! + 1) * Math.log(own(staying, step, k)));
        const mean =
          logs.reduce((sum, log) => sum + log, 0) / texts.reduce((sum, count) => sum + count + 1, 0);
        expect(Math.log(own(after, step, 4))).toBeCloseTo(mean, 5);
        for (const k of [0, 1, 2, 3]) expect(own(after, step, k)).toBeCloseTo(own(staying, step, k), 5);
      }
    });

    test('moments of an optimiser are means, a pair of one symbol counted once', () => {
      const moments = new Map([
        ['graph.logits.second', float([1, 2, 0, 0, 6, 0, 0, 0, 0, 0], [10])],
        ['walkPrior.stays.first', float([1, 5, 3, 4], [1, K])],
      ]);
      const after = changedTensors(moments, { origins: [[0, 1], [2], [3]], texts });
      expect(numbers(after, 'graph.logits.second')[0]).toBeCloseTo(3, 5);
      close(numbers(after, 'walkPrior.stays.first'), [4, 3, 4]);
    });
  });

  test('of an optimiser are means, so that second moments stay above zero', () => {
    const moments = new Map([['symbols.vectors.second', float([1, 1, 3, 3, 5, 5, 7, 7], [K, 2])]]);
    const after = changedTensors(moments, { origins: [[0, 1], [2], [3]], texts });
    close(numbers(after, 'symbols.vectors.second'), [2.5, 2.5, 5, 5, 7, 7]);
  });
});
