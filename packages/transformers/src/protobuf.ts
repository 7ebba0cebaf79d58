import { isUtf8 } from 'node:buffer';

/** Stops reading with one line that says what is wrong with the file. */
export type Fail = (what: string) => never;

/** One field of a protobuf message: a number (wire types 0, 1 and 5), or the bytes of what it holds (type 2). */
export type Field =
  | { readonly number: number; readonly value: number }
  | { readonly number: number; readonly bytes: Buffer };

/** Reads one thing after another; no length is believed that the bytes at hand do not have. */
class Cursor {
  readonly #bytes: Buffer;
  readonly #fail: Fail;
  #at = 0;

  constructor(bytes: Buffer, fail: Fail) {
    this.#bytes = bytes;
    this.#fail = fail;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** Seven bits a byte, lowest first. */
  varint(): number {
    let value = 0;
    for (let place = 0; place < 10; place++) {
      const byte = this.take(1)[0]!;
      value += (byte & 0x7f) * 2 ** (7 * place);
      if (byte < 0x80) return value;
    }
    return this.#fail('a number of it has more than ten bytes');
  }

  take(count: number): Buffer {
    if (count > this.left) this.#fail(`${count} bytes are expected where ${this.left} are left`);
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}

/** The fields of a message in their order. */
export function* fieldsOf(message: Buffer, fail: Fail): Generator<Field> {
  const cursor = new Cursor(message, fail);
  while (cursor.left > 0) {
    const tag = cursor.varint();
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === 0) yield { number, value: cursor.varint() };
    else if (wire === 2) yield { number, bytes: cursor.take(cursor.varint()) };
    else if (wire === 1) yield { number, value: cursor.take(8).readDoubleLE() };
    else if (wire === 5) yield { number, value: cursor.take(4).readFloatLE() };
    else fail(`a field has the unknown wire type ${wire}`);
  }
}

export function textOf(bytes: Buffer, fail: Fail): string {
  if (!isUtf8(bytes)) fail('a name of it is not UTF-8');
  return bytes.toString('utf8');
}

/** The whole numbers of a field that is repeated: one a field, or packed into bytes. */
export function numbersOf(field: Field, fail: Fail): number[] {
  if ('value' in field) return [field.value];
  const numbers: number[] = [];
  const cursor = new Cursor(field.bytes, fail);
  while (cursor.left > 0) numbers.push(cursor.varint());
  return numbers;
}
