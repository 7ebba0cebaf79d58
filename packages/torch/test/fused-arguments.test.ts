import { describe, expect, it } from 'vitest';
import {
  call,
  Generator,
  grad,
  linear,
  noGrad,
  ones,
  randn,
  scope,
  type Tensor,
  zeros,
} from '../src/index.ts';
import * as optim from '../src/optim.ts';
import { guarded, native } from '../src/native.ts';
import { type Arguments, refusal } from './compared.ts';

const generator = new Generator(3);
const some = (...shape: number[]): Tensor => randn(shape, generator);
const double = (...shape: number[]): Tensor => some(...shape).to('float64');
const classes = (n: number): Tensor => zeros([n], { dtype: 'int64' });

describe('a fused operator refuses before it reads', () => {
  const linears = (bias: Tensor): Arguments => [some(2, 8), some(32, 8), bias];
  const norm = (bias: number, scale: number, shift: number): Arguments => [
    ...linears(some(bias)),
    some(2, 32),
    some(scale),
    some(shift),
    1e-5,
  ];
  const heads = (...shape: number[]): Tensor => some(...shape);

  it.each<[string, string, () => Arguments, string]>([
    [
      'a short bias',
      'linear_gelu',
      () => [...linears(some(16)), true],
      "expects 'bias' of shape [32], got [16]",
    ],
    [
      'a long bias',
      'linear_gelu',
      () => [...linears(some(48)), false],
      "expects 'bias' of shape [32], got [48]",
    ],
    [
      'rows of another length',
      'linear_gelu',
      () => [some(2, 9), some(32, 8), some(32), true],
      'rows of 8, got [2, 9]',
    ],
    ['a short bias', 'linear_norm', () => norm(31, 32, 32), "expects 'bias' of shape [32], got [31]"],
    ['a short scale', 'linear_norm', () => norm(32, 16, 32), "expects 'scale' of shape [32], got [16]"],
    ['a short shift', 'linear_norm', () => norm(32, 32, 1), "expects 'shift' of shape [32], got [1]"],
    ['a short bias', 'few_linear', () => linears(some(5)), "expects 'bias' of shape [32], got [5]"],
    ['rows that only together fit', 'few_linear', () => [some(4, 2), some(3, 8)], 'rows of 8, got [4, 2]'],
    [
      'a bias of float64',
      'few_linear',
      () => linears(double(32)),
      "expects 'bias' of float32 as 'x' is, got float64",
    ],
    [
      'too few targets',
      'cross_entropy',
      () => [some(3, 5), classes(2)],
      "expects 'targets' of shape [3], got [2]",
    ],
    [
      'float targets',
      'cross_entropy',
      () => [some(3, 5), some(3)],
      "expects 'targets' of int64, got float32",
    ],
    [
      'values of another shape',
      'attention',
      () => [heads(1, 2, 3, 16), heads(1, 2, 5, 16), heads(1, 2, 4, 16)],
      "expects 'value' of shape [1, 2, 5, 16], got [1, 2, 4, 16]",
    ],
    [
      'no heads of keys',
      'attention',
      () => [heads(1, 2, 3, 16), heads(1, 0, 5, 16), heads(1, 0, 5, 16)],
      'heads of keys divide, got 2 and 0',
    ],
    ['narrow heads', 'self_attention', () => [some(1, 2, 24), 1], 'a width that 16 divides, got 8'],
    ['no heads', 'self_attention', () => [some(1, 2, 48), 0], "expects 'heads' from 1, got 0"],
    ['half precision', 'gelu', () => [some(3).to('float16')], "expects 'x' of float32, got float16"],
    ['no probability', 'dropout', () => [some(3), 1.5, generator], "probability 'p' from 0 to 1, got 1.5"],
    ['no generator', 'relu_dropout', () => [some(3), 0.5, undefined], 'expects a generator'],
    ['another device', 'gelu', () => [some(3).toDevice('meta')], 'a dense tensor on the CPU'],
  ])('%s (%s)', (_, name, given, text) => {
    const said = refusal(() => noGrad(() => call(`engine::${name}`, ...given())));
    expect(said).toContain(text);
    expect(said).toMatch(new RegExp(`^engine::${name}\\(`));
  });

  it('a mask that is trained', () => {
    const x = some(1, 2, 48);
    const mask = zeros([2, 2]).requireGrad();
    expect(refusal(() => call('engine::self_attention', x, 1, mask))).toContain(
      "expects a 'mask' without a gradient",
    );
  });

  it('a second gradient, which would be lost', () => {
    const x = some(3).requireGrad();
    const y = call('engine::gelu', x);
    expect(refusal(() => grad([y.sum()], [x], { createGraph: true }))).toContain(
      'expects no second gradient',
    );
  });
});

