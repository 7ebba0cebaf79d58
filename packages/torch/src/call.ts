import { type Handle, native } from './native.ts';

const numbers = new Map<string, number>();

/** The addon's number of an operator named as in ATen's schemas: `add.Tensor`, `mm`. */
function operatorNumber(name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  const dot = name.indexOf('.');
  const found = native.resolve(dot < 0 ? name : name.slice(0, dot), dot < 0 ? '' : name.slice(dot + 1));
  numbers.set(name, found);
  return found;
}

/** One boxed call: tensors and generators as handles, everything else as plain values. */
export function callRaw(name: string, args: readonly unknown[]): Handle | Handle[] | boolean | number | null {
  return native.call(operatorNumber(name), ...args) as Handle | Handle[] | boolean | number | null;
}
