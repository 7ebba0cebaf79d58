import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { DType } from '../src/index.ts';
import type { Draw } from './operator-arguments.ts';
import { check, definedIn, fuzz, operators } from './operator-fuzz.ts';

it('every operator of the addon has its draws', () => {
  const defined = definedIn(fileURLToPath(new URL('../native', import.meta.url)));
  expect(defined.length).toBeGreaterThan(10);
  expect(Object.keys(operators)).toEqual(expect.arrayContaining(defined));
});

it('fused operators give libtorch’s values and gradients, or a typed error', () => {
  const said: string[] = [];
  const summary = fuzz(operators, 2400, 1, (line) => said.push(line));
  expect(said.filter((line) => !/ of 2400 calls /.test(line))).toEqual([]);
  expect(summary).toMatchObject({ calls: 2400, faults: 0 });
  expect(summary.agreed).toBeGreaterThan(1500);
  expect(summary.refused).toBeGreaterThan(200);
});

it('values are compared in the precision of the narrowest type that takes part, and in no coarser one', () => {
  const draw: Draw<undefined> = {
    ...{ sizes: [], layouts: Array.from({ length: 8 }, () => 'plain' as const), seed: 3, options: undefined },
    trained: Array.from({ length: 8 }, () => true),
    mutation: { kind: 'none', argument: 0, dimension: 0, size: 0, dtype: 'float32' },
  };
  /** One third is rounded by the first argument's type or by the second's. */
  const rounded = (first: DType, difference = 1) =>
    check({
      draw,
      wanted: [
        { shape: [40], dtype: first },
        { shape: [40], dtype: 'float64' },
      ],
      fused: ([x, y]) => [x!.mul(difference / 3).mul(y!)],
      composed: ([x, y]) => [
        x!
          .to('float64')
          .mul(1 / 3)
          .mul(y!),
      ],
    });
  expect(rounded('float32')).toBe('agreed');
  expect(rounded('float64')).toBe('agreed');
  expect(() => rounded('float64', 1 + 1e-7)).toThrow(/output 0 is .* libtorch's/);
  expect(() => rounded('float32', 1 + 1e-3)).toThrow(/output 0 is .* libtorch's/);
});
