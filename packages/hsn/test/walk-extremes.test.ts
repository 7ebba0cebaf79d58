import {
  digits,
  expectClose,
  expectFinite,
  f64,
  gradientOf,
  transpose,
} from '@hidden-schema/testing/closeness';
import { walkTensor } from '@hidden-schema/testing/enumeration';
import { Generator, stack, tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { gumbelSoftmax } from '../src/walk/categorical.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import type { TransitionForm } from '../src/walk/transition.ts';
import { type IsolatedRule, WalkableGraph } from '../src/walk/walkable-graph.ts';

const forms: readonly TransitionForm[] = [
  { kind: 'paper', constant: 0 },
  { kind: 'symmetric', constant: 0 },
  { kind: 'symmetric', constant: 0.7 },
];
const rules: readonly IsolatedRule[] = ['uniform', 'stay'];

describe('extremes stay finite', () => {
  const ring = digits('0101 1010 0101 1010');
  const nothing = ring.map((row) => row.map(() => 0));
  const halfIsolated = digits('0100 1000 0000 0000');
  const wild = [
    [
      [1e4, -1e4, 0, 1e4],
      [-1e4, 1e4, -1e4, 1e4],
      [1e4, 1e4, 1e4, -1e4],
    ],
    [
      [-1e4, -1e4, -1e4, -1e4],
      [-1e4, -1e4, -1e4, -1e4],
      [1e4, 1e4, 1e4, 1e4],
    ],
    [
      [0, 0, 0, 0],
      [1e4, -1e4, 1e4, -1e4],
      [1e4, 0, 0, -1e4],
    ],
  ];

  describe.each(['float32', 'float64'] as const)('%s', (dtype) => {
    test.each([
      ['ring', ring],
      ['no links at all', nothing],
      ['half isolated', halfIsolated],
    ] as const)('%s, scores of ±10000: divergence, samples and gradients', (_, links) => {
      for (const form of forms) {
        for (const rule of rules) {
          const adjacency = tensor(links, { dtype }).requireGrad();
          const scores = tensor(wild, { dtype }).requireGrad();
          const graph = new WalkableGraph(adjacency, rule);
          const q = WalkDistribution.fromScores(graph, scores, form);
          const prior = new WalkPrior('uniform', { nodes: 4, length: 3 }, new Generator(0), { dtype }).on(
            graph,
          );
          const walk = stack(q.sample(new Generator(1), { temperature: 0.5, hard: false }), 1);
          const loss = q
            .kl(prior)
            .sum()
            .add(walk.mul(tensor([1, 2, 3, 4], { dtype })).sum());
          expectFinite(loss, 'loss');
          expectFinite(gradientOf(loss, scores), 'gradient of scores');
          expectFinite(gradientOf(loss, adjacency), 'gradient of links');
          expectClose(
            walk.sum(-1),
            Array.from({ length: 9 }, () => 1),
            1e-5,
          );
        }
      }
    });
  });

  test('certain and impossible nodes with the noise at its ends', () => {
    for (const dtype of ['float32', 'float64'] as const) {
      for (const hard of [true, false]) {
        const p = tensor(
          [
            [0, 1, 0, 0],
            [0.5, 0, 0.5, 0],
          ],
          { dtype },
        ).requireGrad();
        const noise = tensor(
          [
            [1, 0, 1, 0.5],
            [0, 1, 1 - 6e-8, 1],
          ],
          { dtype },
        );
        const y = gumbelSoftmax(p, noise, { temperature: 0.1, hard });
        expectClose(y.sum(-1), [1, 1], 1e-6);
        expectFinite(gradientOf(y.mul(tensor([1, 2, 3, 4], { dtype })).sum(), p), `gradient in ${dtype}`);
      }
    }
  });

  test('a walk along a missing link has probability zero, from any node', () => {
    const graph = new WalkableGraph(f64(transpose(halfIsolated)), 'stay');
    const q = WalkDistribution.fromScores(
      graph,
      f64([
        [
          [0, 0, 0, 0],
          [0, 0, 0, 0],
        ],
      ]),
    );
    const logs = q
      .logProb(
        walkTensor([
          [0, 2],
          [2, 0],
          [2, 2],
          [0, 1],
        ]),
      )
      .toNumbers();
    expect(logs.slice(0, 2)).toEqual([-Infinity, -Infinity]);
    expectClose(logs.slice(2), [Math.log(1 / 4), Math.log(1 / 4)], 1e-12);
  });
});
