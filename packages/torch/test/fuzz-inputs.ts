import { Buffer } from 'node:buffer';

/** A seeded source of choices (mulberry32), so that every input can be made again from its number. */
export class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  /** From 0 up to, but not including, `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit);
  }
  one<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}

/** One input: the bytes of a would-be weight file and the name it goes by. */
export interface FuzzInput {
  readonly kind: string;
  readonly bytes: Buffer;
}

interface Draft {
  name: string;
  dtype: string;
  shape: string[];
  begin: string;
  end: string;
}

const elementBytes: Readonly<Record<string, number>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U8: 1,
  BOOL: 1,
};
const dtypes = Object.keys(elementBytes);
const names = [
  'a',
  'wte.weight',
  '__proto__',
  'constructor',
  'toString',
  'é',
  '😀',
  '',
  'h.0.attn',
  '0',
  '\u0000',
];
const badNumbers = [
  '-1',
  '1.5',
  'NaN',
  'Infinity',
  '1e999',
  '1e3',
  '-0',
  '01',
  '+1',
  '0x10',
  '9007199254740992',
  '9007199254740993',
  '18446744073709551616',
  '4294967296',
  '9223372036854775807',
  '1'.repeat(300),
  '"3"',
  'null',
  '[]',
  '{}',
  'true',
  '',
];
const wrongValues = ['null', '[]', '{}', '0', '"x"', 'true', '[[[]]]', '{"a":{"b":{}}}', 'NaN', ''];

function drafts(choices: Choices): { tensors: Draft[]; dataBytes: number } {
  const tensors: Draft[] = [];
  let begin = 0;
  const count = choices.below(5);
  for (let i = 0; i < count; i++) {
    const dtype = choices.one(dtypes);
    const shape = Array.from({ length: choices.below(4) }, () => choices.below(4));
    const end = begin + shape.reduce((product, n) => product * n, elementBytes[dtype]!);
    tensors.push({
      name: `${choices.one(names)}${i}`,
      dtype,
      shape: shape.map(String),
      begin: String(begin),
      end: String(end),
    });
    begin = end;
  }
  return { tensors, dataBytes: begin };
}

function entryText(t: Draft): string {
  return `${JSON.stringify(t.name)}:{"dtype":"${t.dtype}","shape":[${t.shape.join(',')}],"data_offsets":[${t.begin},${t.end}]}`;
}

function assemble(header: Buffer | string, dataBytes: number, length?: bigint): Buffer {
  const text = Buffer.from(header as string);
  const out = Buffer.alloc(8 + text.length + dataBytes, 1);
  out.writeBigUInt64LE(length ?? BigInt(text.length), 0);
  text.copy(out, 8);
  return out;
}

function headerText(tensors: readonly Draft[], extra: readonly string[] = []): string {
  return `{${[...extra, ...tensors.map(entryText)].join(',')}}`;
}

function validFile(choices: Choices): Buffer {
  const { tensors, dataBytes } = drafts(choices);
  const extra = choices.below(2) === 0 ? [] : [`"__metadata__":{"format":"pt","__proto__":"x"}`];
  if (choices.below(4) === 0) tensors.reverse();
  return assemble(headerText(tensors, extra) + ' '.repeat(choices.below(8)), dataBytes);
}

/** Changes one tensor's description, keeping the rest of the file as it was. */
function edited(choices: Choices, edit: (t: Draft, all: Draft[]) => void): Buffer {
  const { tensors, dataBytes } = drafts(choices);
  if (tensors.length > 0) edit(choices.one(tensors), tensors);
  return assemble(headerText(tensors), dataBytes);
}

function moved(text: string, by: number): string {
  return String(Number(text) + by);
}

type Maker = (choices: Choices) => Buffer;

