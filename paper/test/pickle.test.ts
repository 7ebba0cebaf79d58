// Pickles that Python wrote, and ones that would have it do things.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UserError } from '@hidden-schema/base/errors';
import { Random } from '@hidden-schema/base/random';
import { describe, expect, test } from 'vitest';
import { NumberArray } from '../src/pickle/numpy.ts';
import { type Pickled, parsePickle, readPickle } from '../src/pickle/read.ts';

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/authors-corpus/${name}`, import.meta.url));

function read(...parts: (string | Buffer | number[])[]): Pickled {
  const bytes = parts.map((part) =>
    typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
  );
  return parsePickle(Buffer.concat(bytes), 'x.pkl');
}
const P = '\x80\x03';
const long = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const dtype = (name = 'i4', order = '<') =>
  `cnumpy\ndtype\nX\x02\0\0\0${name}K\x00K\x01\x87R(K\x03X\x01\0\0\0${order}NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb`;
const empty = 'cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R';

describe('what Python wrote', () => {
  test('an array', () => {
    const graph = readPickle(fixture('adjacency_schemata.pkl')) as NumberArray;
    expect(graph).toBeInstanceOf(NumberArray);
    expect(graph.shape).toEqual([6, 6]);
    expect(graph.values.slice(0, 6)).toEqual([0, 1, 1, 0, 0, 0]);
  });

  test('a dict of lists of texts', () => {
    const bags = readPickle(fixture('schema_words.pkl')) as Map<number, string[]>;
    expect([...bags.keys()]).toEqual([0, 1, 2, 3, 4, 5]);
    expect(bags.get(3)).toEqual(['T3B', 'T3A']);
  });

  test('lists of plain numbers and numpy’s', () => {
    const walks = readPickle(fixture('toy.val_walks.pkl')) as number[][];
    const text = walks.map((walk) => `${walk.join(' ')}\n`).join('');
    expect(text).toBe(fs.readFileSync(fixture('valid_walks.expected'), 'utf8'));
  });

  test.each([
    ['i1', '|', [255], -1],
    ['u1', '|', [255], 255],
    ['b1', '|', [1], 1],
    ['i2', '<', [0xfe, 0xff], -2],
    ['i8', '<', [5, 0, 0, 0, 0, 0, 0, 0], 5],
    ['f8', '<', [0, 0, 0, 0, 0, 0, 0xf0, 0x3f], 1],
  ])('a number of type %s', (name, order, bytes, value) => {
    const scalar = `cnumpy.core.multiarray\nscalar\n${dtype(name, order)}C`;
    expect(read(P, scalar, [bytes.length, ...bytes], '\x86R.')).toBe(value);
  });
});

describe('what is refused, with its place', () => {
  const call = 'cos\nsystem\nX\x04\0\0\0echo\x85R.';
  test.each<[string, (string | Buffer | number[])[], string]>([
    ['a call', [P, call], 'names "os system", which data of the authors do not need (byte 2)'],
    ['a class', [P, 'cbuiltins\neval\n)\x81.'], 'names "builtins eval"'],
    ['a name by its texts', [P, 'X\x02\0\0\0osX\x06\0\0\0system\x93.'], 'has the opcode STACK_GLOBAL'],
    [
      'an instance',
      [P, '(ios\nsystem\n.'],
      'has the opcode INST, which data of the authors do not need (byte 3)',
    ],
    ['an old object', [P, '(cnumpy\nndarray\no.'], 'has the opcode OBJ'],
    ['a new object', [P, 'cnumpy\nndarray\n)\x81.'], 'has the opcode NEWOBJ'],
    ['an extension', [P, '\x82\x01.'], 'has the opcode EXT1'],
    ['something kept elsewhere', [P, 'Pname\n.'], 'has the opcode PERSID'],
    ['a byte that is no opcode', [P, [0xfe]], 'has the opcode 0xfe'],
    ['protocol 4', ['\x80\x04\x95', Buffer.alloc(8), '.'], 'is of protocol 4; expected 2 or 3'],
    ['no pickle', ['hello'], 'begins with BINGET; expected a pickle of protocol 2 or 3 (byte 0)'],
    ['nothing', [''], 'ends early: 1 bytes are needed where 0 are left'],
    [
      'a cut text',
      [P, 'X', long(4_000_000_000), 'abc'],
      'ends early: 4000000000 bytes are needed where 3 are left',
    ],
    ['a text that is not UTF-8', [P, 'X\x01\0\0\0', [0xff], '.'], 'has a text that is not UTF-8'],
    ['a name without an end', [P, `c${'a'.repeat(300)}\nb\n.`], 'has a name without an end'],
    ['an empty stack', [P, '\x87.'], 'takes more from its stack than there is'],
    ['no mark', [P, 'K\x01t.'], 'takes more from its stack than there is'],
    ['a mark in place of a value', [P, '(\x85.'], 'takes more from its stack than there is'],
    ['no value', [P, '.'], 'ends with 0 values; expected one'],
    ['two values', [P, 'NN.'], 'ends with 2 values; expected one'],
    ['bytes after the end', [P, 'N.N'], 'goes on for 1 bytes after its end'],
    ['what was not remembered', [P, 'h\x07.'], 'recalls 7, which it did not remember'],
    ['a list as a key', [P, '}]Ns.'], 'has a key that is neither a number nor a text'],
    ['half an item', [P, '}(Nu.'], 'sets items of what is no dict'],
    ['an item of a list', [P, ']K\x01K\x02s.'], 'sets items of what is no dict'],
    ['an element of a dict', [P, '}K\x01a.'], 'adds to what is no list'],
    ['the state of a dict', [P, '})b.'], 'sets the state of something other'],
    ['a call of a list', [P, '])R.'], 'calls something other'],
    ['objects in an array', [P, 'cnumpy\ndtype\nX\x02\0\0\0O8\x85R.'], 'calls something other'],
    [
      'other byte orders',
      [P, `cnumpy.core.multiarray\nscalar\n${dtype('i4', '>')}C\x04abcd\x86R.`],
      'byte order ">"',
    ],
    [
      'a fraction',
      [P, `cnumpy.core.multiarray\nscalar\n${dtype('f4')}C\x04`, [0, 0, 0x20, 0x40], '\x86R.'],
      'the number 2.5',
    ],
    [
      'a shape larger than its bytes',
      [P, `${empty}(K\x01J`, long(2_000_000_000), 'J', long(2_000_000_000), `\x86${dtype()}\x89C\x04abcdtb.`],
      'has 4 bytes for 4000000000000000000 numbers',
    ],
    ['columns first', [P, `${empty}(K\x01K\x01\x85${dtype()}\x88C\x04abcdtb.`], 'not stored row by row'],
    ['no shape', [P, `${empty}(K\x01N${dtype()}\x89C\x04abcdtb.`], 'without a shape or a type'],
    [
      'the same bytes over and over',
      [
        P,
        ']B',
        long(4000),
        Buffer.alloc(4000),
        `q\x00a(${`${empty}(K\x01M\xe8\x03\x85${dtype()}\x89h\x00tb`.repeat(20)}e.`,
      ],
      'reads the same bytes as numbers again',
    ],
    ['two million lists', [P, '(', ']'.repeat(2_000_001), 't.'], 'holds more than 2000000 values'],
  ])('%s', (_, parts, message) => {
    let fault: unknown;
    try {
      read(...parts);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(UserError);
    expect((fault as Error).message).toContain(message);
  });

  test('a list within itself and a list of lists of lists stay as small as they are written', () => {
    const inner = read(P, ']q\x00h\x00a.') as Pickled[];
    expect(inner[0]).toBe(inner);
    const at = (i: number) => String.fromCharCode(i);
    const doubled = Array.from({ length: 60 }, (_, i) => `]q${at(i + 1)}(h${at(i)}h${at(i)}e`);
    expect(read(P, `(]q${at(0)}${doubled.join('')}t.`)).toBeDefined();
  });
});

test('a file that is not there, or is none', () => {
  expect(() => readPickle(fixture('none.pkl'))).toThrow(/cannot read .*none\.pkl/);
  expect(() => readPickle(fixture('.'))).toThrow(/is a folder; expected a regular file/);
});

test('no cut or changed file does anything but end in a value or one line', () => {
  const names = ['adjacency_schemata.pkl', 'schema_words.pkl', 'toy.test_walks.pkl'];
  const random = new Random(11);
  let accepted = 0;
  for (const name of names) {
    const whole = fs.readFileSync(fixture(name));
    for (let end = 0; end < whole.length; end++)
      expect(() => read(whole.subarray(0, end))).toThrow(UserError);
    for (let draw = 0; draw < 1500; draw++) {
      const changed = Buffer.from(whole);
      for (let n = random.int(3) + 1; n > 0; n--) changed[random.int(changed.length)] = random.int(256);
      try {
        read(changed);
        accepted++;
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        expect((error as Error).message).toMatch(/^x\.pkl [^\n]{1,300}$/);
      }
    }
  }
  // A changed number or letter is still a number or letter: the fuzz reaches beyond the first check.
  expect(accepted).toBeGreaterThan(100);
});
