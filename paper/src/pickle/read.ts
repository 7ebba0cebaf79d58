import path from 'node:path';
import { reasonOf, UserError } from '@hidden-schema/base/errors';
import { readRegular } from '@hidden-schema/base/files';
import { isNumberType, NumberArray, NumberType, numbersOf } from './numpy.ts';
import { opcodeNames } from './opcodes.ts';

/** A tuple, which a list is not. */
class Tuple {
  readonly items: readonly Pickled[];

  constructor(items: readonly Pickled[]) {
    this.items = items;
  }
}

/** The name of something that a pickle would have Python call: here a word from a list, never a call. */
class Named {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** What a pickle of plain lists, dicts, texts and numpy's whole numbers holds. */
export type Pickled =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | Pickled[]
  | Map<number | string, Pickled>
  | Tuple
  | Named
  | NumberType
  | NumberArray;

const MARK = Symbol('mark');
/** The authors' largest has 4 MB, 490 000 lists, tuples and scalars, and remembers 280 000 of them. */
const MOST_BYTES = 64 * 2 ** 20;
const MOST_VALUES = 2_000_000;

/** numpy renamed its inner module in version 2. */
const named: ReadonlyMap<string, string> = new Map([
  ['numpy.core.multiarray _reconstruct', 'array'],
  ['numpy._core.multiarray _reconstruct', 'array'],
  ['numpy.core.multiarray scalar', 'scalar'],
  ['numpy._core.multiarray scalar', 'scalar'],
  ['numpy ndarray', 'ndarray'],
  ['numpy dtype', 'dtype'],
]);

/**
 * Reads a pickle of protocol 2 or 3 that holds lists, dicts, texts and arrays of whole numbers. Nothing in it is called:
 * an opcode or a name outside the few that such data need is refused with its place.
 */
export function readPickle(file: string): Pickled {
  let bytes: Buffer;
  try {
    bytes = readRegular(file, MOST_BYTES);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`cannot read ${file}: ${reasonOf(error)}`);
  }
  return parsePickle(bytes, path.basename(file));
}

/** The same of bytes; `name` is what a fault calls them. */
export function parsePickle(bytes: Buffer, name: string): Pickled {
  return new Machine(bytes, name).run();
}

class Machine {
  readonly bytes: Buffer;
  readonly name: string;
  #at = 0;
  #start = 0;
  readonly #stack: (Pickled | typeof MARK)[] = [];
  readonly #memo = new Map<number, Pickled>();
  /** Lists, dicts, tuples and numbers of numpy's made so far, and the bytes that those numbers were read from. */
  #made = 0;
  #numberBytes = 0;
  readonly #view: DataView;

  constructor(bytes: Buffer, name: string) {
    this.bytes = bytes;
    this.name = name;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  run(): Pickled {
    for (;;) {
      this.#start = this.#at;
      const code = this.bytes[this.#take(1)]!;
      const opcode = opcodeNames.get(code) ?? `0x${code.toString(16).padStart(2, '0')}`;
      if (this.#start === 0 && opcode !== 'PROTO')
        this.#refuse(`begins with ${opcode}; expected a pickle of protocol 2 or 3`);
      if (opcode === 'STOP') return this.#end();
      const step = Object.hasOwn(this.#steps, opcode) ? this.#steps[opcode] : undefined;
      if (!step) this.#refuse(`has the opcode ${opcode}, which data of the authors do not need`);
      step();
      if (this.#made > MOST_VALUES || this.#memo.size > MOST_VALUES)
        this.#refuse(`holds more than ${MOST_VALUES} values`);
    }
  }

  readonly #steps: Readonly<Record<string, () => void>> = {
    PROTO: () => {
      const version = this.bytes[this.#take(1)]!;
      if (version !== 2 && version !== 3) this.#refuse(`is of protocol ${version}; expected 2 or 3`);
    },
    NONE: () => this.#push(null),
    NEWTRUE: () => this.#push(true),
    NEWFALSE: () => this.#push(false),
    BININT: () => this.#push(this.#view.getInt32(this.#take(4), true)),
    BININT1: () => this.#push(this.#view.getUint8(this.#take(1))),
    BININT2: () => this.#push(this.#view.getUint16(this.#take(2), true)),
    BINUNICODE: () => this.#push(this.#text(this.#long())),
    SHORT_BINBYTES: () => this.#push(this.#chunk(this.#view.getUint8(this.#take(1)))),
    BINBYTES: () => this.#push(this.#chunk(this.#long())),
    GLOBAL: () => this.#push(this.#named()),
    MARK: () => void this.#stack.push(MARK),
    TUPLE: () => this.#push(new Tuple(this.#sinceMark())),
    EMPTY_TUPLE: () => this.#push(new Tuple([])),
    TUPLE1: () => this.#push(new Tuple(this.#last(1))),
    TUPLE2: () => this.#push(new Tuple(this.#last(2))),
    TUPLE3: () => this.#push(new Tuple(this.#last(3))),
    EMPTY_LIST: () => this.#push([]),
    APPEND: () => this.#append(this.#last(1)),
    APPENDS: () => this.#append(this.#sinceMark()),
    EMPTY_DICT: () => this.#push(new Map()),
    SETITEM: () => this.#set(this.#last(2)),
    SETITEMS: () => this.#set(this.#sinceMark()),
    BINPUT: () => this.#remember(this.#view.getUint8(this.#take(1))),
    LONG_BINPUT: () => this.#remember(this.#long()),
    BINGET: () => this.#recall(this.#view.getUint8(this.#take(1))),
    LONG_BINGET: () => this.#recall(this.#long()),
    REDUCE: () => this.#make(),
    BUILD: () => this.#fill(),
  };

  #refuse(text: string): never {
    throw new UserError(`${this.name} ${text} (byte ${this.#start}); nothing of it was used`);
  }

  /** The place of the next `count` bytes, which must be there. */
  #take(count: number): number {
    const from = this.#at;
    if (count > this.bytes.length - from)
      this.#refuse(`ends early: ${count} bytes are needed where ${this.bytes.length - from} are left`);
    this.#at = from + count;
    return from;
  }

  #long(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  #chunk(length: number): Uint8Array {
    const from = this.#take(length);
    return this.bytes.subarray(from, from + length);
  }

  #text(length: number): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.#chunk(length));
    } catch (error) {
      if (error instanceof UserError) throw error;
      return this.#refuse('has a text that is not UTF-8');
    }
  }