const small: Readonly<Record<string, Maker>> = {
  valid: validFile,
  bitFlips: (c) => {
    const out = validFile(c);
    for (let n = 1 + c.below(4); n > 0; n--) {
      const at = c.below(out.length);
      out[at] = out[at]! ^ (1 << c.below(8));
    }
    return out;
  },
  cut: (c) => {
    const out = validFile(c);
    return out.subarray(0, c.below(out.length + 1));
  },
  inserted: (c) => {
    const out = validFile(c);
    const at = c.below(out.length + 1);
    const extra = Buffer.from(Array.from({ length: 1 + c.below(9) }, () => c.below(256)));
    return Buffer.concat([out.subarray(0, at), extra, out.subarray(at)]);
  },
  removed: (c) => {
    const out = validFile(c);
    const at = c.below(out.length);
    return Buffer.concat([out.subarray(0, at), out.subarray(at + 1 + c.below(9))]);
  },
  length: (c) => {
    const { tensors, dataBytes } = drafts(c);
    const lengths = [
      0n,
      1n,
      2n,
      1n << 63n,
      (1n << 64n) - 1n,
      100_000_000n,
      100_000_001n,
      1n << 53n,
      1n << 32n,
      0xffn,
    ];
    return assemble(headerText(tensors), dataBytes, c.one(lengths));
  },
  overlap: (c) => edited(c, (t) => (t.begin = moved(t.begin, -1 - c.below(8)))),
  hole: (c) =>
    edited(c, (t) => {
      const by = 1 + c.below(8);
      t.begin = moved(t.begin, by);
      t.end = moved(t.end, by);
    }),
  sharedBytes: (c) =>
    edited(c, (t, all) => {
      t.begin = all[0]!.begin;
      t.end = all[0]!.end;
    }),
  duplicate: (c) => edited(c, (t, all) => (t.name = c.one(all).name)),
  proto: (c) =>
    edited(c, (t) => (t.name = c.one(['__proto__', '__metadata__', 'constructor', 'hasOwnProperty']))),
  badShape: (c) => edited(c, (t) => (t.shape[c.below(t.shape.length + 1)] = c.one(badNumbers))),
  badOffsets: (c) => edited(c, (t) => (t[c.one(['begin', 'end'] as const)] = c.one(badNumbers))),
  overflow: (c) =>
    edited(c, (t) => {
      const sizes = ['4294967296', '9007199254740991', '2147483648', '0', '65536'];
      t.shape = Array.from({ length: 2 + c.below(6) }, () => c.one(sizes));
    }),
  dtype: (c) => edited(c, (t) => (t.dtype = c.one(['F8_E4M3', 'U16', 'C64', '', 'f32', 'F32\\u0000', 'F4']))),
  offsetCount: (c) => edited(c, (t) => (t.end = c.one([`${t.end},0`, '', `${t.end},`]))),
  manyDimensions: (c) => edited(c, (t) => (t.shape = Array.from({ length: 1 + c.below(200) }, () => '1'))),
  wrongEntry: (c) => assemble(`{"a":${c.one(wrongValues)}}`, c.below(8)),
  wrongField: (c) => {
    const key = c.one(['dtype', 'shape', 'data_offsets', 'extra', '__proto__']);
    const fields = ['"dtype":"U8"', '"shape":[1]', '"data_offsets":[0,1]'].filter(
      (f) => !f.startsWith(`"${key}"`),
    );
    return assemble(`{"a":{${[...fields, `"${key}":${c.one(wrongValues)}`].join(',')}}}`, 1);
  },
  duplicateField: () => assemble('{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1),
  metadata: (c) =>
    assemble(`{"__metadata__":${c.one([...wrongValues, '{"a":1}', '{"a":null}', '{"a":"b","a":"c"}'])}}`, 0),
  topLevel: (c) => assemble(c.one(wrongValues), c.below(4)),
  twice: (c) => assemble('{}{}', c.below(2)),
  bom: () => assemble('\ufeff{}', 0),
  invalidUtf8: (c) => {
    const bad = c.one([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf8, 0x88], [0xe2, 0x82], [0x80]]);
    return assemble(Buffer.concat([Buffer.from('{"'), Buffer.from(bad), Buffer.from('":0}')]), 0);
  },
  escapes: (c) => {
    const name = c.one([
      '\\ud800',
      '\\udc00\\ud800',
      '\\x41',
      '\\u12',
      '\\',
      '\\u0061',
      '\\ud83d\\ude00',
      '\n',
      '\t',
    ]);
    return assemble(`{"${name}":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, 0);
  },
  pickle: (c) => {
    const tail = Buffer.from(Array.from({ length: c.below(64) }, () => c.below(256)));
    const starts = [[0x50, 0x4b, 3, 4], [0x80, 2, 0x8a, 10], [0x80, 4, 0x95], [0x80, 2, 0x7d, 0x71], [0x80]];
    return Buffer.concat([Buffer.from(c.one(starts)), tail]);
  },
  noise: (c) => Buffer.from(Array.from({ length: c.below(64) }, () => c.below(256))),
};

/** Inputs of up to megabytes, each of which would hurt a reader without limits. */
const large: Readonly<Record<string, Maker>> = {
  deepArrays: () => assemble(`{"a":${'['.repeat(100_000)}`, 0),
  deepObjects: () => assemble('{"a":'.repeat(100_000), 0),
  deepMetadata: () => assemble(`{"__metadata__":${'{"a":'.repeat(100_000)}`, 0),
  manyTensors: (c) => {
    const overlapping = c.below(2);
    const entries = Array.from(
      { length: 100_000 },
      (_, i) => `"${i}":{"dtype":"U8","shape":[1],"data_offsets":[${i - overlapping * (i % 2)},${i + 1}]}`,
    );
    return assemble(`{${entries.join(',')}}`, 100_000);
  },
  longShape: () =>
    assemble(`{"a":{"dtype":"U8","shape":[${'1,'.repeat(500_000)}1],"data_offsets":[0,1]}}`, 1),
  longNumber: () =>
    assemble(`{"a":{"dtype":"U8","shape":[${'1'.repeat(1_000_000)}],"data_offsets":[0,1]}}`, 1),
  longName: () => assemble(`{"${'x'.repeat(1_000_000)}":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
  manyKeys: () => assemble(`{"a":{${Array.from({ length: 50_000 }, (_, i) => `"${i}":0`).join(',')}}}`, 0),
  spaces: () => assemble(`{}${' '.repeat(1_000_000)}`, 0),
};

const smallKinds = Object.keys(small);
const largeKinds = Object.keys(large);

export const kindCount = smallKinds.length + largeKinds.length;

/** Input number `index` of a seed. One in 5000 is large. */
export function fuzzInput(seed: number, index: number): FuzzInput {
  const choices = new Choices(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  choices.below(2);
  if (index % 5000 === 4999) {
    const kind = largeKinds[Math.floor(index / 5000) % largeKinds.length]!;
    return { kind, bytes: large[kind]!(choices) };
  }
  const kind = smallKinds[index % smallKinds.length]!;
  return { kind, bytes: small[kind]!(choices) };
}