describe('sizes of zero', () => {
  it.each<[string, () => Arguments, number[]]>([
    ['linear_gelu', () => [some(2, 8), some(0, 8), some(0), true], [2, 0]],
    ['linear_gelu', () => [some(0, 8), some(32, 8), some(32), true], [0, 32]],
    ['linear_norm', () => [some(2, 8), some(0, 8), some(0), some(2, 0), some(0), some(0), 1e-5], [2, 0]],
    ['few_linear', () => [some(2, 0), some(3, 0), some(3)], [2, 3]],
    ['cross_entropy', () => [some(0, 5), classes(0)], [0]],
    ['attention', () => [some(1, 2, 3, 16), some(1, 2, 0, 16), some(1, 2, 0, 16)], [1, 2, 3, 16]],
    ['self_attention', () => [some(2, 0, 48), 1], [2, 0, 16]],
    ['dropout', () => [some(0, 3), 0.5, generator], [0, 3]],
  ])('give what libtorch gives (%s)', (name, given, shape) =>
    scope(() => {
      const out = noGrad(() => call(`engine::${name}`, ...given()));
      expect(out.shape).toEqual(shape);
    }),
  );

  it('leave gradients of zero, not of what memory held', () =>
    scope(() => {
      const k = some(1, 2, 3, 16).requireGrad();
      const y = call('engine::attention', zeros([1, 0, 4, 16]), k, k);
      expect(grad([y], [k], { gradients: [y.detach()] })[0]!.toNumbers()).toEqual(Array(96).fill(0));
    }));
});

describe('no gradient is lost', () => {
  it('of a bias that alone is trained', () =>
    scope(() => {
      const bias = some(32).requireGrad();
      const [x, w] = [some(2, 8), some(32, 8)];
      const [found] = grad([call('engine::few_linear', x, w, bias)], [bias], { gradients: [ones([2, 32])] });
      const [expected] = grad([linear(x, w, bias)], [bias], { gradients: [ones([2, 32])] });
      expect(found?.toNumbers()).toEqual(expected!.toNumbers());
    }));

  it('of a GELU, however the gradient lies in memory', () =>
    scope(() => {
      const x = some(3, 5).requireGrad();
      const turned = some(5, 3).transpose(0, 1);
      const of = (above: Tensor): number[] => grad([x.gelu()], [x], { gradients: [above] })[0]!.toNumbers();
      expect(of(turned)).toEqual(of(turned.contiguous()));
    }));
});

describe("Adam's step refuses", () => {
  const weight = (): Tensor => {
    const w = ones([4, 5]).requireGrad();
    w.setGrad(ones([4, 5]));
    return w;
  };
  const step = (w: readonly Tensor[], m: readonly Tensor[], v: readonly Tensor[]): number => {
    const [a, b, c] = [w, m, v].map((list) => list.map((x) => x.handle));
    return guarded('adam', () => native.adamStep(a!, b!, c!, 0.1, 0.9, 0.99, 1e-8, 0, 1, false, true));
  };

  it.each<[string, () => number, string]>([
    [
      'a missing moment',
      () => step([weight(), weight()], [ones([4, 5])], [ones([4, 5])]),
      'got 1 and 1 for 2',
    ],
    [
      'a short moment',
      () => step([weight()], [ones([4])], [ones([4, 5])]),
      "'first' of shape [4, 5], got [4]",
    ],
    [
      'a moment of float64',
      () => step([weight()], [ones([4, 5]).to('float64')], [ones([4, 5])]),
      "expects 'first' of float32, got float64",
    ],
    [
      'a moment turned round',
      () => step([weight()], [ones([5, 4]).transpose(0, 1)], [ones([4, 5])]),
      "expects 'first' with its elements one after another",
    ],
    [
      'one tensor for both moments',
      () => {
        const both = ones([4, 5]);
        return step([weight()], [both], [both]);
      },
      'share no memory',
    ],
    [
      'moments that share a part of their memory',
      () => {
        const buffer = ones([30]);
        const run = (from: number): Tensor => buffer.narrow(0, from, 20).reshape(4, 5);
        return step([weight()], [run(0)], [run(10)]);
      },
      'share no memory',
    ],
  ])('%s, and changes nothing', (_, body, text) => {
    expect(refusal(body)).toContain(text);
  });

  it('before the first of several weights is changed', () => {
    const [good, bad] = [weight(), weight()];
    refusal(() => step([good, bad], [ones([4, 5]), ones([4])], [ones([4, 5]), ones([4, 5])]));
    expect(good.toNumbers()).toEqual(Array(20).fill(1));
  });

  it('nothing of parameters that lie side by side', () => {
    const buffer = ones([40]);
    const parts = [0, 20].map((from) => buffer.narrow(0, from, 20).reshape(4, 5).detach().requireGrad());
    for (const part of parts) part.setGrad(ones([4, 5]));
    const adam = new optim.Adam([{ parameters: parts.map((p, i) => [`${i}`, p] as const), rate: 0.1 }]);
    adam.step();
    expect(buffer.toNumbers().every((x) => x < 1)).toBe(true);
  });
});
