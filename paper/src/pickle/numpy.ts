/** A type of numbers as numpy names it: kind and bytes, and the order of the bytes once it is known. */
export class NumberType {
  readonly name: string;
  order: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get bytes(): number {
    return Number(this.name.slice(1));
  }
}

/** An array of whole numbers, row after row; empty until its content is read. */
export class NumberArray {
  shape: readonly number[] = [];
  values: readonly number[] = [];
}

const readers: Readonly<Record<string, (view: DataView, at: number) => number | bigint>> = {
  b1: (view, at) => view.getUint8(at),
  i1: (view, at) => view.getInt8(at),
  u1: (view, at) => view.getUint8(at),
  i2: (view, at) => view.getInt16(at, true),
  u2: (view, at) => view.getUint16(at, true),
  i4: (view, at) => view.getInt32(at, true),
  u4: (view, at) => view.getUint32(at, true),
  i8: (view, at) => view.getBigInt64(at, true),
  u8: (view, at) => view.getBigUint64(at, true),
  f4: (view, at) => view.getFloat32(at, true),
  f8: (view, at) => view.getFloat64(at, true),
};

export const isNumberType = (name: string): boolean => Object.hasOwn(readers, name);

/** The numbers that bytes hold, or what is wrong with them. */
export function numbersOf(type: NumberType, bytes: Uint8Array, count: number): number[] | string {
  if (type.order !== '<' && !(type.order === '|' && type.bytes === 1))
    return `numbers of byte order ${JSON.stringify(type.order ?? 'none')}, expected "<"`;
  if (!Number.isSafeInteger(count) || bytes.length !== count * type.bytes)
    return `${bytes.length} bytes for ${count} numbers of ${type.bytes} bytes`;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = readers[type.name]!;
  const values = Array.from({ length: count }, (_, i) => Number(read(view, i * type.bytes)));
  const odd = values.find((value) => !Number.isSafeInteger(value));
  return odd === undefined ? values : `the number ${odd}, expected whole ones`;
}
