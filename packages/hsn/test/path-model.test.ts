import { digits, sum } from '@hidden-schema/testing/closeness';
import { allWalks } from '@hidden-schema/testing/enumeration';
import { jitter } from '@hidden-schema/testing/tiny-language';
import { Generator, noGrad, scope, Tensor, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { begunByScores } from '../src/tasks/tuples/path/continuation.ts';
import { makePath, onGraph, type PathContext } from '../src/tasks/tuples/path/path-model.ts';
import type { FirstHalves } from '../src/tasks/tuples/path/walk-path.ts';
import { continueWalks, secondLogProbs } from '../src/tasks/tuples/walk-search.ts';
import { walkTensor } from '../src/tasks/tuples/walks.ts';

const K = 4;
const half = 3;
const sizes = { symbols: K, half, context: 6, hidden: 8, width: 8, layers: 2, heads: 2, dropout: 0 };

function network(kind: 'lstm' | 'transformer' | 'mlp') {
  const made = makePath(kind, sizes, new Generator(2));
  jitter(made, 1);
  return made.train(false);
}

function context(count: number): PathContext {
  const data = Float32Array.from({ length: count * 2 * 6 }, (_, i) => Math.sin(3 * i));
  const mask = tensor(Array.from({ length: count }, () => [1, 1]));
  return { hidden: Tensor.fromArray(data, [count, 2, 6]), mask };
}

const kinds = ['lstm', 'transformer', 'mlp'] as const;

describe.each(kinds)('the %s path model', (kind) => {
  test('predicts a step from those before it alone, all at once or one by one', () => {
    const model = network(kind);
    scope(() =>
      noGrad(() => {
        const first = walkTensor([[0, 1, 2]]);
        const all = model.scores(first, walkTensor([[3, 1]]), context(1)).toNumbers();
        const other = model.scores(first, walkTensor([[3, 2]]), context(1)).toNumbers();
        const short = model.scores(first, walkTensor([[3]]), context(1)).toNumbers();
        const none = model.scores(first, undefined, context(1)).toNumbers();
        expect(all).toHaveLength(3 * K);
        for (let i = 0; i < 2 * K; i++) {
          expect(other[i]).toBeCloseTo(all[i]!, 5);
          expect(short[i]).toBeCloseTo(all[i]!, 5);
          if (i < K) expect(none[i]).toBeCloseTo(all[i]!, 5);
        }
        expect(other.slice(2 * K)).not.toEqual(all.slice(2 * K));
      }),
    );
  });

  test('reads the whole first half and (s, r), but no padding', () => {
    const model = network(kind);
    scope(() =>
      noGrad(() => {
        const scores = (walk: number[], given: PathContext) =>
          model.scores(walkTensor([walk]), undefined, given).toNumbers();
        const plain = scores([0, 1, 2], context(1));
        expect(scores([3, 1, 2], context(1))).not.toEqual(plain);
        const { hidden } = context(1);
        const masked = { hidden, mask: tensor([[1, 0]]) };
        const changed = { hidden: hidden.mul(tensor([[[1], [5]]])), mask: masked.mask };
        const alone = scores([0, 1, 2], masked);
        for (const [i, value] of scores([0, 1, 2], changed).entries())
          expect(value).toBeCloseTo(alone[i]!, 4);
        expect(alone).not.toEqual(plain);
      }),
    );
  });
});

describe('steps without a link', () => {
  test('are ruled out, but from an isolated symbol all are open', () => {
    const adjacency = tensor(digits('0110 1000 1000 0000'));
    const from = walkTensor([[0, 1, 3]]);
    const p = scope(() =>
      onGraph(
        tensor([
          [
            [0, 0, 0, 0],
            [0, 1, 0, 0],
            [0, 0, 0, 0],
          ],
        ]),
        from,
        adjacency,
      )
        .softmax(-1)
        .toNumbers(),
    );
    expect(p.slice(0, 4)).toEqual([0, 0.5, 0.5, 0]);
    expect(p.slice(4, 8)).toEqual([1, 0, 0, 0]);
    expect(p.slice(8)).toEqual([0.25, 0.25, 0.25, 0.25]);
  });
});

/** A path model around a bare network; only what a search asks for. */
function searchable(kind: 'lstm' | 'transformer' | 'mlp', adjacency?: Tensor) {
  const own = network(kind);
  const scores = (first: Tensor, second: Tensor | undefined, given: PathContext) => {
    const free = own.scores(first, second, given);
    const before = first.narrow(1, half - 1, 1).toNumbers();
    const rows = second?.toNumbers() ?? [];
    const M = second?.dim(1) ?? 0;
    const from = before.map((last, b) => [last, ...rows.slice(b * M, (b + 1) * M)]);
    return adjacency ? onGraph(free, walkTensor(from), adjacency) : free;
  };
  const model = {
    train: () => model,
    free: () => {},
    context: (rows: Int32Array) => context(rows.length),
    scores,
    begin: ({ rows, first }: FirstHalves) => begunByScores(scores, first, context(rows.length)),
  };
  return model;
}

describe('search of second halves', () => {
  const firsts = [
    [0, 1, 2],
    [3, 3, 0],
  ];
  const rows = Int32Array.of(0, 1);

  /** log p of all K^3 second halves of the second first half. */
  function enumerated(model: ReturnType<typeof searchable>): { walk: number[]; logProb: number }[] {
    return allWalks(K, half).map((walk) => ({
      walk,
      logProb: scope(() =>
        noGrad(() => {
          const given = model.context(rows);
          const two = [walk.slice(0, -1), walk.slice(0, -1)];
          const logs = model
            .scores(walkTensor(firsts), walkTensor(two), given)
            .logSoftmax(-1)
            .select(0, 1)
            .toNumbers();
          return sum(walk.map((node, i) => logs[i * K + node]!));
        }),
      ),
    }));
  }

  test.each(kinds)('a beam as wide as the tree finds the best walks of all (%s)', (kind) => {
    const model = searchable(kind);
    const truth = enumerated(model).sort((a, b) => b.logProb - a.logProb);
    expect(sum(truth.map(({ logProb }) => Math.exp(logProb)))).toBeCloseTo(1, 4);
    const [, found] = continueWalks(model, { rows, first: firsts }, { how: 'beam', count: K ** half });
    expect(found).toHaveLength(K ** half);
    for (const [i, { second, logProb }] of found!.slice(0, 10).entries()) {
      expect(logProb).toBeCloseTo(truth[i]!.logProb, 4);
      expect(second).toEqual(truth[i]!.walk);
    }
  });

  test('given second halves, and those that begin with given symbols, have the probabilities of enumeration', () => {
    const model = searchable('lstm');
    const truth = enumerated(model);
    const walks = truth.map(({ walk }) => walk);
    const [, logs] = secondLogProbs(model, { rows, first: firsts }, [walks, walks]);
    for (const [i, { logProb }] of truth.entries()) expect(logs![i]).toBeCloseTo(logProb, 4);
    const along = walks.at(-1)!.slice(0, 2);
    const led = truth
      .filter(({ walk }) => walk.slice(0, 2).join() === along.join())
      .sort((a, b) => b.logProb - a.logProb);
    const [, found] = continueWalks(model, { rows, first: firsts }, { how: 'beam', count: K, along });
    expect(found!.map(({ second }) => second)).toEqual(led.map(({ walk }) => walk));
    for (const [i, { logProb }] of found!.entries()) expect(logProb).toBeCloseTo(led[i]!.logProb, 4);
  });

  test('greedy is a beam of one; samples have the right probabilities and repeat by seed', () => {
    const model = searchable('lstm');
    const greedy = continueWalks(model, { rows, first: firsts }, { how: 'greedy' });
    expect(continueWalks(model, { rows, first: firsts }, { how: 'beam', count: 1 })).toEqual(greedy);
    const sample = () =>
      continueWalks(
        model,
        { rows, first: firsts },
        { how: 'sample', count: 40, generator: new Generator(5) },
      );
    const truth = new Map(enumerated(model).map(({ walk, logProb }) => [walk.join(), logProb]));
    const drawn = sample();
    for (const { second, logProb } of drawn[1]!) expect(logProb).toBeCloseTo(truth.get(second.join())!, 4);
    expect(new Set(drawn[1]!.map(({ second }) => second.join())).size).toBeGreaterThan(3);
    expect(sample()).toEqual(drawn);
  });

  test('keeps to the graph', () => {
    const adjacency = tensor(digits('0110 1001 1001 0110'));
    for (const how of ['beam', 'sample'] as const) {
      const options = { how, count: 8, generator: new Generator(1) };
      for (const [n, found] of continueWalks(
        searchable('lstm', adjacency),
        { rows, first: firsts },
        options,
      ).entries())
        for (const { second, logProb } of found) {
          if (logProb < -1e6) continue; // a beam wider than the walks there are
          const walk = [firsts[n]!.at(-1)!, ...second];
          for (let i = 1; i < walk.length; i++)
            expect(digits('0110 1001 1001 0110')[walk[i - 1]!]![walk[i]!]).toBe(1);
        }
    }
  });

  test.each([
    [{ how: 'beam', count: 0 }, 'the number of walks is a whole number from 1, got 0'],
    [{ how: 'greedy', count: 3 }, 'greedy search finds one walk, got a count of 3'],
    [{ how: 'sample', temperature: 0 }, 'the temperature of walks is a positive number, got 0'],
  ] as const)('refuses %o', (options, message) => {
    expect(() => continueWalks(searchable('lstm'), { rows, first: firsts }, options)).toThrow(message);
  });
});
