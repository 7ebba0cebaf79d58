import { describe, expect, it } from 'vitest';
import { addDropout, dropout, fusedSelfAttention, layerNorm, reluDropout } from '../src/functional.ts';
import {
  cat,
  crossEntropy,
  fewLinear,
  Generator,
  linear,
  linearGelu,
  linearNorm,
  nn,
  noGrad,
  rand,
  randn,
  scope,
  Tensor,
  tanhGelu,
} from '../src/index.ts';
import { difference, expectSame, valueAndGradients } from './compared.ts';

const generator = new Generator(7);

const shapes = [
  { name: 'synthetic', B: 3, H: 2, T: 11, S: 11, d: 128 },
  { name: 'odd sizes', B: 2, H: 3, T: 7, S: 19, d: 48 },
  { name: 'one query', B: 2, H: 1, T: 1, S: 40, d: 16 },
  { name: 'one key', B: 1, H: 2, T: 5, S: 1, d: 64 },
  { name: 'long', B: 1, H: 1, T: 70, S: 83, d: 80 },
];

/** Ones where row and column are the same, zeros elsewhere. */
const identity = (rows: number, columns: number): Float32Array =>
  Float32Array.from({ length: rows * columns }, (_, i) => (Math.floor(i / columns) === i % columns ? 1 : 0));

/** The kernel's path, or with weights looked at the composed one; both draw the same masks. */
function attention(inputs: readonly Tensor[], how: 'fused' | 'composed', mask?: Tensor, p = 0): Tensor[] {
  const drop = new nn.Dropout(p, new Generator(5));
  const given = { ...(mask ? { mask } : {}), dropout: drop };
  return valueAndGradients(
    (q, k, v) => nn.attend(q!, k!, v!, how === 'fused' ? given : { ...given, seen: () => {} }),
    inputs,
  );
}

describe('attention', () => {
  for (const { name, B, H, T, S, d } of shapes)
    it(`equals the composed one, with mask and dropout (${name})`, () =>
      scope(() => {
        const inputs = [T, S, S].map((rows) => randn([B, H, rows, d], generator));
        const causal = rand([T, S], generator).gt(0.7).to('float32').mul(-1e9);
        const padding = rand([B, 1, 1, S], generator).gt(0.8).to('float32').mul(-1e9);
        for (const mask of [undefined, causal, padding])
          for (const p of [0, 0.3])
            expectSame(attention(inputs, 'fused', mask, p), attention(inputs, 'composed', mask, p));
      }));

  it('gives keys far below the largest nothing, and a query without any key no number', () =>
    scope(() => {
      const far = [0, -1, -86, -89, -1e5, -Infinity];
      const lowest = far.map(() => -Infinity);
      const mask = Tensor.fromArray(
        Float32Array.from([...far, ...lowest, ...far.map((x) => x + 1e4)]),
        [3, 6],
      );
      // Values that show the weights.
      const shown = Tensor.fromArray(identity(6, 16), [1, 1, 6, 16]);
      const nothing = shown.mul(0);
      const query = nothing.narrow(2, 0, 3);
      const weights = noGrad(() => nn.attend(query, nothing, shown, { mask })).toNumbers();
      const made = [0, 1, 2].map((row) => weights.slice(16 * row, 16 * row + 6));
      const sum = 1 + Math.exp(-1);
      for (const row of [made[0]!, made[2]!]) {
        expect(row[0]).toBeCloseTo(1 / sum, 6);
        expect(row[1]).toBeCloseTo(Math.exp(-1) / sum, 6);
        expect(row.slice(3)).toEqual(row.slice(3).map(() => 0));
      }
      expect(made[0]![2]! / (Math.exp(-86) / sum)).toBeCloseTo(1, 5);
      expect(made[1]!.every(Number.isNaN)).toBe(true);
    }));

  it('reads heads where a projection left them', () =>
    scope(() => {
      const packed = randn([4, 9, 3 * 64], generator);
      const through = (how: 'fused' | 'composed') =>
        valueAndGradients(
          (x) => {
            const [q, k, v] = x!.chunk(3, -1).map((part) => nn.splitHeads(part, 2));
            return nn.joinHeads(nn.attend(q!, k!, v!, how === 'fused' ? {} : { seen: () => {} }));
          },
          [packed],
        );
      expectSame(through('fused'), through('composed'));
    }));

  it('takes queries, keys and values side by side', () =>
    scope(() => {
      const x = randn([3, 11, 3 * 96], generator);
      const mask = rand([3, 1, 1, 11], generator).gt(0.8).to('float32').mul(-1e9);
      for (const p of [0, 0.25]) {
        const drop = () => new nn.Dropout(p, new Generator(5));
        const packed = valueAndGradients(
          (y) => fusedSelfAttention(y!, 2, { mask, dropout: drop().active }),
          [x],
        );
        const composed = valueAndGradients(
          (y) => {
            const [q, k, v] = y!.chunk(3, -1).map((part) => nn.splitHeads(part, 2));
            return nn.joinHeads(nn.attend(q!, k!, v!, { mask, dropout: drop(), seen: () => {} }));
          },
          [x],
        );
        expectSame(packed, composed);
      }
    }));

  it('lets a head of keys serve several of queries', () =>
    scope(() => {
      const q = randn([2, 6, 5, 32], generator);
      const [k, v] = [randn([2, 2, 8, 32], generator), randn([2, 2, 8, 32], generator)];
      const repeated = (x: Tensor) => x.unsqueeze(2).expand(2, 2, 3, 8, 32).reshape(2, 6, 8, 32);
      const composed = valueAndGradients(
        (a, b, c) => nn.attend(a!, repeated(b!), repeated(c!), { seen: () => {} }),
        [q, k, v],
      );
      expectSame(attention([q, k, v], 'fused'), composed);
    }));

  it('does not swallow what is not a number', () =>
    scope(() => {
      const q = Tensor.fromArray(
        Float32Array.from({ length: 32 }, (_, i) => (i === 3 ? Number.NaN : 1)),
        [1, 1, 2, 16],
      );
      const k = randn([1, 1, 4, 16], generator);
      const out = nn.attend(q, k, k).toNumbers();
      expect(out.slice(0, 16).every(Number.isNaN)).toBe(true);
      expect(out.slice(16).every(Number.isFinite)).toBe(true);
    }));
});