  #named(): Named {
    const lines = [this.#line(), this.#line()].join(' ');
    const kind = named.get(lines);
    if (kind === undefined)
      this.#refuse(`names ${JSON.stringify(lines)}, which data of the authors do not need`);
    return new Named(kind);
  }

  #line(): string {
    const end = this.bytes.indexOf(10, this.#at);
    // No name that is known is longer, and a fault should stay a line.
    if (end === -1 || end - this.#at > 100) this.#refuse('has a name without an end');
    const from = this.#take(end - this.#at + 1);
    return this.bytes.toString('latin1', from, end);
  }

  #push(value: Pickled): void {
    if (typeof value === 'object' && value !== null) this.#made++;
    this.#stack.push(value);
  }

  #pop(): Pickled {
    const value = this.#stack.pop();
    if (value === undefined || value === MARK) this.#refuse('takes more from its stack than there is');
    return value;
  }

  #last(count: number): Pickled[] {
    return Array.from({ length: count }, () => this.#pop()).reverse();
  }

  #sinceMark(): Pickled[] {
    const mark = this.#stack.lastIndexOf(MARK);
    if (mark === -1) this.#refuse('takes more from its stack than there is');
    const items = this.#stack.splice(mark + 1) as Pickled[];
    this.#stack.pop();
    return items;
  }

  #top(): Pickled {
    const value = this.#pop();
    this.#push(value);
    return value;
  }

  #append(items: readonly Pickled[]): void {
    const list = this.#top();
    if (!Array.isArray(list)) this.#refuse('adds to what is no list');
    for (const item of items) list.push(item);
  }

  #set(items: readonly Pickled[]): void {
    const dict = this.#top();
    if (!(dict instanceof Map) || items.length % 2 === 1) this.#refuse('sets items of what is no dict');
    for (let i = 0; i < items.length; i += 2) {
      const key = items[i];
      if (typeof key !== 'number' && typeof key !== 'string')
        this.#refuse('has a key that is neither a number nor a text');
      dict.set(key, items[i + 1]!);
    }
  }

  #remember(key: number): void {
    this.#memo.set(key, this.#top());
  }

  #recall(key: number): void {
    const value = this.#memo.get(key);
    if (value === undefined) this.#refuse(`recalls ${key}, which it did not remember`);
    this.#push(value);
  }

  /** REDUCE: the three calls of numpy's that make an array, a type and a number. */
  #make(): void {
    const [callee, argument] = this.#last(2);
    const parts = argument instanceof Tuple ? argument.items : [];
    const kind = callee instanceof Named ? callee.name : '';
    const [first, second] = parts;
    if (kind === 'array' && first instanceof Named && first.name === 'ndarray') this.#push(new NumberArray());
    else if (kind === 'dtype' && typeof first === 'string' && isNumberType(first))
      this.#push(new NumberType(first));
    else if (kind === 'scalar' && first instanceof NumberType && second instanceof Uint8Array)
      this.#push(this.#numbers(first, second, 1)[0]!);
    else this.#refuse('calls something other than numpy’s array, dtype of whole numbers, or scalar');
  }

  /** BUILD: the byte order of a type, or the content of an array. */
  #fill(): void {
    const state = this.#pop();
    const target = this.#top();
    const parts = state instanceof Tuple ? state.items : [];
    if (target instanceof NumberType && typeof parts[1] === 'string') target.order = parts[1];
    else if (target instanceof NumberArray) this.#fillArray(target, parts);
    else this.#refuse('sets the state of something other than an array or its type');
  }

  #fillArray(array: NumberArray, [, shape, type, fortran, bytes]: readonly Pickled[]): void {
    const sizes = shape instanceof Tuple ? shape.items : [];
    const whole = sizes.filter((size): size is number => typeof size === 'number' && size >= 0);
    if (sizes.length === 0 || whole.length !== sizes.length || !(type instanceof NumberType))
      this.#refuse('has an array without a shape or a type');
    if (fortran !== false || !(bytes instanceof Uint8Array))
      this.#refuse('has an array that is not stored row by row');
    array.values = this.#numbers(
      type,
      bytes,
      whole.reduce((product, size) => product * size, 1),
    );
    array.shape = whole;
  }

  #numbers(type: NumberType, bytes: Uint8Array, count: number): number[] {
    this.#numberBytes += bytes.length;
    // The same bytes read over and over would fill the memory from a small file.
    if (this.#numberBytes > this.bytes.length) this.#refuse('reads the same bytes as numbers again');
    const values = numbersOf(type, bytes, count);
    return typeof values === 'string' ? this.#refuse(`has ${values}`) : values;
  }

  #end(): Pickled {
    const [value, ...more] = this.#stack;
    if (value === undefined || value === MARK || more.length > 0)
      this.#refuse(`ends with ${this.#stack.length} values; expected one`);
    if (this.#at < this.bytes.length)
      this.#refuse(`goes on for ${this.bytes.length - this.#at} bytes after its end`);
    return value;
  }
}
