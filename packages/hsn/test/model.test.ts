import { Random } from '@hidden-schema/base';
import { tinyConfig } from '@hidden-schema/testing/tiny-corpus';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import type { SyntheticConfig } from '../src/config/network.ts';
import type { LossTerms } from '../src/objective/objective.ts';
import { type ModelShape, type SyntheticNetwork, syntheticNetwork } from '../src/tasks/synthetic/network.ts';

// Five symbols, seven tokens, four steps, three sentences: small enough to move every weight by hand.
const K = 5;
const V = 7;
const L = 4;
const B = 3;
const random = new Random(11);
const tokenData = Int32Array.from({ length: B * L }, () => random.int(V));
const bags = Float64Array.from({ length: K * V }, (_, at) => {
  const first = Math.floor(at / V);
  return at % V === first || at % V === (first + 3) % V ? 0.5 : 0;
});
const given: ModelShape = { symbols: K, vocabulary: V, length: L, sentences: 20, bags };
const learned: ModelShape = { symbols: K, vocabulary: V, length: L, sentences: 20 };

type Input = Parameters<typeof tinyConfig>[0] & {};
interface Case {
  shape?: ModelShape;
  graph?: Input['graph'];
  walk?: Input['walk'];
  encoder?: Input['encoder'];
  objective?: Input['objective'];
  teacher?: boolean;
}

/** Soft relaxations: the value itself is differentiable, where a hard one is not. */
function softConfig({ graph, walk, encoder, objective }: Case): SyntheticConfig {
  return tinyConfig({
    seed: 5,
    graph: { posterior: 'free', prior: 'bernoulli', hard: false, hidden: 4, symbolDimension: 3, ...graph },
    walk: { hard: false, ...walk },
    encoder: { width: 4, hidden: 4, dropout: 0, ...encoder },
    objective: { noise: 0.05, ...objective },
  });
}

/** An arbitrary posterior for the encoder to learn from. */
function teacherOf(): Tensor[] {
  const draws = new Random(12);
  return Array.from({ length: L }, () => {
    const data = Float64Array.from({ length: B * K }, () => draws.next() + 0.1);
    const tensor = Tensor.fromArray(data, [B, K]);
    return tensor.div(tensor.sum(1, true));
  });
}

/** Weights away from their start, where embeddings are tiny and logits all alike. */
function jitter(model: SyntheticNetwork): void {
  const draws = new Random(13);
  noGrad(() => {
    for (const parameter of model.parameters()) {
      const noise = Float64Array.from({ length: parameter.size }, () => 0.4 * (draws.next() - 0.5));
      parameter.add_(Tensor.fromArray(noise, parameter.shape));
    }
  });
}

/** The largest gap between the gradient and the slope, over up to four entries of every parameter. */
function worstGap(
  model: SyntheticNetwork,
  withTeacher: boolean,
): { gap: number; where: string; checked: number } {
  const state = model.generator.state();
  const loss = () =>
    scope(() => {
      model.generator.restore(state);
      const tokens = Tensor.fromArray(tokenData, [B, L]);
      return model.forward({ tokens }, { step: 3, teacher: withTeacher ? teacherOf() : undefined }).loss;
    });
  loss().backward();
  const picks = new Random(14);
  let worst = { gap: 0, where: '', checked: 0 };
  for (const [name, parameter] of model.namedParameters()) {
    const gradient = parameter.grad?.toNumbers();
    for (let i = 0; i < Math.min(4, parameter.size); i++) {
      const at = picks.int(parameter.size);
      const slope = slopeAt(parameter, at, loss);
      const gap = Math.abs((gradient?.[at] ?? 0) - slope) / Math.max(1, Math.abs(slope));
      const checked = worst.checked + 1;
      worst = gap > worst.gap ? { gap, where: `${name}[${at}]`, checked } : { ...worst, checked };
    }
  }
  return worst;
}

/** The central difference of the loss along one entry. */
function slopeAt(parameter: Tensor, at: number, loss: () => Tensor): number {
  const step = 1e-5;
  const move = (by: number) =>
    scope(() =>
      noGrad(() => {
        const data = new Float64Array(parameter.size);
        data[at] = by;
        parameter.add_(Tensor.fromArray(data, parameter.shape));
        const value = loss().item();
        data[at] = -by;
        parameter.add_(Tensor.fromArray(data, parameter.shape));
        return value;
      }),
    );
  return (move(step) - move(-step)) / (2 * step);
}

