import {
  call,
  callMany,
  Generator,
  grad,
  loadOperators,
  noGrad,
  randn,
  scope,
  type Tensor,
  zeros,
} from '@hidden-schema/torch';
import { describe, expect, it } from 'vitest';
import { type Arguments, refusal } from '../../torch/test/compared.ts';

loadOperators('hsn');

const generator = new Generator(3);
const some = (...shape: number[]): Tensor => randn(shape, generator);
const classes = (n: number): Tensor => zeros([n], { dtype: 'int64' });

describe('a kernel refuses before it reads', () => {
  it.each<[string, string, () => Arguments, string]>([
    [
      'a short weight',
      'pairs',
      () => [some(3, 8), some(2, 8), some(7)],
      "expects 'weight' of shape [8], got [7]",
    ],
    ['a vector', 'pairs', () => [some(8), some(2, 8), some(8)], "expects 'left' of 2 dimensions, got [8]"],
    ['integers', 'pairs', () => [classes(8), some(2, 8), some(8)], "expects 'left' of float32, got int64"],
    [
      'a short bias',
      'deep_pairs',
      () => [some(3, 8), some(2, 8), [some(4, 8), some(3), some(1, 4), some(1)], 2],
      "expects 'bias' of shape [4], got [3]",
    ],
    [
      'two outputs',
      'deep_pairs',
      () => [some(3, 8), some(2, 8), [some(2, 8), some(2)], 2],
      'expects a last layer of width 1, got 2',
    ],
    [
      'a short weight',
      'walk_divergence',
      () => [some(3, 8), some(3, 8), some(2), some(3), some(3, 8)],
      "expects 'weight' of shape [3], got [2]",
    ],
    [
      'links of another matrix',
      'carry',
      () => [some(2, 3), some(3, 5), callMany('hsn::links', some(4, 5), 100), false],
      "expects 'links' of 'rows' [3, 5], got those of 4 × 5",
    ],
    [
      'a link that leads nowhere',
      'link_means',
      () => {
        const lists = callMany('hsn::links', some(3, 5), 100);
        lists[1]!.add_(1000);
        return [some(2, 3), some(2, 5), lists];
      },
      "expects 'starts' and 'to' as links() gives them",
    ],
    [
      'lists that end too late',
      'walk_step',
      () => {
        const lists = callMany('hsn::links', some(3, 5), 100);
        lists[3]!.add_(1);
        return [some(2, 3), some(2, 5), some(2, 3), some(3, 5), lists];
      },
      "expects 'backStarts' and 'from' as links() gives them",
    ],
    [
      'no sentence',
      'mean_products',
      () => [some(0, 3), some(0, 5), []],
      "expects 'left' of one sentence or more, got [0, 3]",
    ],
    [
      'links of others',
      'best_step',
      () => [some(2, 3), some(4, 5)],
      "expects 'links' of shape [3, 5], got [4, 5]",
    ],
    ['no source', 'best_step', () => [some(2, 0), some(0, 5)], 'one source or more'],
  ])('%s (%s)', (_, name, given, text) => {
    const said = refusal(() => noGrad(() => call(`hsn::${name}`, ...given())));
    expect(said).toContain(text);
    expect(said).toMatch(new RegExp(`^hsn::${name}\\(`));
  });
});

describe('sizes of zero', () => {
  it.each<[string, () => Arguments, number[]]>([
    ['pairs', () => [some(3, 8), some(0, 8), some(8)], [3, 0]],
    ['pairs', () => [some(3, 0), some(2, 0), some(0)], [3, 2]],
    ['walk_divergence', () => [some(3, 0), some(3, 0), some(3), some(3), some(3, 0)], []],
  ])('give what libtorch gives (%s)', (name, given, shape) =>
    scope(() => {
      const out = noGrad(() => call(`hsn::${name}`, ...given()));
      expect(out.shape).toEqual(shape);
    }),
  );

  it('give what libtorch gives (best_step)', () =>
    scope(() => {
      const found = callMany('hsn::best_step', some(2, 3), some(3, 0));
      expect(found.map((x) => x.shape)).toEqual([
        [2, 0],
        [2, 0],
      ]);
    }));
});

describe('no gradient is lost', () => {
  it('of the best step', () =>
    scope(() => {
      const links = some(3, 5).requireGrad();
      const [best] = callMany('hsn::best_step', some(2, 3), links);
      expect(grad([best!.sum()], [links])[0]!.sum().item()).toBe(10);
    }));
});
