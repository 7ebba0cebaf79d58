// What a network expects of walks once discovery has handed over those there are.
import { Random } from '@hidden-schema/base';
import { digits } from '@hidden-schema/testing/closeness';
import { Generator, noGrad, tensor, zeros } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { WalkCounts } from '../src/discovery/encode.ts';
import { adopt } from '../src/discovery/text-discovery.ts';
import { PairIndex } from '../src/graph/bernoulli.ts';
import { FreeLogits } from '../src/graph/posterior.ts';
import { Symbols } from '../src/symbols/symbols.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const [K, L] = [4, 4];
/** All links but 0 – 3. */
const probabilities = digits('1110 1111 1111 0111').map((row) => row.map((there) => (there ? 0.999 : 0.001)));

/** Walks that often end early, and go on along links. */
function someWalks(count: number): number[][] {
  const random = new Random(3);
  return Array.from({ length: count }, () => {
    const walk = [random.int(K - 1)];
    let ended = false;
    while (walk.length < L) {
      const last = walk.at(-1)!;
      ended ||= random.next() < 0.3 + 0.1 * last;
      const open = [0, 1, 2, 3].filter((k) => k !== last && !(k + last === 3 && k * last === 0));
      walk.push(ended ? last : open[random.int(open.length)]!);
    }
    return walk;
  });
}

function network(stays: boolean) {
  const symbols = Symbols.learnable(K, 2, new Generator(1));
  const graph = new FreeLogits(new PairIndex(K, stays), 0);
  const walkPrior = new WalkPrior('inhomogeneous', { nodes: K, length: L, stays }, new Generator(3));
  return { symbols, graph, walkPrior, shape: { symbols: K, length: L, sentences: 300 } };
}

describe('a prior that expects the walks there are', () => {
  const walks = someWalks(300);
  const counts = new WalkCounts({ length: L, symbols: K });
  counts.add(walks.flat());
  const found = { symbols: zeros([K, 2]), linkProbabilities: tensor(probabilities) };

  test('stays on each symbol at each step as often as they do, half a text added either way', () => {
    const model = network(true);
    adopt(model, found, counts);
    const prior = noGrad(() => model.walkPrior.on(new WalkableGraph(model.graph.links().matrix())));
    let seen = 0;
    for (let i = 1; i < L; i++) {
      const step = noGrad(() =>
        prior.transitions[i - 1]!.next(tensor(digits('1000 0100 0010 0001'))).toNumbers(),
      );
      for (let j = 0; j < K; j++) {
        const there = walks.filter((walk) => walk[i - 1] === j);
        const stayed = there.filter((walk) => walk[i] === j).length;
        seen += Number(stayed > 0 && stayed < there.length);
        expect(step[j * K + j], `step ${i}, symbol ${j}`).toBeCloseTo((stayed + 0.5) / (there.length + 1), 5);
      }
    }
    expect(seen).toBeGreaterThan(6);
  });

  test('and goes on to others by how often they are arrived at', () => {
    const model = network(true);
    adopt(model, found, counts);
    const weights = model.walkPrior.weights!.exp().toNumbers();
    for (let i = 1; i < L; i++) {
      const arrived = [0, 1, 2, 3].map(
        (k) => walks.filter((walk) => walk[i] === k && walk[i - 1] !== k).length,
      );
      const all = arrived.reduce((sum, count) => sum + count, 0);
      for (let k = 0; k < K; k++)
        expect(weights[(i - 1) * K + k]).toBeCloseTo((arrived[k]! + 1) / (all + K), 5);
    }
    const start = model.walkPrior.start!.exp().toNumbers();
    for (let k = 0; k < K; k++) {
      const first = walks.filter((walk) => walk[0] === k).length;
      expect(start[k]).toBeCloseTo((first + 1) / (walks.length + K), 5);
    }
  });

  test('where walks never stay, has the weights of all that are there', () => {
    const model = network(false);
    adopt(model, found, counts);
    expect(model.walkPrior.stays).toBeUndefined();
    const weights = model.walkPrior.weights!.exp().toNumbers();
    for (let i = 1; i < L; i++)
      for (let k = 0; k < K; k++) {
        const at = walks.filter((walk) => walk[i] === k).length;
        expect(weights[(i - 1) * K + k]).toBeCloseTo((at + 1) / (walks.length + K), 5);
      }
  });
});
