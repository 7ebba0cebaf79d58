import { digits, f64, sum } from '@hidden-schema/testing/closeness';
import { allWalks, walkTensor, writtenOut } from '@hidden-schema/testing/enumeration';
import { tinyReasoning } from '@hidden-schema/testing/planted-run';
import { jitter } from '@hidden-schema/testing/tiny-language';
import { type PaddedIds, padded } from '@hidden-schema/text';
import { Generator, scope } from '@hidden-schema/torch';
import { TransformerText } from '@hidden-schema/transformers';
import { describe, expect, test } from 'vitest';
import { reasoningConfigSchema } from '../src/config/tuples.ts';
import { makeReasoning } from '../src/tasks/tuples/build.ts';
import { halfOf, type TwoPartEncoder } from '../src/tasks/tuples/encoder.ts';
import type { ReasoningNetwork } from '../src/tasks/tuples/network.ts';
import { symbolOf } from '../src/tasks/tuples/tuple-walk-codes.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

const K = 3;
const L = 4;

async function tinyTwoPart(warmStart: object = {}): Promise<ReasoningNetwork> {
  const sized = { symbols: K, length: L, encoder: { width: 8 }, decoder: { width: 8 } };
  const config = tinyReasoning({ ...sized, warmStart });
  const generator = new Generator(3);
  const sizes = { vocabulary: 12, width: 8, layers: 1, heads: 2, hidden: 8, positions: 16, dropout: 0 };
  const encoder = new TransformerText(sizes, generator);
  const parts = { encoder, frozen: false, decoderVocabulary: 12, tuples: 10 };
  const model = await makeReasoning(config, parts, generator);
  jitter(model, 1);
  return model.train(false);
}

const ids = (...tokens: number[]): PaddedIds => padded([Int32Array.from(tokens)], { pad: 0 });
const prefix = ids(3, 4, 9);

function softmax(values: readonly number[]): number[] {
  const exp = values.map(Math.exp);
  return exp.map((value) => value / sum(exp));
}

/** q(z_{1:L/2}|s, r) and q(z_{L/2+1:L}|z_{L/2}, s, r, o) from the scores of each block, written out. */
function byHand(model: ReasoningNetwork, whole: PaddedIds, adjacency: number[][]) {
  const rows = (flat: number[]) => Array.from({ length: L / 2 }, (_, i) => flat.slice(i * K, (i + 1) * K));
  const [first, second] = scope(() => [
    rows(model.encoder.firstScores({ prefix }).toNumbers()),
    rows((model.encoder as TwoPartEncoder).secondScores({ whole }).toNumbers()),
  ]) as [number[][], number[][]];
  // Node weights of a step are bent into the settings' range below the largest.
  const range = Number(model.config.walk.range);
  const bent = (h: number[]) => h.map((x) => Math.exp(range * Math.tanh((x - Math.max(...h)) / range)));
  const step = (h: number[]) => writtenOut(adjacency, bent(h), 'uniform');
  const start = softmax(first[0]!);
  const firstSteps = first.slice(1).map(step);
  const secondSteps = second.map(step);
  const firstHalf = ([z1, z2]: number[]) => start[z1!]! * firstSteps[0]![z1!]![z2!]!;
  const secondHalf = ([, z2, z3, z4]: number[]) => secondSteps[0]![z2!]![z3!]! * secondSteps[1]![z3!]![z4!]!;
  return { firstHalf, secondHalf };
}