describe('dropout in one pass', () => {
  const x = randn([33, 65], generator);
  const base = randn([33, 65], generator);
  const again = () => new Generator(3);
  // In float64 dropout multiplies by a mask, drawn from the same seed.
  const masked = (y: Tensor) => dropout(y.to('float64'), 0.4, again()).to('float32');

  it('equals the product with a mask', () =>
    scope(() => {
      expectSame(
        valueAndGradients((a) => dropout(a!, 0.4, again()), [x]),
        valueAndGradients((a) => masked(a!), [x]),
        1e-6,
      );
    }));

  it('adds what is left to a base', () =>
    scope(() => {
      expectSame(
        valueAndGradients((a, b) => addDropout(a!, b!, 0.4, again()), [base, x]),
        valueAndGradients((a, b) => a!.add(masked(b!)), [base, x]),
        1e-6,
      );
    }));

  it('follows a ReLU', () =>
    scope(() => {
      expectSame(
        valueAndGradients((a) => reluDropout(a!, 0.4, again()), [x]),
        valueAndGradients((a) => masked(a!.relu()), [x]),
        1e-6,
      );
    }));

  it('draws its rows of a batch that several processes hold', () =>
    scope(() => {
      const whole = dropout(x.narrow(0, 0, 32), 0.4, again());
      const drawn = again();
      const half = drawn.sharing({ index: 1, count: 2 }, () => dropout(x.narrow(0, 16, 16), 0.4, drawn));
      expect(difference(half, whole.narrow(0, 16, 16))).toBe(0);
    }));
});

describe('likelihood of tokens', () => {
  it('cross-entropy of each row equals libtorch’s, ignored rows included', () =>
    scope(() => {
      const logits = randn([23, 101], generator).mul(6);
      const targets = Tensor.fromArray(
        BigInt64Array.from({ length: 23 }, (_, i) => (i % 5 === 0 ? -100n : BigInt((i * 7) % 101))),
        [23],
      );
      const rows = (x: Tensor) => crossEntropy(x, targets, { reduction: 'none' });
      const fused = valueAndGradients((x) => rows(x!), [logits]);
      const composed = valueAndGradients((x) => rows(x!.to('float64')).to('float32'), [logits]);
      expectSame(fused, composed);
    }));

  it('refuses a target that is no class', () => {
    const targets = Tensor.fromArray(BigInt64Array.of(0n, 9n), [2]);
    expect(() => crossEntropy(randn([2, 9], generator), targets, { reduction: 'none' })).toThrow(
      /target 9 is not one of 9 classes/,
    );
  });

  it('GELU equals libtorch’s, far out too', () =>
    scope(() => {
      const x = cat([
        randn([90], generator).mul(3),
        Tensor.fromArray(Float32Array.of(-90, -10, 0, 10, 90), [5]),
      ]);
      const fused = valueAndGradients((a) => tanhGelu(a!), [x]);
      const composed = valueAndGradients((a) => a!.to('float64').gelu('tanh').to('float32'), [x]);
      expectSame(fused, composed);
    }));
});

