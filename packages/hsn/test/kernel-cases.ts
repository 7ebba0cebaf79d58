import { call, callMany, linear, loadOperators, type Tensor } from '@hidden-schema/torch';
import fc from 'fast-check';
import { anySize, type Wanted } from '../../torch/test/operator-arguments.ts';
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

const cost = (R: Tensor, [m, w, s, p]: readonly Tensor[]): Tensor =>
  w!
    .unsqueeze(1)
    .mul(R.mul(m!))
    .mul(m!.clamp(1e-30).log().sub(s!.unsqueeze(1)).sub(p!))
    .sum();

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
    composed: ([R, m, w, s, p]) => [cost(R!, [m!, w!, s!, p!])],
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

/** A matrix of which one number in four is a link. */
const fewLinks = (j: number, k: number): Wanted => ({
  shape: [j, k],
  value: (choices) => (choices.below(4) === 0 ? choices.below(8) / 8 : 0),
});
/** Links of a matrix as kernels take them, or none, for which they take the whole. */
const listsOf = (R: Tensor, given: boolean): Tensor[] => (given ? callMany('hsn::links', R, R.size) : []);
/** In one piece first: libtorch 1.13 misplaces the gradient of what is turned round. */
const atLinks = (x: Tensor, R: Tensor): Tensor => call('masked_select', x.contiguous(), R.detach().ne(0));

const links = calls({
  sizes: [anySize, anySize],
  options: mostly(fc.constant(10_000), fc.constantFrom(-1, 0, 3)),
  build: ([j = 0, k = 0], most) => ({
    wanted: [fewLinks(j, k)],
    fused: ([R]) => callMany('hsn::links', R!, most).slice(1, 3),
    composed: ([R]) => {
      const values = atLinks(R!.detach(), R!);
      const [, to] = call('nonzero', R!.detach()).unbind(1);
      return values.size > most ? [] : [to!.to('int32'), values];
    },
  }),
});

const carry = calls({
  sizes: [anySize, anySize, anySize],
  options: fc.record({ given: fc.boolean(), back: fc.boolean() }),
  build: ([b = 0, j = 0, k = 0], { given, back }) => ({
    wanted: [{ shape: [b, back ? k : j] }, fewLinks(j, k)],
    fused: ([x, R]) => [call('hsn::carry', x!, R!, listsOf(R!, given), back)],
    composed: ([x, R]) => [call('mm', x!, back ? R!.transpose(0, 1) : R!)],
  }),
});

/** What may be divided by. */
const above1 = { value: (choices: { below(n: number): number }) => 1 + choices.below(9) / 8 };

const walkStep = calls({
  sizes: [anySize, anySize, anySize],
  options: fc.boolean(),
  build: ([b = 0, j = 0, k = 0], given) => ({
    wanted: [{ shape: [b, j] }, { shape: [b, k] }, { shape: [b, j], ...above1 }, fewLinks(j, k)],
    fused: ([z, f, D, R]) => callMany('hsn::walk_step', z!, f!, D!, R!, listsOf(R!, given)),
    composed: ([z, f, D, R]) => {
      const leaving = z!.div(D!);
      return [f!.mul(call('mm', leaving, R!)), leaving];
    },
  }),
});

const meanOf = (left: Tensor, right: Tensor): Tensor =>
  call('mm', left.transpose(0, 1), right).div(left.dim(0));

const meanProducts = calls({
  sizes: [anySize, anySize, anySize],
  options: fc.boolean(),
  build: ([b = 0, j = 0, k = 0], given) => ({
    wanted: [{ shape: [b, j] }, { shape: [b, k] }, fewLinks(j, k)],
    restricted: b === 0,
    fused: ([x, y, R]) => [call('hsn::mean_products', x!, y!, listsOf(R!, given)).mul(R!)],
    composed: ([x, y, R]) => [meanOf(x!, y!).mul(R!)],
  }),
});

const linkMeans = calls({
  sizes: [anySize, anySize, anySize],
  options: fc.constant(undefined),
  build: ([b = 0, j = 0, k = 0]) => ({
    wanted: [{ shape: [b, j] }, { shape: [b, k] }, fewLinks(j, k)],
    restricted: b === 0,
    fused: ([x, y, R]) => [call('hsn::link_means', x!, y!, listsOf(R!, true))],
    composed: ([x, y, R]) => [atLinks(meanOf(x!, y!), R!)],
  }),
});

const linkDivergence = calls({
  sizes: [anySize, anySize],
  options: fc.constant(undefined),
  build: ([j = 0, k = 0]) => ({
    wanted: [{ shape: [j, k] }, { shape: [j] }, { shape: [j] }, { shape: [j, k] }, fewLinks(j, k)],
    scale: 1 + j * k * 100,
    fused: ([m, w, s, p, R]) => [
      call('hsn::link_divergence', atLinks(m!, R!), w!, s!, atLinks(p!, R!), listsOf(R!, true)),
    ],
    composed: ([m, w, s, p, R]) => [cost(R!.detach(), [m!, w!, s!, p!])],
  }),
});

const meanStep = calls({
  sizes: [anySize, anySize],
  options: fc.constant(undefined),
  build: ([j = 0, k = 0]) => ({
    wanted: [{ shape: [j, k] }, { shape: [j, k] }, { shape: [j] }, { shape: [j, k] }],
    scale: 1 + j * k * 100,
    fused: ([R, m, w, p]) => callMany('hsn::mean_step', R!, m!, w!, p!),
    composed: ([R, m, w, p]) => [cost(R!, [m!, w!, w!.mul(0), p!]), w!.unsqueeze(1).mul(R!.mul(m!)).sum(0)],
  }),
});

/** The operators of ../native. */
export const kernels: Readonly<Record<string, Calls>> = {
  pairs,
  deep_pairs: deepPairs,
  walk_divergence: walkDivergence,
  link_divergence: linkDivergence,
  mean_step: meanStep,
  links,
  carry,
  walk_step: walkStep,
  mean_products: meanProducts,
  link_means: linkMeans,
  best_step: bestStep,
};
