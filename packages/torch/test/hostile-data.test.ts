import { describe, expect, it } from 'vitest';
import { ArgumentError } from '../src/errors.ts';
import { call, type DType, ones, Tensor } from '../src/index.ts';
import { native } from '../src/native.ts';

const loose = call as (name: string, ...args: unknown[]) => Tensor;
const a = ones([2, 3]);

describe('data and shapes that deceive', () => {
  const detached = (): Float32Array => {
    const data = new Float32Array(3);
    structuredClone(data.buffer, { transfer: [data.buffer] });
    return data;
  };
  /** Data, and a shape whose getter detaches them after they were handed over. */
  const takenAway = (): [Float32Array, number[]] => {
    const data = new Float32Array(3);
    const shape = [3];
    Object.defineProperty(shape, 0, {
      get() {
        structuredClone(data.buffer, { transfer: [data.buffer] });
        return 3;
      },
    });
    return [data, shape];
  };

  it.each<[string, () => unknown, string]>([
    [
      'data that were taken away',
      () => Tensor.fromArray(detached(), [3]),
      'shape needs 12 bytes, the data has 0',
    ],
    [
      'data that a size takes away',
      () => Tensor.fromArray(...takenAway()),
      'shape needs 12 bytes, the data has 0',
    ],
    ['more data than the shape', () => Tensor.fromArray(new Float32Array(3), [2]), 'the data has 12'],
    [
      'an element type without a name',
      () => Tensor.fromArray(new Int8Array(3), [3], 'qint8' as DType),
      'expected a number',
    ],
    ['a size of 2^54', () => Tensor.fromArray(new Float32Array(3), [2 ** 54]), 'whole numbers from 0'],
    [
      'a size that is not a number',
      () => Tensor.fromArray(new Float32Array(3), [Number.NaN]),
      'whole numbers',
    ],
  ])('%s: an error before memory is read', (_, body, text) => {
    expect(body).toThrow(ArgumentError);
    expect(body).toThrow(text);
  });

  it('keeps hold of an operator while a getter of an argument resolves others', () => {
    const shape = [3, 2];
    Object.defineProperty(shape, 0, {
      get() {
        for (const name of ['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh'])
          loose(name, a);
        return 3;
      },
    });
    expect(loose('reshape', a, shape).shape).toEqual([3, 2]);
  });

  it('makes true of every byte of a boolean but 0', () => {
    const made = Tensor.fromArray(Uint8Array.of(0, 1, 2, 255), [4], 'bool');
    expect([...new Uint8Array(native.readData(made.handle))]).toEqual([0, 1, 1, 1]);
  });

  it('reads what a view negates', () => {
    const complex = call('complex', ones([2]), ones([2]));
    expect(call('imag', call('conj', complex)).toNumbers()).toEqual([-1, -1]);
  });
});
