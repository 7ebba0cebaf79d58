import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { definedIn, fuzz } from '../../torch/test/operator-fuzz.ts';
import { kernels } from './kernel-cases.ts';

it('every kernel has its draws', () => {
  const defined = definedIn(fileURLToPath(new URL('../native', import.meta.url)));
  expect(defined.sort()).toEqual(Object.keys(kernels).sort());
});

it('kernels give libtorch’s values and gradients, or a typed error', () => {
  const said: string[] = [];
  const summary = fuzz(kernels, 600, 1, (line) => said.push(line));
  expect(said.filter((line) => !/ of 600 calls /.test(line))).toEqual([]);
  expect(summary).toMatchObject({ calls: 600, faults: 0 });
  expect(summary.agreed).toBeGreaterThan(375);
  expect(summary.refused).toBeGreaterThan(50);
});