describe('linear layers', () => {
  const [bias, scale, shift] = [0, 1, 2].map(() => randn([48], generator));
  const weight = randn([48, 37], generator);
  const x = randn([5, 3, 37], generator);
  const base = randn([5, 3, 48], generator);
  const wide = (t: Tensor) => t.to('float64');
  const composed = wide(x).matmul(wide(weight).transpose(0, 1)).add(wide(bias!));

  for (const approximate of ['none', 'tanh'] as const)
    it(`with GELU after it (${approximate}) is the composed one, recorded or not`, () =>
      scope(() => {
        const expected = composed.mul(3).gelu(approximate).to('float32');
        const own = () => linearGelu(x.mul(3), weight, bias!.mul(3), approximate);
        expect(difference(noGrad(own), expected)).toBeLessThan(1e-6);
        expectSame(
          valueAndGradients((a, w, b) => linearGelu(a!, w!, b!, approximate), [x, weight, bias!]),
          valueAndGradients((a, w, b) => linear(a!, w!, b!).gelu(approximate), [x, weight, bias!]),
        );
      }));

  it('with GELU after it is libtorch’s over its whole range, and what is no number stays none', () =>
    scope(() => {
      const numbers = Float32Array.from({ length: 160 * 16 }, (_, i) => (i - 1280) / 100);
      numbers.set([Number.NaN, Infinity, 3e38, -3e38, 90, -90, -13.5, 1e-30, -1e-30, -0]);
      const given = Tensor.fromArray(numbers, [160 * 16, 1]);
      const [ones, zeros] = [1, 0].map((n) => Tensor.fromArray(new Float32Array(16).fill(n), [16]));
      for (const approximate of ['none', 'tanh'] as const) {
        const made = noGrad(() => linearGelu(given, ones!.reshape(16, 1), zeros!, approximate));
        const expected = given.to('float64').gelu(approximate).toNumbers();
        for (const [i, y] of made.narrow(1, 3, 1).contiguous().toNumbers().entries())
          if (Number.isFinite(expected[i]))
            expect(Math.abs(y - expected[i]!)).toBeLessThan(5e-7 * Math.max(1, Math.abs(y)));
          else expect(y).toBe(expected[i]);
      }
    }));

  it('with a residual sum and a norm after it is the composed one, recorded or not', () =>
    scope(() => {
      const norm = { weight: scale!, bias: shift!, epsilon: 1e-6 };
      const own = (a: Tensor) => linearNorm(a, { weight, bias: bias! }, base, norm);
      const layers = (a: Tensor) => layerNorm(base.add(linear(a, weight, bias!)), scale!, shift!, 1e-6);
      expect(
        difference(
          noGrad(() => own(x)),
          layers(x),
        ),
      ).toBeLessThan(2e-6);
      expectSame(
        valueAndGradients((a) => own(a!), [x]),
        valueAndGradients((a) => layers(a!), [x]),
      );
    }));

  it('of few rows is the product, whichever way the weight lies', () =>
    scope(() => {
      for (const rows of [1, 2, 3, 4, 5, 6, 7, 8, 9])
        for (const [inputs, outputs] of [
          [37, 48],
          [64, 101],
          [3, 5],
        ] as const) {
          const some = randn([rows, 1, inputs], generator);
          const lying = randn([outputs, inputs], generator);
          const turned = lying.transpose(0, 1).contiguous().transpose(0, 1);
          for (const added of [undefined, randn([outputs], generator)]) {
            const product = wide(some).matmul(wide(lying).transpose(0, 1));
            const expected = (added ? product.add(wide(added)) : product).to('float32');
            for (const w of [lying, turned])
              expect(
                difference(
                  noGrad(() => fewLinear(some, w, added)),
                  expected,
                ),
              ).toBeLessThan(1e-6);
          }
        }
      const inputs = [randn([2, 37], generator), weight];
      expectSame(
        valueAndGradients((a, w) => fewLinear(a!, w!), inputs),
        valueAndGradients((a, w) => linear(a!, w!), inputs),
      );
    }));
});
