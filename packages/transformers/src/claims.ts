import { UserError } from '@hidden-schema/base';
import type { Weights } from '@hidden-schema/torch';

/** A size that settings state, with the tensor that has it: what is built from settings must never exceed the file. */
export interface Claim {
  readonly key: string;
  readonly value: number;
  /** The tensor's name, as the module that is built calls it. */
  readonly tensor: RegExp;
  /** Its dimension of that length; without one, the different numbers that the pattern captures are counted. */
  readonly axis?: number;
}

export type Shapes = ReadonlyMap<string, readonly number[]>;

/** The shapes of weights by the names that a module has for them. */
export function shapesOf(weights: Weights, rename: (stored: string) => string | undefined): Shapes {
  const shapes = new Map<string, readonly number[]>();
  for (const stored of weights.names) {
    const name = rename(stored);
    if (name !== undefined) shapes.set(name, weights.info(stored).shape);
  }
  return shapes;
}

/** Refuses settings whose sizes are not those of the weights, before anything is built from them. */
export function checkClaims(shapes: Shapes, claims: readonly Claim[], source: string): void {
  for (const claim of claims) {
    const { found, where } = held(shapes, claim);
    if (found === claim.value) continue;
    throw new UserError(
      `${source}: ${claim.key} is ${claim.value}, but the weights hold ${found} (${where}); settings and weights do not belong together, take those that were written together`,
    );
  }
}

function held(shapes: Shapes, { tensor, axis }: Claim): { found: number; where: string } {
  const matching = [...shapes].flatMap(([name, shape]) => {
    const match = tensor.exec(name);
    return match ? [{ name, shape, number: match[1] }] : [];
  });
  const [first] = matching;
  if (!first) return { found: 0, where: `no ${readable(tensor)}` };
  if (axis !== undefined)
    return { found: first.shape[axis] ?? 0, where: `${first.name} is [${first.shape.join(', ')}]` };
  const found = new Set(matching.map(({ number }) => number)).size;
  return { found, where: `up to ${matching.at(-1)!.name}` };
}

/** A pattern as a name with gaps. */
function readable({ source }: RegExp): string {
  return source
    .replace('(\\d+)', 'N')
    .replace('.*', '…')
    .replaceAll(/\?:|[\\^$]/g, '');
}
