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

/** What an operator gives: a tensor's handle, several, or a plain value. */
export type Given = Handle | Handle[] | boolean | number | null;

/** One boxed call: tensors and generators as handles, everything else as plain values. */
export function callRaw(name: string, args: readonly unknown[]): Given {
  const number = operatorNumber(name);
  // Most operators take one to three arguments: spreading them would cost as much as the crossing itself.
  switch (args.length) {
    case 1:
      return native.call(number, args[0]) as Given;
    case 2:
      return native.call(number, args[0], args[1]) as Given;
    case 3:
      return native.call(number, args[0], args[1], args[2]) as Given;
    default:
      return native.call(number, ...args) as Given;
  }
}
