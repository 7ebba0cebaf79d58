import { digits, expectClose, expectFinite, f64, gradientOf, sum } from '@hidden-schema/testing/closeness';
import { allWalks, tableKl, walkFixtures, walkModel, walkTensor } from '@hidden-schema/testing/enumeration';
import { finiteDifferences } from '@hidden-schema/testing/finite-differences';
import { Generator, liveTensors, randn, scope, stack, type Tensor, tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { native } from '../../torch/src/native.ts';
import { type Aggregation, aggregatedKl, mutualInformation } from '../src/walk/aggregate.ts';
import { WalkDistribution } from '../src/walk/chain.ts';
import { WalkPrior } from '../src/walk/processes.ts';
import type { TransitionForm } from '../src/walk/transition.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const total = (kl: { start: Tensor; steps: Tensor }) => kl.start.add(kl.steps);

describe.each(walkFixtures)('aggregated posterior of %s', (name) => {
  const { fixture, prior, posterior, scores, one } = walkModel(name);
  const wanted = fixture.expected.aggregate;
  const walks = allWalks(fixture.K, fixture.L);
  const N = posterior.logStart.dim(0);

  test('the paper’s mean matrices', () => {
    const kl = aggregatedKl(posterior, prior, 'mean');
    expectClose(kl.start, wanted.kl_paper_terms[0]!);
    expectClose(kl.steps, sum(wanted.kl_paper_terms.slice(1)));
    expectClose(total(kl), wanted.kl_paper_mean_matrices);
  });

  test('the Markov projection', () => {
    const kl = aggregatedKl(posterior, prior, 'projection');
    expectClose(kl.start, wanted.kl_projection_terms[0]!);
    expectClose(kl.steps, sum(wanted.kl_projection_terms.slice(1)));
    expectClose(total(kl), wanted.kl_markov_projection);
  });

  test('mutual information by both', () => {
    const paper = wanted.mutual_information_with_paper_approximation;
    expectClose(mutualInformation(posterior, prior, 'mean'), paper);
    expectClose(mutualInformation(posterior, prior, 'projection'), wanted.mutual_information_with_projection);
    expectClose(posterior.kl(prior).mean(), wanted.mean_kl);
  });

  /** KL of the true mixture, over the walks that some sentence can take. */
  function mixtureKl(): Tensor {
    const tables = fixture.expected.q_walk_prob;
    const possible = walkTensor(walks.filter((_, i) => tables.some((table) => table[i]! > 0)));
    const logs = Array.from({ length: N }, (_, n) => one(n).logProb(possible));
    const mixture = stack(logs).exp().mean(0);
    return mixture.mul(mixture.log().sub(prior.logProb(possible))).sum();
  }

  test('mutual information exactly, by listing all walks', () => {
    expectClose(mixtureKl(), wanted.kl_true_mixture);
    expectClose(posterior.kl(prior).mean().sub(mixtureKl()), wanted.mutual_information_exact);
  });

  if (fixture.expected.gradients_wrt_h)
    test('gradients', () => {
      const gradients = fixture.expected.gradients_wrt_h!;
      const paper = total(aggregatedKl(posterior, prior, 'mean'));
      expectClose(gradientOf(paper, scores), gradients.kl_paper_mean_matrices);
      expectClose(gradientOf(mixtureKl(), scores), gradients.kl_true_mixture);
      const projection = (h: Tensor) =>
        total(aggregatedKl(WalkDistribution.fromScores(posterior.graph, h), prior, 'projection'));
      expectClose(gradientOf(projection(scores), scores), finiteDifferences(projection, scores, 1e-5), 1e-7);
    });
});

const nodes = 3;
const score = fc.double({ min: -4, max: 4, noNaN: true, noDefaultInfinity: true });
const arrays = <T>(element: fc.Arbitrary<T>, length: number) =>
  fc.array(element, { minLength: length, maxLength: length });
const models = fc.record({
  adjacency: arrays(arrays(fc.constantFrom(0, 1, 1, 0.4), nodes), nodes),
  form: fc.constantFrom<TransitionForm>({ kind: 'paper', constant: 0 }, { kind: 'symmetric', constant: 1 }),
  rule: fc.constantFrom('uniform' as const, 'stay' as const),
  q: arrays(arrays(arrays(score, nodes), 3), 3),
  p: arrays(arrays(arrays(score, nodes), 3), 1),
});

describe('any model', () => {
  test('the projection lies between zero and the true mixture', () => {
    fc.assert(
      fc.property(models, ({ adjacency, form, rule, q, p }) => {
        const graph = new WalkableGraph(f64(adjacency), rule);
        const prior = WalkDistribution.fromScores(graph, f64(p));
        const posterior = WalkDistribution.fromScores(graph, f64(q), form);
        const walks = walkTensor(allWalks(nodes, 3));
        const tables = q.map((h) =>
          WalkDistribution.fromScores(graph, f64([h]), form)
            .logProb(walks)
            .exp()
            .toNumbers(),
        );
        const mixture = tables[0]!.map((_, i) => sum(tables.map((table) => table[i]!)) / tables.length);
        const exact = tableKl(mixture, prior.logProb(walks).exp().toNumbers());
        const projected = total(aggregatedKl(posterior, prior, 'projection')).item();
        expect(projected).toBeLessThanOrEqual(exact + 1e-10);
        expect(projected).toBeGreaterThan(-1e-10);
        const paper = total(aggregatedKl(posterior, prior, 'mean')).item();
        expect(paper).toBeGreaterThan(-1e-10);
        expect(mutualInformation(posterior, prior, 'projection').item()).toBeGreaterThan(-1e-10);
      }),
    );
  });

  test('of one sentence, both ways give its own divergence', () => {
    fc.assert(
      fc.property(models, ({ adjacency, form, rule, q, p }) => {
        const graph = new WalkableGraph(f64(adjacency), rule);
        const prior = WalkDistribution.fromScores(graph, f64(p));
        const posterior = WalkDistribution.fromScores(graph, f64(q.slice(0, 1)), form);
        for (const how of ['mean', 'projection'] as const)
          expectClose(total(aggregatedKl(posterior, prior, how)), posterior.kl(prior), 1e-10, how);
      }),
    );
  });
});

describe('extremes stay finite', () => {
  const wild = [
    [
      [1e4, -1e4, 0],
      [1e4, -1e4, 1e4],
      [-1e4, -1e4, 1e4],
    ],
    [
      [1e4, -1e4, -1e4],
      [-1e4, -1e4, -1e4],
      [1e4, 1e4, 1e4],
    ],
  ];
  const graphs = {
    'no links': digits('000 000 000'),
    triangle: digits('011 101 110'),
    'one link': digits('010 100 000'),
    'faint links': [
      [0, 1e-7, 1e-5],
      [1e-7, 0, 1e-30],
      [1e-5, 1e-30, 0],
    ],
  };

  test.each(Object.entries(graphs))('%s, scores of ±10000', (_, links) => {
    for (const dtype of ['float32', 'float64'] as const) {
      for (const how of ['mean', 'projection'] as const) {
        for (const constant of [0, 1]) {
          const adjacency = tensor(links, { dtype }).requireGrad();
          const scores = tensor(wild, { dtype }).requireGrad();
          const graph = new WalkableGraph(adjacency);
          const q = WalkDistribution.fromScores(graph, scores, { kind: 'symmetric', constant });
          const prior = new WalkPrior('uniform', { nodes: 3, length: 3 }, new Generator(0), { dtype }).on(
            graph,
          );
          const kl = total(aggregatedKl(q, prior, how));
          const what = `${dtype}, ${how}, c = ${constant}`;
          expectFinite(kl, what);
          expectFinite(gradientOf(kl, scores), `gradient of scores, ${what}`);
          expectFinite(gradientOf(kl, adjacency), `gradient of links, ${what}`);
        }
      }
    }
  });

  test('walks of one node have no steps to pay for', () => {
    const graph = new WalkableGraph(f64(graphs.triangle));
    const q = WalkDistribution.fromScores(graph, f64([[[1, 2, 3]], [[0, 1, 0]]]));
    const prior = new WalkPrior('uniform', { nodes: 3, length: 1 }, new Generator(0), {
      dtype: 'float64',
    }).on(graph);
    for (const how of ['mean', 'projection'] as const)
      expect(aggregatedKl(q, prior, how).steps.item()).toBe(0);
  });
});

describe('no tensor of sentences × nodes × nodes', () => {
  afterEach(() => vi.restoreAllMocks());

  /** One training step's walk part, gradients included. */
  function step(
    B: number,
    L: number,
    K: number,
    form: TransitionForm,
    how: Aggregation,
    each: boolean,
  ): number {
    const generator = new Generator(7);
    const adjacency = randn([K, K], generator).gt(0.8).to('float32').requireGrad();
    const scores = randn([B, L, K], generator).requireGrad();
    const graph = new WalkableGraph(adjacency);
    const q = WalkDistribution.fromScores(graph, scores, form);
    const prior = new WalkPrior('uniform', { nodes: K, length: L }, generator).on(graph);
    const aggregated = total(aggregatedKl(q, prior, how));
    const loss = each ? q.kl(prior).mean().add(aggregated) : aggregated;
    const walk = q.sample(generator, { temperature: 0.75, hard: true });
    loss.add(stack(walk, 1).mul(scores.detach()).mean()).backward();
    expectFinite(scores.grad!.norm(), 'gradient of scores');
    expectFinite(adjacency.grad!.norm(), 'gradient of links');
    return liveTensors().bytes;
  }

  /** The most elements any operator's result had while `body` ran. */
  function largestResult(body: () => void): number {
    let largest = 0;
    const original = native.call;
    vi.spyOn(native, 'call').mockImplementation((operator, ...args) => {
      const result = original(operator, ...args);
      for (const handle of [result].flat() as number[])
        largest = Math.max(
          largest,
          native.shape(handle).reduce((a, b) => a * b, 1),
        );
      return result;
    });
    body();
    vi.restoreAllMocks();
    return largest;
  }

  const [B, L, K] = [64, 6, 150];
  const variants: [string, TransitionForm, Aggregation, boolean][] = [
    [
      'paper’s form, divergence of each sentence and mean matrices',
      { kind: 'paper', constant: 0 },
      'mean',
      true,
    ],
    [
      'paper’s form, divergence of each sentence and projection',
      { kind: 'paper', constant: 0 },
      'projection',
      true,
    ],
    ['symmetric form with c = 1, mean matrices', { kind: 'symmetric', constant: 1 }, 'mean', false],
    ['symmetric form with c = 1, projection', { kind: 'symmetric', constant: 1 }, 'projection', false],
  ];

  test.each(variants)('%s: every result is [B, L, K] or [K, K] at most', (_, form, how, each) => {
    const largest = largestResult(() => scope(() => void step(B, L, K, form, how, each)));
    expect(largest).toBe(Math.max(B * L * K, K * K));
    expect(B * K * K).toBeGreaterThan(10 * largest);
  });

  test('everything held at once, gradients still to come, is far below one step written out', () => {
    const before = liveTensors().bytes;
    const held = (b: number, k: number) =>
      scope(() => step(b, L, k, { kind: 'paper', constant: 0 }, 'mean', true)) - before;
    expect(held(B, K)).toBeLessThan(B * L * K * K * 4);
    // Twice the sentences: the growth is what belongs to sentences, and is linear in the nodes.
    const growth = held(2 * B, 400) - held(B, 400);
    expect(growth).toBeLessThan(B * 400 * 400 * 4);
  });

  test('peak memory of the process stays below the written-out matrices', () => {
    const [sentences, large] = [128, 500];
    const run = () =>
      scope(() => step(sentences, L, large, { kind: 'paper', constant: 0 }, 'projection', true));
    scope(() => step(2, L, large, { kind: 'paper', constant: 0 }, 'projection', true));
    const before = process.resourceUsage().maxRSS;
    run();
    const peak = (process.resourceUsage().maxRSS - before) * 1024;
    expect(peak).toBeLessThan((sentences * L * large * large * 4) / 2);
  });
});