describe('the two-part posterior', () => {
  // The third symbol of the second graph is isolated.
  test.each(['110 101 011', '110 110 000', '111 111 111'])(
    'equals the product by enumeration on %s',
    async (text) => {
      const model = await tinyTwoPart();
      const adjacency = digits(text);
      const whole = ids(3, 4, 9, 7, 2);
      const walks = allWalks(K, L);
      const { firstHalf, secondHalf } = byHand(model, whole, adjacency);
      const found = scope(() => {
        const graph = new WalkableGraph(f64(adjacency).to('float32'));
        const posterior = model.posterior(model.encoder.scores({ prefix, whole }), graph);
        return posterior.logProb(walkTensor(walks)).toNumbers().map(Math.exp);
      });
      for (const [z, walk] of walks.entries())
        expect(found[z]).toBeCloseTo(firstHalf(walk) * secondHalf(walk), 5);
      expect(sum(found)).toBeCloseTo(1, 4);
      model.free();
    },
  );

  test('the first half does not see the object, the second does', async () => {
    const model = await tinyTwoPart();
    const walks = allWalks(K, L);
    const marginals = [ids(3, 4, 9, 7, 2), ids(3, 4, 9, 5, 10, 6)].map((whole) =>
      scope(() => {
        const graph = new WalkableGraph(f64(digits('110 101 011')).to('float32'));
        const posterior = model.posterior(model.encoder.scores({ prefix, whole }), graph);
        const q = posterior.logProb(walkTensor(walks)).toNumbers().map(Math.exp);
        const over = (part: (walk: number[]) => string) => {
          const totals = new Map<string, number>();
          for (const [z, walk] of walks.entries())
            totals.set(part(walk), (totals.get(part(walk)) ?? 0) + q[z]!);
          return [...totals.values()];
        };
        return {
          first: over((walk) => walk.slice(0, 2).join()),
          second: over((walk) => walk.slice(2).join()),
        };
      }),
    );
    const [a, b] = marginals as [(typeof marginals)[0], (typeof marginals)[0]];
    for (const [i, p] of a.first.entries()) expect(p).toBeCloseTo(b.first[i]!, 5);
    expect(Math.max(...a.second.map((p, i) => Math.abs(p - b.second[i]!)))).toBeGreaterThan(0.01);
    model.free();
  });

  test('only objects are predicted', async () => {
    const model = await tinyTwoPart();
    const batch = {
      prefix,
      whole: ids(3, 4, 9, 7),
      decoder: ids(1, 3, 4, 9, 7, 1),
      prefixes: [4],
    };
    expect(scope(() => model.decoder.logLikelihood(batch, undefined, model.generator)).tokens).toBe(2);
    model.free();
  });
});

describe('lengths of two halves', () => {
  test.each([3, 7, 1, 0, -2, 2.5])('%s is refused', (length) => {
    expect(() => halfOf(length)).toThrow(`need an even number of steps from 2, got ${length}`);
  });
  test('less than 2 by the settings already', () => {
    expect(reasoningConfigSchema.safeParse({ model: 'reasoning', length: 1 }).success).toBe(false);
    expect(halfOf(20)).toBe(10);
  });
});

describe('codes of the warm start', () => {
  test('give every step symbols of its own while they last', () => {
    const used = Array.from({ length: 20 }, (_, step) =>
      [0, 1].map((choice) => symbolOf(step, choice, 2, 50)),
    );
    expect(new Set(used.flat()).size).toBe(40);
    expect(symbolOf(25, 1, 2, 50)).toBe(1);
  });
});

test('walks and graph have no gradient while they are held, and one after', async () => {
  const model = await tinyTwoPart({ steps: 1, hold: 2 });
  const whole = ids(3, 4, 9, 5);
  const batch = { prefix, whole, decoder: ids(1, 3, 4, 5, 2), prefixes: [3] };
  const moved = (step: number) => {
    for (const [, tensor] of model.namedParameters()) tensor.setGrad(undefined);
    scope(() => model.forward(batch, { step }).loss.backward());
    const parts = [...model.namedParameters()].filter(([, tensor]) => tensor.grad !== undefined);
    return new Set(parts.map(([name]) => name.split('.')[0]));
  };
  expect(moved(1).has('decoder')).toBe(true);
  expect(moved(1).has('encoder') || moved(1).has('graph')).toBe(false);
  expect([moved(2).has('encoder'), moved(2).has('graph')]).toEqual([true, true]);
  model.free();
});
