import { describe, expect, test } from 'vitest';
import { Generator, grad, nn, ones, setThreads, Tensor, tensor, zeros } from '../src/index.ts';
import { expectClose, largest, readFixture, revive, type Stored, sameBytes, tolerances } from './fixtures.ts';

interface ModuleCase {
  readonly name: string;
  readonly arguments: {
    readonly inputs: number;
    readonly hidden: number;
    readonly layers: number;
    readonly bidirectional: boolean;
    readonly width: number;
    readonly heads: number;
    readonly cross: boolean;
  };
  readonly weights: Readonly<Record<string, Stored>>;
  readonly inputs: readonly Stored[];
  readonly outputs: readonly Stored[];
  readonly cotangents: readonly Stored[];
  readonly weightGradients: Readonly<Record<string, Stored>>;
  readonly inputGradients: readonly Stored[];
}
type Kind = 'lstm' | 'attention' | 'linear' | 'embedding' | 'layerNorm';
type Float = keyof typeof tolerances;

const fixture = readFixture<Record<Kind, ModuleCase[]>>('modules');
const fresh = () => new Generator(1);

/** Builds the module of a case, and how its inputs go in and its outputs come out. */
const build: Record<Kind, (c: ModuleCase, dtype: Float) => [nn.Module, (inputs: Tensor[]) => Tensor[]]> = {
  lstm: ({ arguments: given }, dtype) => {
    const model = new nn.Lstm(given.inputs, given.hidden, fresh(), { ...given, dtype });
    return [
      model,
      ([x, hidden, cell]) => {
        const out = model.forward(x!, hidden && cell && { hidden, cell });
        return [out.output, out.hidden, out.cell];
      },
    ];
  },
  attention: ({ arguments: given }, dtype) => {
    const model = new nn.MultiHeadAttention(given.width, given.heads, fresh(), { dtype });
    return [
      model,
      ([x, ...rest]) => [given.cross ? model.forward(x!, ...rest) : model.forward(x!, x!, ...rest)],
    ];
  },
  linear: (_, dtype) => {
    const model = new nn.Linear(3, 4, fresh(), { dtype });
    return [model, ([x]) => [model.forward(x!)]];
  },
  embedding: (_, dtype) => {
    const model = new nn.Embedding(5, 3, fresh(), { dtype });
    return [model, ([indices]) => [model.forward(indices!)]];
  },
  layerNorm: (_, dtype) => {
    const model = new nn.LayerNorm(4, { dtype });
    return [model, ([x]) => [model.forward(x!)]];
  },
};

function check(kind: Kind, given: ModuleCase, dtype: Float): void {
  const [model, forward] = build[kind](given, dtype);
  model.load(new Map(Object.entries(given.weights).map(([name, w]) => [name, revive(w, dtype)])));
  const inputs = given.inputs.map((stored) => revive(stored, dtype));
  const outputs = forward(inputs);
  for (const [i, expected] of given.outputs.entries())
    expectClose(outputs[i]!, expected, tolerances[dtype], `output ${i}`);
  const weights = [...model.namedParameters()];
  const leaves = inputs.filter((x) => x.requiresGrad);
  const found = grad(outputs, [...weights.map(([, w]) => w), ...leaves], {
    gradients: given.cotangents.map((c) => revive(c, dtype)),
  });
  expect(weights.map(([name]) => name).sort()).toEqual(Object.keys(given.weightGradients).sort());
  // A key's bias has gradient 0 in exact arithmetic: rounding is measured by the other gradients.
  const size = largest(...Object.values(given.weightGradients));
  for (const [i, [name]] of weights.entries())
    expectClose(found[i]!, given.weightGradients[name]!, tolerances[dtype], `gradient of ${name}`, size);
  for (const [i, expected] of given.inputGradients.entries())
    expectClose(found[weights.length + i]!, expected, tolerances[dtype], `gradient of input ${i}`);
}

const cases = Object.entries(fixture).flatMap(([kind, list]) =>
  list.map((c) => [`${kind}: ${c.name}`, kind as Kind, c] as const),
);
describe.each(['float64', 'float32'] as const)('as PyTorch, %s', (dtype) => {
  test.each(cases)('%s', (_, kind, given) => check(kind, given, dtype));
});

class Block extends nn.Module {
  readonly attention = new nn.MultiHeadAttention(4, 2, fresh(), { dropout: 0.5 });
  readonly norm = new nn.LayerNorm(4);
}
class Model extends nn.Module {
  readonly embedding = new nn.Embedding(3, 4, fresh());
  readonly blocks = [new Block(), new Block()];
  readonly head = new nn.Linear(4, 3, fresh(), { bias: false });
  readonly positions = ones([2, 4]);
  readonly name = 'no tensor';
}

describe('parameter paths', () => {
  const attention = ['query', 'key', 'value', 'output'].flatMap((part) => [`${part}.weight`, `${part}.bias`]);
  const block = [...attention.map((path) => `attention.${path}`), 'norm.weight', 'norm.bias'];
  const parameters = [
    'embedding.weight',
    ...block.map((path) => `blocks.0.${path}`),
    ...block.map((path) => `blocks.1.${path}`),
    'head.weight',
  ];

  test('go through modules and arrays of modules', () => {
    expect([...new Model().namedParameters()].map(([name]) => name)).toEqual(parameters);
  });
  test('a tensor without gradient is saved but not trained', () => {
    const model = new Model();
    expect([...model.namedTensors()].map(([name]) => name)).toEqual([...parameters, 'positions']);
    expect(model.parameters()).toHaveLength(parameters.length);
  });
  test('the same seed makes the same weights', () => {
    const [a, b] = [new nn.Linear(5, 4, new Generator(3)), new nn.Linear(5, 4, new Generator(3))];
    expect(a.weight.toArray()).toEqual(b.weight.toArray());
    const bound = 1 / Math.sqrt(5);
    expect(a.weight.toNumbers().every((w) => Math.abs(w) <= bound)).toBe(true);
  });
  test('free() gives every tensor back', () => {
    const model = new Model();
    const tensors = [...model.namedTensors()].map(([, t]) => t);
    model.free();
    expect(tensors.every((t) => !t.alive)).toBe(true);
  });
});

