import { call, callMany, linear, loadOperators, type Tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { anySize } from '../../torch/test/operator-arguments.ts';
import { type Calls, calls, few, mostly } from '../../torch/test/operator-cases.ts';

loadOperators('hsn');

const hidden = (a: Tensor, b: Tensor): Tensor => a.unsqueeze(1).add(b.unsqueeze(0)).relu();

const pairs = calls({
  sizes: [anySize, anySize, anySize],
  options: fc.constant(undefined),
  build: ([i = 0, j = 0, h = 0]) => ({
    wanted: [{ shape: [i, h] }, { shape: [j, h] }, { shape: [h] }],
    fused: ([a, b, w]) => [call('hsn::pairs', a!, b!, w!)],
    composed: ([a, b, w]) => [hidden(a!, b!).matmul(w!)],
  }),
});

const deepPairs = calls({
  sizes: [few, few, anySize, few],
  options: mostly(fc.constantFrom(1, 2, 100), fc.constantFrom(0, -1)),
  build: ([i = 0, j = 0, h = 0, m = 0], rows) => ({
    wanted: [[i, h], [j, h], [m, h], [m], [1, m], [1]].map((shape) => ({ shape })),
    fused: ([a, b, ...layers]) => [call('hsn::deep_pairs', a!, b!, layers, rows)],
    composed: ([a, b, w1, b1, w2, b2]) => {
      if (rows < 1) throw new Error('rows at a time, of which there are none');
      return [linear(linear(hidden(a!, b!), w1!, b1!).relu(), w2!, b2!).squeeze(2)];
    },
  }),
});

const walkDivergence = calls({
  sizes: [anySize, anySize],
  options: fc.constantFrom('whole', 'row', 'column', 'one'),
  build: ([j = 0, k = 0], prior) => ({
    wanted: [
      { shape: [j, k] },
      { shape: [j, k] },
      { shape: [j] },
      { shape: [j] },
      { shape: { whole: [j, k], row: [k], column: [j, 1], one: [] }[prior] },
    ],
    scale: 1 + j * k * 100,
    fused: ([R, m, w, s, p]) => [call('hsn::walk_divergence', R!, m!, w!, s!, p!)],
    composed: ([R, m, w, s, p]) => [
      w!
        .unsqueeze(1)
        .mul(R!.mul(m!))
        .mul(m!.clamp(1e-30).log().sub(s!.unsqueeze(1)).sub(p!))
        .sum(),
    ],
  }),
});

const bestStep = calls({
  sizes: [anySize, anySize, anySize],
  options: fc.constantFrom('numbers', 'missing links', 'not numbers'),
  build: ([b = 0, j = 0, k = 0], kind) => {
    const odd = { numbers: 0, 'missing links': Number.NEGATIVE_INFINITY, 'not numbers': Number.NaN }[kind];
    return {
      wanted: [
        { shape: [b, j] },
        { shape: [j, k], value: (choices) => (choices.below(5) === 0 ? odd : choices.below(9) / 8) },
      ],
      fused: ([s, l]) => callMany('hsn::best_step', s!, l!),
      composed: ([s, l]) => callMany('max.dim', s!.unsqueeze(2).add(l!), 1, false),
    };
  },
});

/** The operators of ../native. */
export const kernels: Readonly<Record<string, Calls>> = {
  pairs,
  deep_pairs: deepPairs,
  walk_divergence: walkDivergence,
  best_step: bestStep,
};
