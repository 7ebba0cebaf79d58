import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ArgumentError, TorchError, UseAfterFreeError } from '../src/errors.ts';
import { arange, call, Generator, ones, rand, Tensor, tensor, zeros } from '../src/index.ts';

type Loose = (name: string, ...args: unknown[]) => Tensor;
const loose = call as Loose;
const a = ones([2, 3]);
const frames = /frame #|Exception raised from|c10::|\bat \/|0x[0-9a-f]{8}/;

function thrown(body: () => unknown): Error {
  try {
    body();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

describe('TorchError', () => {
  it('carries the operator, shapes, element types and the message of libtorch', () => {
    const error = thrown(() => a.matmul(zeros([4, 5], { dtype: 'float64' }))) as TorchError;
    expect(error).toBeInstanceOf(TorchError);
    expect(error.operator).toBe('matmul');
    expect(error.tensors).toEqual([
      { shape: [2, 3], dtype: 'float32' },
      { shape: [4, 5], dtype: 'float64' },
    ]);
    expect(error.message).toMatch(
      /^matmul\(float32\[2, 3\], float64\[4, 5\]\): .*shapes cannot be multiplied \(2x3 and 4x5\)/,
    );
  });

  it('describes tensors inside lists', () => {
    const error = thrown(() => loose('cat', [a, zeros([4])], 0)) as TorchError;
    expect(error.tensors.map((t) => t.shape)).toEqual([[2, 3], [4]]);
  });

  it.each<[string, () => unknown, string]>([
    ['an index out of range', () => a.indexSelect(0, tensor([5], { dtype: 'int64' })), 'index out of range'],
    [
      'an embedding out of range',
      () => call('embedding', a, tensor([-9], { dtype: 'int64' })),
      'index out of range',
    ],
    [
      'a gather out of range',
      () => a.gather(0, tensor([[99]], { dtype: 'int64' })),
      'index 99 is out of bounds',
    ],
    ['a class out of range', () => tensor([5], { dtype: 'int64' }).oneHot(3), 'smaller than num_classes'],
    ['a view past the storage', () => loose('as_strided', a, [100], [1]), 'out of bounds for storage'],
    ['a backward without a graph', () => a.backward(), 'does not require grad'],
    ['a gradient of integers', () => arange(2).requireGrad(), 'floating point'],
    ['a gradient of another shape', () => zeros([2]).setGrad(zeros([3])), "its tensor's shape"],
    ['an item of several elements', () => a.item(), '6 elements'],
    ['a device that does not exist', () => a.toDevice('quantum'), 'quantum'],
    [
      'a generator state of the wrong size',
      () => new Generator(1).restore(new Uint8Array(3)),
      'RNG state size to be 3',
    ],
    ['an element type that does not exist', () => loose('to.dtype', a, 99), 'TypeMeta'],
    ['a shape that does not fit', () => a.reshape(4, 4), "shape '[4, 4]' is invalid"],
    ['an empty list', () => loose('cat', [], 0), 'non-empty list'],
  ])('is what %s gives, without C++ frames', (_, body, text) => {
    const error = thrown(body);
    expect(error).toBeInstanceOf(TorchError);
    expect(error.message).toContain(text);
    expect(error.message).not.toMatch(frames);
    expect(error.message).not.toContain('\n');
  });
});

describe('memory that cannot be had', () => {
  it.each<[string, () => unknown, string]>([
    ['2^46 bytes', () => zeros([2 ** 44]), '70368744177664 bytes'],
    ['2^60 bytes', () => zeros([2 ** 30, 2 ** 28]), '1152921504606846976 bytes'],
    [
      'more than 64 bits count',
      () => zeros([2 ** 52, 2 ** 52]),
      'overflowed with sizes=[4503599627370496, 4503599627370496]',
    ],
    [
      'a copy of an expanded tensor',
      () =>
        zeros([1])
          .expand(2 ** 44)
          .contiguous(),
      '70368744177664 bytes',
    ],
    [
      'reading one',
      () =>
        zeros([1])
          .expand(2 ** 44)
          .toArray(),
      '70368744177664 bytes',
    ],
    [
      'data for a shape far too large',
      () => Tensor.fromArray(new Float32Array(3), [2 ** 44]),
      '70368744177664 bytes',
    ],
    ['random numbers', () => rand([2 ** 44], new Generator(1)), '70368744177664 bytes'],
  ])('%s: an error that says how much was asked for', (_, body, text) => {
    const error = thrown(body);
    expect(error).toBeInstanceOf(TorchError);
    expect(error.message).toContain(text);
    expect(ones([2]).sum().item()).toBe(2);
  });

  // A build with sanitizers needs more address space than this leaves.
  const limited = process.platform === 'linux' && process.env.HSN_ADDON === undefined;
  it.runIf(limited)('a JavaScript buffer that cannot be had ends no process', () => {
    // 6 GB mapped from a sparse file fit into the address space, a second 6 GB for JavaScript do not.
    const addon = new URL('../build/torch.node', import.meta.url).pathname;
    const script = `
      const { openSync, ftruncateSync, mkdtempSync, rmSync } = require('node:fs');
      const folder = mkdtempSync(require('node:os').tmpdir() + '/hsn-errors-');
      process.on('exit', () => rmSync(folder, { recursive: true }));
      ftruncateSync(openSync(folder + '/x', 'w'), 6e9);
      const torch = require(${JSON.stringify(addon)});
      const mapped = torch.call(torch.resolve('from_file', ''), folder + '/x', false, 6e9, 0);
      try { torch.readData(mapped); } catch (error) { console.log(error.code, error.message); }`;
    const out = execFileSync(
      'bash',
      ['-c', 'ulimit -v 10000000; exec "$0" -e "$1"', process.execPath, script],
      {
        encoding: 'utf8',
      },
    );
    expect(out.trim()).toBe('HSN_TORCH out of memory: JavaScript cannot hold a buffer of 6000000000 bytes');
  });
});

describe('ArgumentError', () => {
  const throwing = new Proxy([2, 3], {
    get(target, key) {
      if (key === '1') throw new RangeError('a getter that throws');
      return Reflect.get(target, key) as unknown;
    },
  });

  it.each<[string, () => unknown, string]>([
    ['a string for a tensor', () => loose('relu', 'x'), "relu: argument 'self' expects Tensor, got a string"],
    ['a function', () => loose('relu', () => 1), "relu: argument 'self' expects Tensor, got a function"],
    ['a bigint', () => loose('relu', 1n), "relu: argument 'self' expects Tensor, got a bigint"],
    ['a symbol', () => loose('relu', Symbol('x')), "relu: argument 'self' expects Tensor, got"],
    [
      'a boolean for an integer',
      () => loose('softmax.int', a, true),
      "argument 'dim' expects int, got a boolean",
    ],
    ['a fraction for an integer', () => loose('softmax.int', a, 0.5), "argument 'dim' expects int, got 0.5"],
    ['NaN for an integer', () => loose('softmax.int', a, Number.NaN), "argument 'dim' expects int, got nan"],
    [
      'infinity for an integer',
      () => loose('softmax.int', a, Number.POSITIVE_INFINITY),
      "argument 'dim' expects int, got inf",
    ],
    ['a list for an integer', () => loose('softmax.int', a, [0]), "argument 'dim' expects int, got an array"],
    ['an integer for a list', () => loose('reshape', a, 6), "argument 'shape' expects int[], got a number"],
    [
      'a string in a list',
      () => loose('reshape', a, [2, 'x']),
      "argument 'shape' expects int[], got a string",
    ],
    ['a fraction in a list', () => loose('reshape', a, [2, 1.5]), "argument 'shape' expects int[], got 1.5"],
    [
      'a hole in a list',
      () => loose('reshape', a, Array(2)),
      "argument 'shape' expects int[], got undefined",
    ],
    [
      'null in a list of tensors',
      () => loose('cat', [a, null], 0),
      "argument 'tensors' expects Tensor[], got null",
    ],
    [
      'a string for a boolean',
      () => loose('sum.dim_IntList', a, [0], 'yes'),
      "argument 'keepdim' expects bool, got a string",
    ],
    ['a number for a generator', () => loose('rand.generator', [2], 3), 'expected a live generator'],
    ['a missing argument', () => loose('softmax.int', a), "softmax.int: argument 'dim' (int) is missing"],
    ['no argument at all', () => loose('relu'), "relu: argument 'self' (Tensor) is missing"],
    ['null', () => loose('relu', null), "relu: argument 'self' (Tensor) is missing"],
    ['an object', () => loose('relu', {}), "relu: argument 'self'"],
    ['a date', () => loose('relu', new Date()), "relu: argument 'self'"],
    ['too many arguments', () => loose('relu', a, 1, 2), 'relu: takes at most 1 arguments, got 3'],
    [
      'an operator that trusts its caller',
      () => loose('_reshape_alias', a, [1000], [1]),
      'aten::_reshape_alias is internal to libtorch',
    ],
    ['one of gradients', () => loose('native_layer_norm_backward', a), 'is internal to libtorch'],
    ['one of another library', () => loose('prim::device', a), 'prim::device is internal to libtorch'],
    [
      'an operator that does not exist',
      () => loose('nonsense', a),
      'libtorch has no operator aten::nonsense',
    ],
    [
      'data that does not fill the shape',
      () => Tensor.fromArray(new Float32Array(3), [4]),
      'shape needs 16 bytes, the data has 12',
    ],
    ['a negative size', () => Tensor.fromArray(new Float32Array(3), [-3]), 'whole numbers from 0'],
    [
      'an array for a typed array',
      () => Tensor.fromArray([1] as unknown as Float32Array, [1]),
      'a typed array',
    ],
  ])('is what %s gives, before the call', (_, body, text) => {
    const error = thrown(body);
    expect(error).toBeInstanceOf(ArgumentError);
    expect(error.message).toContain(text);
  });

  it.each([0, 1, -1, 2 ** 24 - 1, 2 ** 52, 2 ** 60, 1e300, Number.NaN, Number.NEGATIVE_INFINITY, 0.5])(
    'is what the made-up handle %d gives',
    (handle) => {
      expect(() => loose('relu', { handle })).toThrow(ArgumentError);
      expect(() => loose('relu', handle)).toThrow('expected a live tensor');
    },
  );

  it('recognises a handle whose place another tensor has taken', () => {
    const first = zeros([2]);
    const stale = first.handle;
    first.free();
    const second = zeros([2]);
    expect(second.handle).not.toBe(stale);
    expect(() => loose('relu', { handle: stale })).toThrow(ArgumentError);
    expect(() => first.relu()).toThrow(UseAfterFreeError);
  });

  it('passes on what a getter of an argument throws', () => {
    expect(() => loose('reshape', a, throwing)).toThrow('a getter that throws');
    expect(a.reshape(3, 2).shape).toEqual([3, 2]);
  });
});
