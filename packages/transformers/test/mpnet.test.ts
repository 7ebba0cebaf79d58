import fs from 'node:fs';
import path from 'node:path';
import { noGrad, scope, setThreads, Tensor } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BertEncoder, openBert } from '../src/bert.ts';
import { maskOfLengths } from '../src/text-encoder.ts';

interface Expected {
  lengths: number[];
  ids: number[][];
  /** States of each text's last token, and unit means of all, by transformers in float64. */
  last: number[][];
  unit_means: number[][];
}

const folder = path.join(import.meta.dirname, '../../../fixtures/mpnet-tiny');
const expected = JSON.parse(fs.readFileSync(path.join(folder, 'hidden.json'), 'utf8')) as Expected;
const texts = expected.ids.map((ids, row) => Int32Array.from(ids.slice(0, expected.lengths[row])));

let mpnet: BertEncoder;
beforeAll(() => {
  setThreads(1);
  mpnet = openBert(folder).train(false);
});
afterAll(() => mpnet.free());

const largest = (got: ArrayLike<number>, wanted: readonly number[]): number =>
  wanted.reduce((most, x, i) => Math.max(most, Math.abs(x - got[i]!)), 0);

describe('an MPNet', () => {
  test('has the states of transformers, padded to the longest', () => {
    const { lengths, ids, last } = expected;
    const width = ids[0]!.length;
    const states = noGrad(() =>
      scope(() =>
        mpnet.hidden(
          Tensor.fromArray(Int32Array.from(ids.flat()), [ids.length, width]),
          maskOfLengths(lengths, width),
        ),
      ),
    );
    for (const [row, length] of lengths.entries()) {
      const state = states.select(0, row).select(0, length - 1);
      expect(largest(state.toNumbers(), last[row]!)).toBeLessThan(1e-4);
    }
    states.free();
  });

  test.each(['float32', 'bfloat16', 'int8'] as const)('and its vectors, by packed weights in %s', (kind) => {
    for (const [, tensor] of mpnet.namedTensors()) tensor.requireGrad(false);
    mpnet.precision = kind;
    const vectors = mpnet.vectors(texts);
    if (!vectors) return expect(kind).toBe('float32'); // a processor without AVX-512
    const all = vectors.toNumbers();
    vectors.free();
    for (const [row, mean] of expected.unit_means.entries()) {
      const own = all.slice(row * mean.length, (row + 1) * mean.length);
      const cosine = own.reduce((sum, x, i) => sum + x * mean[i]!, 0);
      if (kind === 'float32') expect(largest(own, mean)).toBeLessThan(1e-5);
      else expect(cosine).toBeGreaterThan(kind === 'int8' ? 0.995 : 0.9995);
    }
  });

  test('reads as many tokens as it has positions after padding', () => {
    expect(mpnet.positions).toBe(150);
    expect(() => mpnet.vectors([new Int32Array(151)])).toThrow(
      '151 tokens came to an encoder of 150 positions',
    );
  });
});
