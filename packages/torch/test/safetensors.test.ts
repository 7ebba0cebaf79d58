import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UseAfterFreeError } from '../src/errors.ts';
import {
  arange,
  Generator,
  liveTensors,
  openSafetensors,
  openWeights,
  randn,
  SafetensorsError,
  scope,
  type Tensor,
  tensor,
  writeSafetensors,
  zeros,
} from '../src/index.ts';

const fixture = fileURLToPath(new URL('../../../fixtures/gpt2-tiny/model.safetensors', import.meta.url));

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hsn-safetensors-'));
  path = join(folder, 'model.safetensors');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(header: string, data: readonly number[] = []): Buffer {
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, Buffer.from(data)]);
}

function thrown(body: () => unknown): SafetensorsError {
  try {
    body();
  } catch (error) {
    if (error instanceof SafetensorsError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('writing', () => {
  it('lays bytes out as the format says', () => {
    writeSafetensors(
      path,
      [
        ['b', tensor([1, -2])],
        ['a', tensor(Uint8Array.of(7, 8, 9))],
      ],
      { k: 'v' },
    );
    const bytes = readFileSync(path);
    const length = Number(bytes.readBigUInt64LE(0));
    expect(length % 8).toBe(0);
    expect(bytes.toString('utf8', 8, 8 + length).trimEnd()).toBe(
      '{"__metadata__":{"k":"v"},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}}',
    );
    expect(bytes.readFloatLE(8 + length)).toBe(1);
    expect(bytes.readFloatLE(12 + length)).toBe(-2);
    expect([...bytes.subarray(16 + length)]).toEqual([7, 8, 9]);
  });

  it('reads back bit-equal in every element type, shape and alignment', () => {
    const values = randn([3, 5], new Generator(1)).mul(100);
    const dtypes = [
      'float64',
      'float32',
      'float16',
      'bfloat16',
      'int64',
      'int32',
      'int16',
      'int8',
      'uint8',
      'bool',
    ] as const;
    const given = new Map<string, Tensor>([['odd', tensor(Uint8Array.of(1, 2, 3))]]);
    for (const dtype of dtypes) given.set(dtype, values.abs().to(dtype));
    given
      .set('scalar', tensor(2.5))
      .set('empty', zeros([0, 3]))
      .set('__proto__', arange(4));
    given.set('transposed', values.transpose(0, 1)).set('grad', zeros([2]).requireGrad());
    given.set('special', tensor(Float32Array.of(Number.NaN, -0, Number.POSITIVE_INFINITY, 1e-45)));
    const size = writeSafetensors(path, given);
    expect(size).toBe(readFileSync(path).length);
    const back = openWeights(path);
    expect(back.names).toEqual([...given.keys()]);
    for (const [name, wanted] of given) {
      const got = back.get(name);
      expect(back.info(name)).toEqual({
        dtype: wanted.dtype,
        shape: wanted.shape,
        bytes: expect.any(Number),
      });
      expect([got.dtype, got.shape]).toEqual([wanted.dtype, wanted.shape]);
      expect(got.toArray(), name).toEqual(wanted.toArray());
    }
    back.close();
  });

  it('writes tensors larger than one chunk', () => {
    scope(() => {
      const large = randn([5_000_001], new Generator(2));
      writeSafetensors(path, [
        ['large', large],
        ['after', arange(3)],
      ]);
      const back = openSafetensors(path);
      expect(back.get('large').eq(large).all().item()).toBe(1);
      expect(back.get('after').toNumbers()).toEqual([0, 1, 2]);
      back.close();
    });
  });

  it('leaves the previous file and nothing else when it fails', () => {
    writeSafetensors(path, [['a', arange(3)]]);
    const before = readFileSync(path);
    const freed = arange(2);
    freed.free();
    const one = arange(1);
    const failures: (() => unknown)[] = [
      () =>
        writeSafetensors(path, [
          ['a', one],
          ['a', one],
        ]),
      () => writeSafetensors(path, [['__metadata__', one]]),
      () => writeSafetensors(path, [['\ud800', one]]),
      () => writeSafetensors(path, [['a', one]], { k: 3 as unknown as string }),
      () => writeSafetensors(join(folder, 'no', 'such', 'folder.safetensors'), [['a', one]]),
    ];
    for (const failure of failures) expect(thrown(failure)).toBeInstanceOf(SafetensorsError);
    expect(() =>
      writeSafetensors(path, [
        ['a', one],
        ['b', freed],
      ]),
    ).toThrow(UseAfterFreeError);
    // A folder in the way lets everything succeed up to the rename.
    mkdirSync(join(folder, 'taken.safetensors', 'full'), { recursive: true });
    expect(thrown(() => writeSafetensors(join(folder, 'taken.safetensors'), [['a', one]])).rule).toBe(
      'write',
    );
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['model.safetensors', 'taken.safetensors']);
  });

  it('frees what it made', () => {
    const value = arange(10).reshape(2, 5).transpose(0, 1);
    const before = liveTensors().tensors;
    writeSafetensors(path, [['a', value]]);
    expect(liveTensors().tensors).toBe(before);
  });
});

describe('reading', () => {
  it('reads a file in the Hugging Face layout that another program wrote', () => {
    const weights = openSafetensors(fixture);
    expect(weights.metadata.get('format')).toBe('pt');
    expect(weights.names).toHaveLength(28);
    expect(weights.info('transformer.wte.weight')).toEqual({
      dtype: 'float32',
      shape: [97, 32],
      bytes: 12416,
    });
    const bytes = readFileSync(fixture);
    const start = 8 + Number(bytes.readBigUInt64LE(0));
    const wpe = weights.get('transformer.wpe.weight').toArray();
    expect(wpe[0]).toBe(bytes.readFloatLE(start + 12416));
    expect(wpe[1023]).toBe(bytes.readFloatLE(start + 16508));
    weights.close();
  });

  it('writes the same data again, byte for byte', () => {
    const weights = openSafetensors(fixture);
    writeSafetensors(
      path,
      weights.names.map((name) => [name, weights.get(name)] as const),
      weights.metadata,
    );
    const [a, b] = [readFileSync(fixture), readFileSync(path)];
    const data = (file: Buffer): Buffer => file.subarray(8 + Number(file.readBigUInt64LE(0)));
    expect(data(b).equals(data(a))).toBe(true);
  });

  it('reads into memory of its own, never writes to the file, and outlives close and rename', () => {
    writeSafetensors(path, [['a', arange(8)]]);
    const bytes = readFileSync(path);
    const weights = openSafetensors(path);
    const a = weights.get('a');
    a.mul_(2);
    expect(weights.get('a').toNumbers()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    writeSafetensors(path, [['a', zeros([8])]]);
    expect(weights.get('a').toNumbers()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    weights.close();
    weights.close();
    expect(a.toNumbers()).toEqual([0, 2, 4, 6, 8, 10, 12, 14]);
    expect(openSafetensors(path).get('a').dtype).toBe('float32');
    expect(thrown(() => weights.get('a')).rule).toBe('closed');
  });

  it('reads nothing but what is asked for', () => {
    const megabytes = 200;
    scope(() =>
      writeSafetensors(path, [
        ['a', zeros([megabytes, 1 << 18])],
        ['b', arange(3)],
      ]),
    );
    const before = liveTensors().bytes;
    const weights = openSafetensors(path);
    expect(weights.get('b').toNumbers()).toEqual([0, 1, 2]);
    expect(liveTensors().bytes - before).toBe(24);
    weights.close();
  });

  it('tells a file that was cut or changed since it was opened (fault 41)', () => {
    const write = () =>
      scope(() =>
        writeSafetensors(path, [
          ['a', arange(1000)],
          ['b', arange(1000)],
        ]),
      );
    write();
    const cut = openSafetensors(path);
    truncateSync(path, 12_000);
    const error = thrown(() => cut.get('b'));
    expect(error.rule).toBe('file');
    expect(error.message).toMatch(
      /model\.safetensors: expected a file that stays as it is while it is read, got one that was cut from \d+ to 12000 bytes$/,
    );
    cut.close();
    write();
    const changed = openSafetensors(path);
    utimesSync(path, 1, 1);
    expect(thrown(() => changed.get('a')).message).toContain('got one that was changed');
    changed.close();
  });

  it('survives a file that another process cuts while it is read (fault 41)', async () => {
    scope(() => writeSafetensors(path, [['a', zeros([1 << 20])]]));
    const reader = new URL('./cut-reader.ts', import.meta.url);
    const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(reader), path]);
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
      if (said.startsWith('opened\n')) truncateSync(path, 5000);
    });
    const [code, signal] = await once(child, 'close');
    expect([code, signal]).toEqual([0, null]);
    expect(said).toMatch(/^opened\nSafetensorsError: .*, got one that was cut from \d+ to 5000 bytes\n$/);
  });

  it('survives the scope it is opened in, and gives its tensors to the scope that asks', () => {
    writeSafetensors(path, [['a', arange(3)]]);
    const weights = scope(() => openSafetensors(path));
    const before = liveTensors().tensors;
    scope(() => weights.get('a'));
    const sum = scope(() => weights.get('a').sum().item());
    expect(sum).toBe(3);
    expect(liveTensors().tensors).toBe(before + 1);
    weights.close();
  });

  it('reads boolean bytes other than 0 and 1 as true', () => {
    writeFileSync(path, file('{"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}', [0, 1, 255]));
    expect(openSafetensors(path).get('a').toNumbers()).toEqual([0, 1, 1]);
  });

  it('names the tensor that is not there', () => {
    const error = thrown(() => openSafetensors(fixture).get('lm_head.weight'));
    expect(error.rule).toBe('name');
    expect(error.message).toContain('expected a tensor named "lm_head.weight", got 28 others');
  });

  it.each([
    ['nothing.safetensors', 'ENOENT'],
    ['a\0b.safetensors', 'null bytes'],
    ['.', 'a folder'],
  ])('says why %j cannot be opened', (name, reason) => {
    const error = thrown(() => openSafetensors(join(folder, name)));
    expect(error.rule).toBe('file');
    expect(error.message).toContain(reason);
  });
});
