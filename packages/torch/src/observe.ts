import type { Handle } from './native.ts';

/** Whoever looks at operators while they run. */
export interface Observer {
  /** After each call: its tensor arguments, and what it gave. */
  called(operator: string, inputs: readonly { readonly handle: Handle }[], result: unknown): void;
  /** Before gradients flow back from a tensor. */
  backward(root: Handle): void;
}

let current: Observer | undefined;

export const observer = (): Observer | undefined => current;

/** Runs `body` with an observer, or without any. */
export function observed<T>(watching: Observer | undefined, body: () => T): T {
  const outer = current;
  current = watching;
  try {
    return body();
  } finally {
    current = outer;
  }
}