const cases: [string, Case][] = [
  ['free logits', {}],
  ['pairs of one-hot symbols', { graph: { posterior: 'pairs', layers: 2 } }],
  ['pairs of bags', { graph: { posterior: 'pairs', symbols: 'bags' } }],
  ['inner products of learnable symbols', { graph: { posterior: 'inner', symbols: 'learnable' } }],
  ['self-loops', { graph: { selfLoops: true } }],
  ['bounded node weights', { walk: { range: 0.3, expectation: 'sampled' } }],
  ['a closed-form graph', { graph: { posterior: 'closed-form' } }],
  ['a learned density', { graph: { prior: 'beta', beta: [2, 3], klWeight: 'one' } }],
  ['a learned density over pairs', { graph: { prior: 'beta', posterior: 'pairs', klWeight: 'batch' } }],
  ['a power law', { graph: { prior: 'power-law', klWeight: 'one' } }],
  ['a trained walk prior', { walk: { prior: 'trained' } }],
  ['an inhomogeneous walk prior', { walk: { prior: 'inhomogeneous' } }],
  ['sampled walks', { walk: { expectation: 'sampled', prior: 'inhomogeneous' } }],
  ['mean matrices', { objective: { aggregation: 'mean' }, walk: { prior: 'trained' } }],
  ['the elbo', { objective: { kind: 'elbo' }, walk: { prior: 'trained' } }],
  ['the elbo of sampled walks', { objective: { kind: 'elbo' }, walk: { expectation: 'sampled' } }],
  ['the symmetric form, c = 0', { walk: { form: 'symmetric', constant: 0 } }],
  ['the symmetric form, c = 1', { walk: { form: 'symmetric', constant: 1 }, objective: { kind: 'elbo' } }],
  ['the symmetric form, c = 1, aggregated', { walk: { form: 'symmetric', constant: 1 } }],
  ['the mean field', { walk: { posterior: 'mean-field', prior: 'trained' } }],
  [
    'the mean field, mean matrices',
    { walk: { posterior: 'mean-field' }, objective: { aggregation: 'mean' } },
  ],
  [
    'the mean field, sampled elbo',
    { walk: { posterior: 'mean-field', expectation: 'sampled' }, objective: { kind: 'elbo' } },
  ],
  ['queries', { encoder: { readout: 'queries', blocks: 2 } }],
  ['a teacher', { teacher: true, encoder: { readout: 'queries' } }],
  ['learned bags', { shape: learned, walk: { expectation: 'sampled' } }],
  [
    'a rising weight and a threshold',
    { objective: { beta: { kind: 'linear', steps: 10, to: 2 }, klThreshold: 0.01 } },
  ],
];

describe('gradients of the whole objective', () => {
  test.each(cases)('equal finite differences with %s', (_, it) => {
    scope(() => {
      const model = syntheticNetwork(softConfig(it), it.shape ?? given, { dtype: 'float64' });
      jitter(model);
      const { gap, where, checked } = worstGap(model, it.teacher ?? false);
      expect(checked).toBeGreaterThan(50);
      expect(gap, where).toBeLessThan(1e-6);
      model.free();
    });
  });

  test('differ from them where the relaxation is hard, as straight-through gradients must', () => {
    const hard: Case = { graph: { hard: true }, walk: { hard: true, expectation: 'sampled' } };
    scope(() => {
      const model = syntheticNetwork(softConfig(hard), given, { dtype: 'float64' });
      jitter(model);
      expect(worstGap(model, false).gap).toBeGreaterThan(1e-3);
      model.free();
    });
  });

  test('reach every parameter', () => {
    const everything: Case = {
      shape: learned,
      graph: { posterior: 'inner', symbols: 'learnable', prior: 'power-law' },
      walk: { prior: 'inhomogeneous' },
      encoder: { readout: 'queries' },
    };
    scope(() => {
      const model = syntheticNetwork(softConfig(everything), learned, { dtype: 'float64' });
      jitter(model);
      model.forward({ tokens: Tensor.fromArray(tokenData, [B, L]) }, { step: 0 }).loss.backward();
      const still = [...model.namedParameters()]
        .filter(([, parameter]) => !(parameter.grad && parameter.grad.abs().sum().item() > 0))
        .map(([name]) => name);
      expect(still).toEqual([]);
      model.free();
    });
  });
});

describe('terms of the objective', () => {
  const terms = (it: Case, step = 0): Record<keyof LossTerms, number> =>
    scope(() => {
      const model = syntheticNetwork(softConfig(it), it.shape ?? given, { dtype: 'float64' });
      const { tokens: _, ...out } = model.forward(
        { tokens: Tensor.fromArray(tokenData, [B, L]) },
        { step, teacher: it.teacher ? teacherOf() : undefined },
      );
      model.free();
      const numbers = Object.entries(out).map(([name, tensor]) => [name, (tensor as Tensor).item()]);
      return Object.fromEntries(numbers) as Record<keyof LossTerms, number>;
    });

  test.each([
    ['data', 20],
    ['batch', B],
    ['one', 1],
  ] as const)('the graph counts by %s', (klWeight, divisor) => {
    const it = terms({ graph: { klWeight, posterior: 'pairs' } });
    expect(it.graph).toBeGreaterThan(0);
    expect(it.loss).toBeCloseTo(it.reconstruction + it.walk + it.graph / divisor, 12);
  });

  test('beta, the threshold and the teacher enter as they say', () => {
    const objective = { beta: { kind: 'linear', steps: 10, to: 2 } } as const;
    const half = terms({ objective, teacher: true, graph: { klWeight: 'one' } }, 2);
    const sum = half.reconstruction + 0.4 * (half.walk + half.graph) + half.teacher;
    expect(half.loss).toBeCloseTo(sum, 12);
    const free = terms({ objective: { klThreshold: 100 }, graph: { klWeight: 'one' } });
    expect(free.loss).toBeCloseTo(free.reconstruction + 100 + free.graph, 12);
  });
});
