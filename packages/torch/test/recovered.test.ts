import { expect, it } from 'vitest';
import { disagreement, recoveredIn, recoveredText } from '../check/recovered.ts';

const found = { links: 231, digest: 'bd45bf4539e1bb44' };

it('a graph is read from the line that tells it', () => {
  const line = `system: libtorch 2.6.0, built in 9 s, 28 tests passed, 0 failed, ${recoveredText(found)}\n`;
  expect(recoveredIn(line)).toEqual(found);
  expect(recoveredIn('system: libtorch 2.6.0, built in 9 s, the training failed')).toBeUndefined();
});

it('builds that find other links are told apart, even as many of them', () => {
  const graphs = new Map([
    ['libtorch 1.13.0', found],
    ['libtorch 2.13.0', found],
  ]);
  expect(disagreement(graphs)).toBeUndefined();
  expect(disagreement(new Map())).toBeUndefined();
  graphs.set('debian13', { ...found, digest: '0000000000000000' });
  expect(disagreement(graphs)).toMatch(/finds other links: .*debian13 231 \(0{16}\)$/);
});
