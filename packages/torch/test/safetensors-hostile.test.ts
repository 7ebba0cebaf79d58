import { Buffer } from 'node:buffer';
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openSafetensors, openWeights, SafetensorsError } from '../src/index.ts';
import { parseHeader } from '../src/safetensors/header.ts';
import { fuzz } from './fuzz.ts';
import { kindCount } from './fuzz-inputs.ts';

const fixture = fileURLToPath(new URL('../../../fixtures/gpt2-tiny/model.safetensors', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hsn-hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(header: string | Buffer, dataBytes = 0, length?: bigint): Buffer {
  const text = Buffer.from(header as string);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(length ?? BigInt(text.length));
  return Buffer.concat([prefix, text, Buffer.alloc(dataBytes)]);
}
function refused(bytes: Buffer, name = 'x.safetensors'): SafetensorsError {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  try {
    openWeights(path).close();
  } catch (error) {
    if (error instanceof SafetensorsError) return error;
    throw error;
  }
  throw new Error('the file was accepted');
}
const entry = (shape: string, begin: number | string, end: number | string, dtype = 'U8'): string =>
  `{"dtype":"${dtype}","shape":[${shape}],"data_offsets":[${begin},${end}]}`;

describe('the rules of the format', () => {
  it.each<[string, Buffer, string, string]>([
    ['an empty file', Buffer.alloc(0), 'size', 'at least 8 bytes'],
    ['seven bytes', Buffer.alloc(7), 'size', 'got 7'],
    ['a header of 2^63', file('{}', 0, 1n << 63n), 'header-length', '9223372036854775808'],
    ['a header of 2^64 - 1', file('{}', 0, (1n << 64n) - 1n), 'header-length', '18446744073709551615'],
    ['a header of 100 000 001', file('{}', 0, 100_000_001n), 'header-length', 'at most 100000000 bytes'],
    ['a header longer than the file', file('{}', 0, 3n), 'header-length', 'the file is cut'],
    ['no header', file('', 0), 'header-length', 'at least 2 bytes'],
    ['invalid UTF-8', file(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), 'utf8', 'not UTF-8'],
    ['a byte order mark', file('\ufeff{}'), 'json', 'starts with {'],
    ['an array', file('[]'), 'json', 'starts with {'],
    ['text after the object', file('{} x'), 'json', 'nothing after'],
    ['a trailing comma', file(`{"a":${entry('', 0, 1)},}`, 1), 'json', 'a string at byte'],
    [
      'a duplicate tensor',
      file(`{"a":${entry('1', 0, 1)},"a":${entry('1', 1, 2)}}`, 2),
      'duplicate-key',
      '"a" twice',
    ],
    [
      'an escaped duplicate',
      file(`{"a":${entry('1', 0, 1)},"\\u0061":${entry('1', 1, 2)}}`, 2),
      'duplicate-key',
      '"a" twice',
    ],
    ['a duplicate field', file('{"a":{"dtype":"U8","dtype":"U8"}}'), 'duplicate-key', '"dtype" twice'],
    ['duplicate metadata', file('{"__metadata__":{"a":"","a":""}}'), 'duplicate-key', '"a" twice'],
    [
      'metadata that is no string',
      file('{"__metadata__":{"a":1}}'),
      'metadata',
      'metadata "a" to be a string',
    ],
    ['a lone surrogate', file(`{"\\ud800":${entry('0', 0, 0)}}`), 'json', 'surrogate'],
    ['a bad escape', file(`{"\\x":${entry('0', 0, 0)}}`), 'json', 'valid escapes'],
    ['an open string', file('{"a'), 'json', 'closing quote'],
    ['an unknown field', file('{"a":{"b":1}}'), 'json', 'a key "b"'],
    ['a missing field', file('{"a":{"dtype":"U8"}}'), 'json', 'only 1 of them'],
    [
      'an unknown dtype',
      file(`{"emb":${entry('1', 0, 1, 'F8_E4M3')}}`, 1),
      'dtype',
      'for tensor "emb", got "F8_E4M3"',
    ],
    ['NaN in a shape', file(`{"a":${entry('NaN', 0, 1)}}`, 1), 'shape', 'got "NaN]'],
    ['a negative size', file(`{"a":${entry('-1', 0, 1)}}`, 1), 'shape', 'got -1'],
    ['a fraction', file(`{"a":${entry('1.0', 0, 1)}}`, 1), 'shape', 'got 1.0'],
    ['1e999', file(`{"a":${entry('1e999', 0, 1)}}`, 1), 'shape', 'got 1e999'],
    [
      'an integer past 2^53',
      file(`{"a":${entry('0', 0, '9007199254740993')}}`, 1),
      'offsets',
      '9007199254740993',
    ],
    ['an overflowing shape', file(`{"a":${entry('4294967296,4294967296', 0, 0)}}`), 'shape', 'below 2^53'],
    [
      'an overflow behind a zero',
      file(`{"a":${entry('0,4294967296,4294967296', 0, 0)}}`),
      'shape',
      'below 2^53',
    ],
    [
      '65 dimensions',
      file(`{"a":${entry(Array(65).fill(1).join(','), 0, 1)}}`, 1),
      'limit',
      'at most 64 elements',
    ],
    ['falling offsets', file(`{"a":${entry('1', 1, 0)}}`, 1), 'offsets', 'two rising'],
    ['three offsets', file(`{"a":${entry('1', '0,1', 1)}}`, 1), 'limit', 'at most 2 elements'],
    [
      'a length that is not the shape',
      file(`{"a":${entry('3', 0, 4, 'F32')}}`, 4),
      'byte-length',
      '12 bytes for float32[3]',
    ],
    ['an overlap', file(`{"a":${entry('2', 0, 2)},"b":${entry('2', 1, 3)}}`, 3), 'offsets', 'an overlap'],
    ['a hole', file(`{"a":${entry('1', 0, 1)},"b":${entry('1', 2, 3)}}`, 3), 'offsets', 'a hole'],
    ['a hole at the start', file(`{"a":${entry('1', 1, 2)}}`, 2), 'offsets', 'to start at 0'],
    ['data that is cut', file(`{"a":${entry('4', 0, 4)}}`, 3), 'size', 'the file is cut'],
    ['data that is too long', file(`{"a":${entry('4', 0, 4)}}`, 5), 'size', 'the file is too long'],
    ['100 000 nested arrays', file(`{"a":${'['.repeat(100_000)}`), 'json', 'an object at byte'],
  ])('refuses %s', (_, bytes, rule, text) => {
    const error = refused(bytes);
    expect(error.rule).toBe(rule);
    expect(error.message).toContain(text);
    expect(error.message.startsWith(join(folder, 'x.safetensors'))).toBe(true);
    expect(error.message).not.toContain('\n');
  });

  it('treats __proto__ as a name like any other', () => {
    const bytes = file(`{"__metadata__":{"__proto__":"m"},"__proto__":${entry('1', 0, 1)}}`, 1);
    const { tensors, metadata } = parseHeader(bytes, bytes.length);
    expect([...tensors.keys()]).toEqual(['__proto__']);
    expect(metadata.get('__proto__')).toBe('m');
    expect('dtype' in {}).toBe(false);
  });

  it('escapes control characters of the file in its messages', () => {
    const error = refused(file(`{"\\u001b[2J\u009b":${entry('1', 0, 0)}}`));
    expect(error.message).toContain('\\u001b[2J\\u009b');
  });

  it('accepts tensors out of order, a header of {} and trailing white space', () => {
    for (const bytes of [
      file(`{"b":${entry('2', 1, 3)},"z":${entry('0', 1, 1)},"a":${entry('1', 0, 1)}}`, 3),
      file('{}'),
      file('{} \n\t\r '),
    ])
      expect(parseHeader(bytes, bytes.length).dataStart).toBeGreaterThan(8);
  });

  it('cuts the real file at every 1 % of its length', () => {
    const whole = readFileSync(fixture);
    for (let percent = 0; percent < 100; percent++) {
      const error = refused(whole.subarray(0, Math.floor((whole.length * percent) / 100)));
      expect(['size', 'header-length']).toContain(error.rule);
    }
  });
});

describe('memory', () => {
  it('reads 100 000 tensors', () => {
    const entries = Array.from({ length: 100_000 }, (_, i) => `"h.${i}":${entry('1', i, i + 1)}`);
    writeFileSync(join(folder, 'many.safetensors'), file(`{${entries.join(',')}}`, 100_000));
    const weights = openSafetensors(join(folder, 'many.safetensors'));
    expect(weights.names).toHaveLength(100_000);
    expect(weights.get('h.99999').shape).toEqual([1]);
    weights.close();
  });

  it('allocates nothing for a header that a sparse file only claims', () => {
    const path = join(folder, 'sparse.safetensors');
    const descriptor = openSync(path, 'w');
    writeSync(descriptor, file('', 0, 99_999_992n));
    ftruncateSync(descriptor, 100_000_000);
    closeSync(descriptor);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => openSafetensors(path)).toThrow(/starts with \{/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1e6);
  });
});

describe('pickles', () => {
  const magic = Buffer.from([0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20]);
  it.each(['m.pt', 'm.pth', 'pytorch_model.bin', 'm.ckpt', 'm.pkl', 'm.PT'])(
    'refuses %s by its name',
    (name) => {
      const error = refused(file('{}'), name);
      expect(error.rule).toBe('pickle');
      expect(error.message).toContain('never read here');
      expect(error.message).toContain(`torch.load("${name}", map_location="cpu", weights_only=True)`);
      expect(error.message).toMatch(/"\w+\.safetensors"\)$/);
    },
  );
  it.each([
    ['zip', Buffer.from('PK\x03\x04\0\0\x08\x08archive/data.pkl'), 'a zip archive'],
    ['pickle of protocol 2', magic, 'a Python pickle'],
    ['pickle of protocol 5', Buffer.from([0x80, 5, 0x95, 0, 0, 0, 0, 0, 0, 0, 0]), 'a Python pickle'],
  ])('knows a %s by its content', (_, bytes, text) => {
    const error = refused(bytes);
    expect(error.rule).toBe('pickle');
    expect(error.message).toContain(text);
  });
  it('does not take a header of 640 bytes, which also starts with 80 02, for one', () => {
    const bytes = file('{}'.padEnd(640));
    expect([bytes[0], bytes[1]]).toEqual([0x80, 0x02]);
    expect(parseHeader(bytes, bytes.length).tensors.size).toBe(0);
  });
});

describe('generated inputs', () => {
  it('ends every one in a valid header or a typed error', () => {
    const summary = fuzz(50_000, 7);
    expect(summary.crashes).toBe(0);
    expect(summary.accepted + summary.rejected).toBe(50_000);
    expect(summary.accepted).toBeGreaterThan(2000);
    expect(summary.kinds).toBe(kindCount);
    expect(summary.rules.length).toBeGreaterThan(10);
    expect(summary.peakMemoryGrowthMB).toBeLessThan(300);
  });
});
