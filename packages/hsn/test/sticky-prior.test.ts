// A prior whose links to themselves have weights of their own, against all walks of tiny graphs.
import { digits, expectClose, f64, gradientOf, sum } from '@hidden-schema/testing/closeness';
import { allWalks, tableKl, walkProbability, walkTensor } from '@hidden-schema/testing/enumeration';
import { finiteDifferences } from '@hidden-schema/testing/finite-differences';
import { Generator, noGrad, stack, Tensor, tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import { Transition, type TransitionForm } from '../src/walk/transition.ts';
import { type IsolatedRule, WalkableGraph } from '../src/walk/walkable-graph.ts';

const [K, L] = [3, 3];
const walks = allWalks(K, L);

/** One transition written out: f_k A_jk e^(s_j [j = k]), rows summing to one. */
function sticky(
  adjacency: readonly (readonly number[])[],
  f: readonly number[],
  s: readonly number[],
  rule: IsolatedRule,
): number[][] {
  return adjacency.map((links, j) => {
    const row = links.map((a, k) => a * f[k]! * (j === k ? Math.exp(s[j]!) : 1));
    if (sum(links.slice()) === 0) return row.map((_, k) => (rule === 'uniform' ? 1 / K : Number(j === k)));
    return row.map((value) => value / sum(row));
  });
}

const plain = (adjacency: readonly (readonly number[])[], f: readonly number[], rule: IsolatedRule) =>
  sticky(
    adjacency,
    f,
    f.map(() => 0),
    rule,
  );
const softmax = (row: readonly number[]) => row.map((x) => Math.exp(x) / sum(row.map(Math.exp)));
const table = (start: readonly number[], matrices: readonly number[][][]) =>
  walks.map((walk) => walkProbability(walk, start, matrices));

function priorWith(start: number[], weights: number[][], stays: number[][]): WalkPrior {
  const kind = weights.length === 1 ? 'trained' : 'inhomogeneous';
  const prior = new WalkPrior(kind, { nodes: K, length: L, stays: true }, new Generator(1), {
    dtype: 'float64',
  });
  noGrad(() => {
    prior.start!.copy_(f64(start));
    prior.weights!.copy_(f64(weights));
    prior.stays!.copy_(f64(stays));
  });
  return prior;
}

const number = fc.double({ min: -3, max: 3, noNaN: true, noDefaultInfinity: true });
const arrays = <T>(element: fc.Arbitrary<T>, length: number) =>
  fc.array(element, { minLength: length, maxLength: length });
const models = fc.record({
  // Self-loops for some, isolated nodes too, soft and hard links.
  adjacency: arrays(arrays(fc.constantFrom(0, 0, 1, 1, 0.3), K), K),
  rule: fc.constantFrom<IsolatedRule>('uniform', 'stay'),
  start: arrays(number, K),
  weights: fc.oneof(arrays(arrays(number, K), 1), arrays(arrays(number, K), L - 1)),
  stays: arrays(arrays(number, K), L - 1),
  q: arrays(arrays(arrays(number, K), L), 2),
});
type Model = typeof models extends fc.Arbitrary<infer T> ? T : never;

function made({ adjacency, rule, start, weights, stays, q }: Model, form?: TransitionForm) {
  const graph = new WalkableGraph(f64(adjacency), rule);
  const own = weights.map((_, i) => stays[i]!);
  const module = priorWith(start, weights, own);
  const at = <T>(rows: readonly T[], i: number) => rows[rows.length === 1 ? 0 : i]!;
  const matrices = [0, 1].map((i) => sticky(adjacency, at(weights, i).map(Math.exp), at(own, i), rule));
  return {
    graph,
    module,
    prior: module.on(graph),
    posterior: WalkDistribution.fromScores(graph, f64(q), form),
    matrices,
    priorTable: table(softmax(start), matrices),
  };
}

describe('a prior that stays, of any graph', () => {
  test('gives every walk its written-out probability, one by one and crosswise', () => {
    fc.assert(
      fc.property(models, (model) => {
        const { prior, priorTable } = made(model);
        expectClose(prior.logProb(walkTensor(walks)).exp(), priorTable, 1e-12);
        expectClose(prior.crossLogProb(walkTensor(walks)).exp(), priorTable, 1e-12);
        expectClose(sum(priorTable), 1, 1e-12);
      }),
    );
  });

  test('steps by the written-out matrix, and its marginals are those of the listed walks', () => {
    fc.assert(
      fc.property(models, (model) => {
        const { prior, matrices, priorTable } = made(model);
        for (const [i, matrix] of matrices.entries())
          expectClose(prior.transitions[i]!.next(f64(digits('100 010 001'))), matrix, 1e-12);
        const marginals = [0, 1, 2].map((i) =>
          [0, 1, 2].map((k) => sum(priorTable.filter((_, at) => walks[at]![i] === k))),
        );
        expectClose(stack(prior.marginals(), 1), marginals, 1e-12);
      }),
    );
  });

  test.each<TransitionForm>([
    { kind: 'paper', constant: 0 },
    { kind: 'symmetric', constant: 0.7 },
  ])('has the divergences of the listed walks: %o', (form) => {
    fc.assert(
      fc.property(models, (model) => {
        const { graph, prior, posterior, priorTable } = made(model, form);
        const tables = model.q.map((h) =>
          WalkDistribution.fromScores(graph, f64([h]), form)
            .logProb(walkTensor(walks))
            .exp()
            .toNumbers(),
        );
        expectClose(
          posterior.kl(prior),
          tables.map((one) => tableKl(one, priorTable)),
          1e-10,
        );
        // Of one sentence alone, both aggregations are its own divergence.
        const one = WalkDistribution.fromScores(graph, f64(model.q.slice(0, 1)), form);
        for (const how of ['mean', 'projection'] as const) {
          const { start, steps } = one.aggregatedKl(prior, how);
          expectClose(start.add(steps), tableKl(tables[0]!, priorTable), 1e-10, how);
        }
      }),
    );
  });

  test('has the aggregated divergences of written-out chains', () => {
    fc.assert(
      fc.property(models, (model) => {
        const { prior, posterior, matrices } = made(model);
        const { adjacency, rule, q } = model;
        const starts = q.map((h) => softmax(h[0]!));
        const steps = q.map((h) => h.slice(1).map((row) => plain(adjacency, row.map(Math.exp), rule)));
        const mean = (rows: readonly (readonly number[])[]) =>
          rows[0]!.map((_, k) => sum(rows.map((r) => r[k]!)) / rows.length);
        const priorStart = softmax(model.start);
        const start = mean(starts);
        const startKl = tableKl(start, priorStart);
        // The paper's: means of transition matrices, from the mean start.
        let [position, paper] = [start, startKl];
        // The projection: means of pairs, place by place.
        let [places, projection] = [starts, startKl];
        for (const [i, P] of matrices.entries()) {
          const Q = adjacency.map((_, j) => mean(steps.map((own) => own[i]![j]!)));
          paper += sum(Q.map((row, j) => position[j]! * tableKl(row, P[j]!)));
          position = position.map((_, k) => sum(Q.map((row, j) => position[j]! * row[k]!)));
          const visits = mean(places);
          for (const [j, visited] of visits.entries()) {
            const pairs = mean(places.map((own, n) => steps[n]![i]![j]!.map((p) => own[j]! * p)));
            projection +=
              visited *
              tableKl(
                pairs.map((p) => p / visited),
                P[j]!,
              );
          }
          places = places.map((own, n) =>
            own.map((_, k) => sum(steps[n]![i]!.map((row, j) => own[j]! * row[k]!))),
          );
        }
        const total = (how: 'mean' | 'projection') => {
          const kl = posterior.aggregatedKl(prior, how);
          return kl.start.add(kl.steps);
        };
        expectClose(total('mean'), paper, 1e-10, 'mean');
        expectClose(total('projection'), projection, 1e-10, 'projection');
      }),
    );
  });

  test('with s = 0 is the plain one', () => {
    fc.assert(
      fc.property(models, (model) => {
        const none = model.stays.map((row) => row.map(() => 0));
        const { graph, module, prior, posterior } = made({ ...model, stays: none });
        const without = new WalkPrior(
          model.weights.length === 1 ? 'trained' : 'inhomogeneous',
          { nodes: K, length: L },
          new Generator(1),
          { dtype: 'float64' },
        );
        noGrad(() => {
          without.start!.copy_(module.start!);
          without.weights!.copy_(module.weights!);
        });
        const flat = without.on(graph);
        expectClose(prior.logProb(walkTensor(walks)).exp(), flat.logProb(walkTensor(walks)).exp(), 1e-13);
        expectClose(posterior.kl(prior), posterior.kl(flat), 1e-12);
      }),
    );
  });
});

const example: Model = {
  adjacency: [
    [1, 1, 0.3],
    [1, 0.3, 0],
    [0.3, 0, 1],
  ],
  rule: 'uniform',
  start: [0.2, -1, 0.5],
  weights: [
    [0.3, -0.4, 1],
    [-1, 0.6, 0.1],
  ],
  stays: [
    [1.5, -0.7, 2],
    [0.4, 2.5, -1.2],
  ],
  q: [
    [
      [0.5, -0.2, 0],
      [1, 0.3, -1],
      [-0.4, 0.8, 0.2],
    ],
    [
      [-1, 0.7, 0.4],
      [0.2, -0.6, 0.9],
      [1.1, 0, -0.3],
    ],
  ],
};

describe('gradients of a prior that stays', () => {
  const { graph, module, posterior } = made(example);
  const values = {
    kl: (prior: WalkDistribution) => posterior.kl(prior).sum(),
    mean: (prior: WalkDistribution) => {
      const { start, steps } = posterior.aggregatedKl(prior, 'mean');
      return start.add(steps);
    },
    projection: (prior: WalkDistribution) => {
      const { start, steps } = posterior.aggregatedKl(prior, 'projection');
      return start.add(steps);
    },
    logProb: (prior: WalkDistribution) =>
      prior
        .logProb(
          walkTensor([
            [0, 0, 2],
            [1, 1, 1],
          ]),
        )
        .sum(),
    marginals: (prior: WalkDistribution) =>
      prior
        .marginals()[2]!
        .mul(f64([[1, 2, -3]]))
        .sum(),
  };

  test.each(Object.entries(values))('%s, by finite differences', (_, value) => {
    for (const name of ['start', 'weights', 'stays'] as const) {
      const at = module[name]!;
      const of = (changed: Tensor) => {
        const parts = {
          start: module.start!,
          weights: module.weights!,
          stays: module.stays!,
          [name]: changed,
        };
        const numbers = (part: Tensor, rows: number) =>
          Array.from({ length: rows }, (_, r) => part.toNumbers().slice(r * K, (r + 1) * K));
        const [start] = numbers(parts.start, 1);
        return value(priorWith(start!, numbers(parts.weights, 2), numbers(parts.stays, 2)).on(graph));
      };
      expectClose(gradientOf(value(module.on(graph)), at), finiteDifferences(of, at, 1e-5), 1e-6, name);
    }
  });

  test('links and scores, by finite differences', () => {
    const kl = (adjacency: Tensor, scores: Tensor) => {
      const own = new WalkableGraph(adjacency, 'uniform');
      return WalkDistribution.fromScores(own, scores).kl(module.on(own)).sum();
    };
    const [links, scores] = [f64(example.adjacency).requireGrad(), f64(example.q).requireGrad()];
    expectClose(
      gradientOf(kl(links, scores), scores),
      finiteDifferences((h) => kl(links, h), scores, 1e-5),
      1e-6,
    );
    expectClose(
      gradientOf(kl(links, scores), links),
      finiteDifferences((a) => kl(a, scores), links, 1e-5),
      1e-6,
    );
  });
});

test('a walk that hardly ever stays keeps its chances in float32', () => {
  const adjacency = [
    [1, 1e-4, 0],
    [1e-4, 1, 1],
    [0, 1, 1],
  ];
  const [f, s] = [
    [1, 1e-3, 0.5],
    [-18, 3, 0],
  ];
  const graph = new WalkableGraph(tensor(adjacency));
  const one = (numbers: number[]) => tensor([numbers]);
  const step = Transition.sticky(graph, one(f.map(Math.log)), one(s));
  const wanted = sticky(adjacency, f, s, 'uniform');
  const found = step.next(tensor(digits('100 010 001'))).toNumbers();
  const logs = step.crossLogProb(
    Tensor.fromArray(BigInt64Array.from([0n, 0n, 1n]), [3]),
    Tensor.fromArray(BigInt64Array.from([0n, 1n, 1n]), [3]),
  );
  for (const [at, p] of wanted.flat().entries())
    expect(found[at]! / Math.max(p, 1e-30), `${at}`).toBeCloseTo(p > 0 ? 1 : 0, 4);
  for (const [at, p] of [wanted[0]![0]!, wanted[0]![1]!, wanted[1]![1]!].entries())
    expect(logs.toNumbers()[at]).toBeCloseTo(Math.log(p), 4);
});

test('a walk of two steps has weights of its own for staying too', () => {
  const prior = new WalkPrior('inhomogeneous', { nodes: 2, length: 2, stays: true }, new Generator(1));
  noGrad(() => {
    prior.weights!.copy_(tensor([[0, 0]]));
    prior.stays!.copy_(tensor([[Math.log(3), 0]]));
  });
  const [step] = prior.on(new WalkableGraph(tensor(digits('11 11')))).transitions;
  expectClose(step!.next(tensor(digits('10 01'))), [0.75, 0.25, 0.5, 0.5], 1e-6);
});

describe('a posterior that weighs evidence by such a prior', () => {
  /** Every step's row of the prior, times exp(h), summing to one. */
  const posteriorTables = ({ start, q }: Model, matrices: readonly number[][][], alone: readonly boolean[]) =>
    q.map((h) => {
      const first = softmax(start.map((value, k) => value + h[0]![k]!));
      const steps = matrices.map((matrix, i) =>
        matrix.map((row, j) => {
          if (alone[j]) return row;
          const weighed = row.map((p, k) => p * Math.exp(h[i + 1]![k]!));
          return weighed.map((value) => value / sum(weighed));
        }),
      );
      return table(first, steps);
    });

  test('has the written-out probabilities and divergences; without evidence it is the prior', () => {
    fc.assert(
      fc.property(models, (model) => {
        const { graph, module, prior, matrices, priorTable } = made(model);
        const alone = model.adjacency.map((links) => sum(links.slice()) === 0);
        const tables = posteriorTables(model, matrices, alone);
        const posterior = module.withEvidence(graph, f64(model.q));
        expectClose(posterior.crossLogProb(walkTensor(walks)).exp(), tables, 1e-10);
        expectClose(
          posterior.kl(prior),
          tables.map((one) => tableKl(one, priorTable)),
          1e-9,
        );
        const one = module.withEvidence(graph, f64(model.q.slice(0, 1)));
        for (const how of ['mean', 'projection'] as const) {
          const { start, steps } = one.aggregatedKl(prior, how);
          expectClose(start.add(steps), tableKl(tables[0]!, priorTable), 1e-9, how);
        }
        const none = module.withEvidence(graph, f64(model.q).mul(0));
        expectClose(none.logProb(walkTensor(walks.slice(0, 2))).exp(), priorTable.slice(0, 2), 1e-12);
        expectClose(none.kl(prior), [0, 0], 1e-12);
      }),
    );
  });
});
