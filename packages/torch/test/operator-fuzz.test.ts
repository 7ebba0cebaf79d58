import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { definedIn, fuzz, operators } from './operator-fuzz.ts';

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