describe('load', () => {
  const small = () => new nn.Linear(2, 3, fresh());
  const weights = () => new Map([...small().namedTensors()].map(([name, t]) => [name, t.detach().mul(2)]));

  test('copies values in and keeps the parameters trainable', () => {
    const [model, source] = [small(), weights()];
    model.load(source);
    expect(model.weight.toArray()).toEqual(source.get('weight')!.toArray());
    expect(model.weight.requiresGrad).toBe(true);
  });
  test('says what is missing', () => {
    const source = weights();
    source.delete('bias');
    expect(() => small().load(source)).toThrow('these weights do not fit: bias is missing');
  });
  test('says what does not belong', () => {
    const source = weights().set('gain', zeros([1]));
    expect(() => small().load(source)).toThrow('these weights do not fit: gain is not part of this model');
  });
  test('says which shape is wrong', () => {
    const source = weights().set('weight', zeros([2, 3]));
    expect(() => small().load(source)).toThrow(
      'these weights do not fit: weight has shape [2, 3], expected [3, 2]',
    );
  });
  test('changes nothing when anything is wrong', () => {
    const model = small();
    const before = model.weight.toArray();
    expect(() => model.load(weights().set('gain', zeros([1])))).toThrow();
    expect(model.weight.toArray()).toEqual(before);
  });
  test('shows eight faults and counts the rest', () => {
    expect(() => new Model().load(new Map())).toThrow(/: ([^;]+ is missing; ){8}and 15 more$/);
  });
});

describe('wrong sizes', () => {
  test('heads must divide the width', () => {
    expect(() => new nn.MultiHeadAttention(5, 2, fresh())).toThrow(
      'a width of 5 does not divide into 2 heads',
    );
  });
  test.each([1, -0.1, Number.NaN])('a dropout probability of %s', (p) => {
    expect(() => new nn.Dropout(p, fresh())).toThrow(`a dropout probability lies in [0, 1), got ${p}`);
  });
});

describe('dropout', () => {
  const large = () => ones([200, 1000]);

  test('is off in evaluation, through all modules', () => {
    const model = new Model();
    expect(model.blocks[1]!.attention.dropout.training).toBe(true);
    model.train(false);
    expect(model.blocks[1]!.attention.dropout.training).toBe(false);
    const x = ones([2, 3, 4]);
    const [a, b] = [model.blocks[0]!.attention.forward(x), model.blocks[0]!.attention.forward(x)];
    expect(a.toArray()).toEqual(b.toArray());
    model.train();
    const c = model.blocks[0]!.attention.forward(x);
    expect(c.toArray()).not.toEqual(a.toArray());
  });
  test.each([0.1, 0.2, 0.5, 0.9])('keeps 1 − %s of the elements and the mean', (p) => {
    const values = new nn.Dropout(p, new Generator(11)).forward(large()).toNumbers();
    const kept = values.filter((v) => v !== 0);
    const deviation = Math.sqrt((p * (1 - p)) / values.length);
    expect(Math.abs(kept.length / values.length - (1 - p))).toBeLessThan(4 * deviation);
    expect(kept.every((v) => v === Math.fround(1 / (1 - p)))).toBe(true);
  });
  test('neighbouring elements, rows and draws are independent', () => {
    const drop = new nn.Dropout(0.5, new Generator(12));
    const [first, second] = [drop.forward(large()).toNumbers(), drop.forward(large()).toNumbers()];
    const agreement = (a: number[], b: number[]) =>
      a.filter((v, i) => (v === 0) === (b[i] === 0)).length / a.length;
    const bound = 4 * 0.5 * Math.sqrt(1 / 199_000);
    for (const lag of [1, 2, 1000]) {
      const rest = first.slice(lag);
      expect(Math.abs(agreement(rest, first.slice(0, rest.length)) - 0.5)).toBeLessThan(bound);
    }
    expect(Math.abs(agreement(first, second) - 0.5)).toBeLessThan(bound);
  });
  test('does not depend on the number of threads', () => {
    const draw = (threads: number) => {
      setThreads(threads);
      return new nn.Dropout(0.3, new Generator(13)).forward(large()).toArray();
    };
    const one = draw(1);
    for (const threads of [2, 3]) expect(sameBytes(draw(threads), one)).toBe(true);
    expect(sameBytes(one, ones([200, 1000]).toArray())).toBe(false);
  });
  test('masks the gradient as it masks the value', () => {
    const x = tensor([1, 2, 3, 4, 5, 6, 7, 8], { dtype: 'float64' }).requireGrad();
    const y = new nn.Dropout(0.5, new Generator(14)).forward(x);
    const [gradient] = grad([y.sum()], [x]);
    expect(gradient!.toNumbers()).toEqual(y.toNumbers().map((v, i) => v / (i + 1)));
    expect(y.dtype).toBe('float64');
    expect(new Set(gradient!.toNumbers())).toEqual(new Set([0, 2]));
  });
  test('of probability 0 returns its input', () => {
    const x = ones([3]);
    expect(new nn.Dropout(0, fresh()).forward(x)).toBe(x);
    expect(x).toBeInstanceOf(Tensor);
  });
});
