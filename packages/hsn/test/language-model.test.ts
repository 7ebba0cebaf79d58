import { Random } from '@hidden-schema/base';
import { expectClose, sum } from '@hidden-schema/testing/closeness';
import { allWalks, walkTensor } from '@hidden-schema/testing/enumeration';
import {
  fixGraph,
  jitter,
  type LanguageInput,
  likelihoods,
  tinyNetwork,
} from '@hidden-schema/testing/tiny-language';
import { padded, type TextBatch } from '@hidden-schema/text';
import { nn, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { describe, expect, test } from 'vitest';
import type { WalkEncoder } from '../src/encoder/walk-queries.ts';
import type { LanguageNetwork } from '../src/tasks/language/network.ts';
import { WalkableGraph } from '../src/walk/walkable-graph.ts';

// Three sentences of unlike length; token 1 starts them, token 2 ends them.
const sentences = [
  [3, 4, 5, 6],
  [7, 8],
  [9, 10, 3],
].map((ids) => Int32Array.from(ids));
const batch: TextBatch = {
  rows: Int32Array.of(0, 1, 2),
  encoder: padded(sentences, { pad: 0 }),
  decoder: padded(sentences, { pad: 2, begin: 1, end: 2 }),
  labels: Int32Array.of(-1, -1, -1),
};

/** Every tensor of a module in double precision, which finite differences need and settings do not offer. */
function inDouble(module: nn.Module): void {
  const widened = (member: unknown): unknown => {
    if (member instanceof nn.Module) inDouble(member);
    if (!(member instanceof Tensor)) return member;
    return nn.parameter(member.detach().to('float64')).requireGrad(member.requiresGrad);
  };
  for (const [name, member] of Object.entries(module))
    Reflect.set(module, name, Array.isArray(member) ? member.map(widened) : widened(member));
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

/** Two entries of every parameter: the worst gap between gradient and slope, and the steepest slope by name. */
function compared(model: LanguageNetwork) {
  const state = model.generator.state();
  const loss = () =>
    scope(() => {
      model.generator.restore(state);
      return model.forward(batch, { step: 3 }).loss;
    });
  loss().backward();
  const picks = new Random(14);
  let worst = { gap: 0, where: '' };
  const steepest = new Map<string, number>();
  for (const [name, parameter] of model.namedParameters()) {
    const gradient = parameter.grad?.toNumbers();
    for (let i = 0; i < Math.min(2, parameter.size); i++) {
      const at = picks.int(parameter.size);
      const slope = slopeAt(parameter, at, loss);
      const gap = Math.abs((gradient?.[at] ?? 0) - slope) / Math.max(1, Math.abs(slope));
      if (gap > worst.gap || Number.isNaN(gap)) worst = { gap, where: `${name}[${at}]` };
      steepest.set(name, Math.max(steepest.get(name) ?? 0, Math.abs(slope)));
    }
  }
  return { ...worst, steepest };
}

const cases: [string, LanguageInput][] = [
  ['the defaults', {}],
  ['dropped words', { decoder: { wordDropout: 0.4 } }],
  ['free links and the elbo', { graph: { posterior: 'free' }, objective: { kind: 'elbo' } }],
  ['mean matrices', { objective: { aggregation: 'mean' }, walk: { prior: 'trained' } }],
  ['the symmetric form', { walk: { form: 'symmetric', constant: 1, range: 2 } }],
  ['the mean field', { walk: { posterior: 'mean-field' }, objective: { kind: 'elbo' } }],
  [
    'learnable symbols, a power law',
    { graph: { posterior: 'inner', symbols: 'learnable', prior: 'power-law' } },
  ],
  ['the authors’ symbols', { decoder: { symbolAttention: 'authors' } }],
  ['an LSTM and a LLaMA decoder', { encoder: { name: 'lstm', width: 8 }, decoder: { name: 'llama' } }],
  ['a recurrent decoder', { decoder: { name: 'lstm', layers: 2 } }],
  [
    'learnable symbols in a recurrent decoder',
    { graph: { symbols: 'learnable' }, decoder: { name: 'lstm' } },
  ],
  ['walks of one step', { length: 1 }],
  ['a rising weight', { objective: { beta: { kind: 'linear', steps: 10, to: 2 }, klThreshold: 0.01 } }],
];

/** One parameter of each kind that the default settings train. */
const groups = [
  'encoder.walk.queries',
  'encoder.walk.start.weight',
  'encoder.walk.weights.weight',
  'encoder.text.embedding.weight',
  'graph.first.weight',
  'walkPrior.start',
  'walkPrior.weights',
  'decoder.transformer.h.0.attn.psa.k.weight',
  'decoder.transformer.h.0.attn.psa.v.weight',
  'decoder.transformer.wte.weight',
];

describe('gradients of the whole objective', () => {
  test.each(cases)('equal finite differences with %s', (_, settings) => {
    scope(() => {
      const model = tinyNetwork(settings);
      inDouble(model);
      jitter(model);
      const { gap, where, steepest } = compared(model);
      expect(steepest.size).toBeGreaterThan(25);
      expect(gap, where).toBeLessThan(1e-6);
      model.free();
    });
  });

  test('reach queries, heads, embeddings, graph, walk prior and symbols', () => {
    scope(() => {
      const model = tinyNetwork({});
      inDouble(model);
      jitter(model);
      model.forward(batch, { step: 3 }).loss.backward();
      const parameters = new Map(model.namedParameters());
      for (const name of groups)
        expect(parameters.get(name)?.grad?.abs().sum().item(), name).toBeGreaterThan(1e-4);
      const still = [...parameters].filter(([, p]) => !(p.grad && p.grad.abs().sum().item() > 0));
      expect(still.map(([name]) => name)).toEqual([]);
      model.free();
    });
  });

  test('leave a frozen encoder alone', () => {
    scope(() => {
      const model = tinyNetwork({}, { frozen: true });
      model.forward(batch, { step: 3 }).loss.backward();
      const names = [...model.namedParameters()].map(([name]) => name);
      expect(names.filter((name) => name.startsWith('encoder.text'))).toEqual([]);
      expect([...model.encoder.base.namedTensors()].filter(([, tensor]) => tensor.grad)).toEqual([]);
      expect((model.encoder as WalkEncoder).walk.queries.grad!.abs().sum().item()).toBeGreaterThan(0);
      model.free();
    });
  });
});

describe('a pass over a batch', () => {
  const terms = (settings: LanguageInput, step = 0) =>
    scope(() => {
      const model = tinyNetwork(settings);
      jitter(model);
      const { reconstruction, walk, graph, loss, tokens } = model.forward(batch, { step });
      const [r, w, g, l] = [reconstruction, walk, graph, loss].map((term) => term.item());
      model.free();
      return { reconstruction: r!, walk: w!, graph: g!, loss: l!, tokens };
    });

  test('predicts each sentence’s words and its end', () => {
    expect(terms({}).tokens).toBe(4 + 2 + 3 + 3);
  });

  test.each([
    ['data', 20],
    ['batch', 3],
    ['one', 1],
  ] as const)('adds the graph by %s', (klWeight, divisor) => {
    const it = terms({ graph: { klWeight } });
    expect(it.graph).toBeGreaterThan(0);
    expect(it.loss).toBeCloseTo(it.reconstruction + it.walk + it.graph / divisor, 4);
  });

  test('weighs both divergences by β and frees what is below the threshold', () => {
    const rising = { beta: { kind: 'cyclical', steps: 10, to: 2, rise: 0.5 } } as const;
    const part = terms({ objective: rising, graph: { klWeight: 'one' } }, 12);
    expect(part.loss).toBeCloseTo(part.reconstruction + 0.8 * (part.walk + part.graph), 4);
    const free = terms({ objective: { klThreshold: 50 }, graph: { klWeight: 'one' } });
    expect(free.loss).toBeCloseTo(free.reconstruction + 50 + free.graph, 4);
  });

  test('is the same with hidden states that are known already', () => {
    scope(() => {
      const model = tinyNetwork({}, { frozen: true });
      const state = model.generator.state();
      const { encoder } = batch;
      const known = model.encoder.states(encoder);
      const losses = [undefined, known].map((states) => {
        model.generator.restore(state);
        return model.forward({ ...batch, states }, { step: 0 }).loss.item();
      });
      expect(losses[1]).toBe(losses[0]);
      model.free();
    });
  });

  test('drops words in training alone', () => {
    scope(() => {
      const model = tinyNetwork({ decoder: { wordDropout: 0.5 } });
      jitter(model);
      const state = model.generator.state();
      const loss = (training: boolean, rate: number) => {
        model.train(training);
        model.decoder.wordDropout = rate;
        model.generator.restore(state);
        return model.forward(batch, { step: 0 }).reconstruction.item();
      };
      expect(loss(false, 0.5)).toBe(loss(false, 0));
      expect(loss(true, 0)).toBe(loss(false, 0));
      expect(Math.abs(loss(true, 0.5) - loss(true, 0))).toBeGreaterThan(1e-3);
      model.free();
    });
  });

  test.each([
    ['graph', 'uniform'],
    ['graph', 'stay'],
    ['mean-field', 'uniform'],
  ] as const)(
    'has the expected reconstruction and divergence of %s walks, isolated %s',
    (posterior, isolated) => {
      scope(() => {
        const model = tinyNetwork({
          graph: { posterior: 'free', hard: true },
          walk: { posterior, isolated, hard: true },
          objective: { kind: 'elbo' },
        });
        jitter(model);
        fixGraph(model, ['0 1', '1 2', '2 2']); // a path with a loop at its end, and 3 alone
        const wanted = noGrad(() => byEnumeration(model));
        const draws = Array.from({ length: 150 }, () =>
          scope(() => noGrad(() => model.forward(batch, { step: 0 }).reconstruction.item())),
        );
        const mean = sum(draws) / draws.length;
        const spread = sum(draws.map((value) => (value - mean) ** 2)) / (draws.length - 1);
        const error = Math.sqrt(spread / draws.length);
        expect(wanted.spread, 'walks matter to the decoder').toBeGreaterThan(0.05);
        expect(Math.abs(mean - wanted.reconstruction)).toBeLessThan(4 * error);
        const kl = scope(() => noGrad(() => model.forward(batch, { step: 0 }).walk.item()));
        // A mean field takes steps that are no link; what those cost is a convention, tested with it.
        if (posterior === 'graph') expect(kl).toBeCloseTo(wanted.kl, 4);
        model.free();
      });
    },
  );
});

/** Means over sentences of E_q −log p(x|z) and Σ q log(q/p), over all K^L walks. */
function byEnumeration(model: LanguageNetwork) {
  const walks = allWalks(model.config.symbols, model.config.length);
  const nodes = walkTensor(walks);
  const adjacency = model.graph.links().sample(model.generator, { hard: true, temperature: 1 });
  const graph = new WalkableGraph(adjacency, model.config.walk.isolated);
  const prior = model.walkPrior.on(graph).logProb(nodes).toNumbers();
  const cross = model.posterior(model.encoder.scores(batch), graph).crossLogProb(nodes);
  const parts = cross.unbind(0).map((row, b) => {
    const q = row.exp().toNumbers();
    expect(sum(q)).toBeCloseTo(1, 5);
    const log = likelihoods(model, Int32Array.from([1, ...sentences[b]!, 2]), walks);
    const kl = sum(q.map((p, z) => (p > 0 ? p * (Math.log(p) - prior[z]!) : 0)));
    return {
      reconstruction: -sum(q.map((p, z) => p * log[z]!)),
      kl,
      spread: Math.max(...log) - Math.min(...log),
    };
  });
  const mean = (of: (part: (typeof parts)[number]) => number) => sum(parts.map(of)) / parts.length;
  return {
    reconstruction: mean((part) => part.reconstruction),
    kl: mean((part) => part.kl),
    spread: mean((part) => part.spread),
  };
}

describe('scores', () => {
  test('are the same in a batch and alone', () => {
    scope(() => {
      for (const name of ['transformer', 'lstm']) {
        const model = tinyNetwork({ encoder: { name } });
        const together = noGrad(() => model.encoder.scores(batch));
        for (const [b, sentence] of sentences.entries()) {
          const alone = noGrad(() => model.encoder.scores({ encoder: padded([sentence], { pad: 0 }) }));
          expectClose(together.select(0, b), alone.select(0, 0), 1e-5, `${name}, sentence ${b}`);
        }
        model.free();
      }
    });
  });
});
