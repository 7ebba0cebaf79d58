import { arange, Generator, rand, randn, scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import { WalkDistribution } from '../src/walk/chain.ts';
import { MeanFieldWalks } from '../src/walk/mean-field.ts';
import type { WalkPosterior } from '../src/walk/posterior.ts';
import { paperForm } from '../src/walk/transition.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const [B, L, K] = [5, 4, 4];

/** A ring whose last node has no link. */
const ring = [0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0];
/** Every node has one. */
const chain = [1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0];

/** Every walk of L steps over K symbols. */
const all = Array.from({ length: K ** L }, (_, n) =>
  Array.from({ length: L }, (__, i) => Math.floor(n / K ** i) % K),
);

/** Highest probability of any walk for each sentence, by trying them all. */
function highest(posterior: WalkPosterior): number[] {
  const walks = Tensor.fromArray(BigInt64Array.from(all.flat(), BigInt), [all.length, L]);
  return posterior.crossLogProb(walks).amax(1).exp().toNumbers();
}

const posteriors: [string, () => WalkPosterior][] = (['uniform', 'stay'] as const).map((isolated) => [
  `on a graph, isolated: ${isolated}`,
  () => {
    const graph = new WalkableGraph(Tensor.fromArray(Float32Array.from(ring), [K, K]), isolated);
    return WalkDistribution.fromScores(graph, randn([B, L, K], new Generator(3)).mul(2));
  },
]);
for (const form of [paperForm, { kind: 'symmetric', constant: 1 }] as const)
  posteriors.push([
    `on a graph without isolated nodes, ${form.kind} form`,
    () => {
      const graph = new WalkableGraph(Tensor.fromArray(Float32Array.from(chain), [K, K]));
      return WalkDistribution.fromScores(graph, randn([B, L, K], new Generator(6)).mul(2), form);
    },
  ]);
posteriors.push(['without a graph', () => new MeanFieldWalks(randn([B, L, K], new Generator(4)).mul(2))]);

describe.each(posteriors)('the best walk %s', (_, make) => {
  test('is the most probable of all walks, with the probability of its steps', () => {
    scope(() => {
      const posterior = make();
      const expected = highest(posterior);
      const found = posterior.best();
      expect(found).toHaveLength(B);
      for (const [b, { walk, probabilities }] of found.entries()) {
        const product = probabilities.reduce((whole, p) => whole * p, 1);
        expect(product).toBeCloseTo(expected[b]!, 5);
        const own = Tensor.fromArray(BigInt64Array.from(walk, BigInt), [1, L]);
        expect(posterior.crossLogProb(own).exp().toNumbers()[b]).toBeCloseTo(product, 5);
      }
    });
  });
});

test('differs from taking the best symbol of each step apart where links forbid that', () => {
  scope(() => {
    const graph = new WalkableGraph(Tensor.fromArray(Float32Array.from(ring), [K, K]));
    const posterior = WalkDistribution.fromScores(graph, randn([200, L, K], new Generator(5)).mul(2));
    const marginals = posterior.marginals().map((step) => step.argmax(-1).toNumbers());
    const apart = posterior
      .best()
      .filter(({ walk }, b) => walk.some((symbol, i) => symbol !== marginals[i]![b]));
    expect(apart.length).toBeGreaterThan(0);
  });
});

test('many symbols are looked through some at a time', () => {
  scope(() => {
    const symbols = 1500;
    const links = rand([symbols, symbols], new Generator(7)).gt(0.9).to('float32');
    const linked = links.mul(arange(symbols).gt(0).to('float32').unsqueeze(1)); // the first has no link
    const scores = randn([2, 2, symbols], new Generator(8)).mul(2);
    const posterior = WalkDistribution.fromScores(new WalkableGraph(linked), scores);
    const nodes = arange(symbols);
    const from = nodes.unsqueeze(1).expand(symbols, symbols).reshape(-1);
    const to = nodes.unsqueeze(0).expand(symbols, symbols).reshape(-1);
    const steps = posterior.transitions[0]!.crossLogProb(from, to).reshape(2, symbols, symbols);
    const wanted = posterior.logStart.unsqueeze(2).add(steps).reshape(2, -1).amax(1).exp().toNumbers();
    for (const [b, { probabilities }] of posterior.best().entries())
      expect(probabilities[0]! * probabilities[1]!).toBeCloseTo(wanted[b]!, 7);
  });
});
