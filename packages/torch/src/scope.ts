/** Something a scope frees when it ends. */
export interface Scoped {
  free(): void;
  /** Called when the value leaves the outermost scope: only the garbage collector will free it now. */
  escape(): void;
}

class Frame {
  readonly members = new Set<Scoped>();
}

let current: Frame | undefined;

/** Enters a fresh value into the scope that is open, or lets it live by itself. */
export function track(value: Scoped): void {
  if (current) current.members.add(value);
  else value.escape();
}

/** Takes a value out of whatever scope is open, so that it outlives it. */
export function release(value: Scoped): void {
  if (current?.members.delete(value)) value.escape();
}

function isScoped(value: object): value is Scoped {
  return typeof (value as Partial<Scoped>).escape === 'function';
}

/** Collects the scoped values in a result: itself, or inside arrays and plain objects. */
function collect(value: unknown, into: Set<Scoped>): void {
  if (value === null || typeof value !== 'object') return;
  if (isScoped(value)) into.add(value);
  else if (Array.isArray(value)) for (const element of value) collect(element, into);
  else if (Object.getPrototypeOf(value) === Object.prototype)
    for (const element of Object.values(value)) collect(element, into);
}

/**
 * Runs `body` and frees every tensor made in it, except those in what it returns
 * (a tensor, or tensors inside arrays and plain objects), which pass to the enclosing scope.
 */
export function scope<T>(body: () => T): T {
  const outer = current;
  const frame = new Frame();
  current = frame;
  const survivors = new Set<Scoped>();
  try {
    const result = body();
    if (result instanceof Promise)
      throw new TypeError('scope() takes a synchronous function: await outside of it');
    collect(result, survivors);
    return result;
  } finally {
    current = outer;
    for (const member of frame.members) {
      if (survivors.has(member)) track(member);
      else member.free();
    }
  }
}
