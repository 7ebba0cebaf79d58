import { Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { PairIndex } from '../src/graph/pairs.ts';
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

  test('of an optimiser are means, so that second moments stay above zero', () => {
    const moments = new Map([['symbols.vectors.second', float([1, 1, 3, 3, 5, 5, 7, 7], [K, 2])]]);
    const after = changedTensors(moments, { origins: [[0, 1], [2], [3]], texts });
    close(numbers(after, 'symbols.vectors.second'), [2.5, 2.5, 5, 5, 7, 7]);
  });
});
