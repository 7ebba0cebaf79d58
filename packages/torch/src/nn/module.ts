import { noGrad } from '../autograd.ts';
import type { Tensor } from '../tensor.ts';

/** A tensor that a module learns; it lives until its module is freed. */
export function parameter(value: Tensor): Tensor {
  return value.detach().keep().requireGrad();
}

/**
 * Parameters by name. The path of a parameter through its modules (`blocks.0.attention.query.weight`)
 * is its name in a checkpoint.
 */
export abstract class Module {
  /** Whether dropout is active. */
  training = true;

  /** Direct members: parameters, modules, and arrays of modules. */
  private *members(): Generator<[string, Tensor | Module]> {
    for (const [name, value] of Object.entries(this)) {
      if (value instanceof Module || isTensor(value)) yield [name, value];
      else if (Array.isArray(value)) {
        for (const [index, element] of value.entries())
          if (element instanceof Module || isTensor(element)) yield [`${name}.${index}`, element];
      }
    }
  }

  /** Every tensor with its path: parameters, and buffers that do not need a gradient. */
  *namedTensors(prefix = ''): Generator<[string, Tensor]> {
    for (const [name, member] of this.members()) {
      if (member instanceof Module) yield* member.namedTensors(`${prefix}${name}.`);
      else yield [prefix + name, member];
    }
  }

  /** What an optimiser trains. */
  *namedParameters(): Generator<[string, Tensor]> {
    for (const [name, tensor] of this.namedTensors()) if (tensor.requiresGrad) yield [name, tensor];
  }

  parameters(): Tensor[] {
    return [...this.namedParameters()].map(([, tensor]) => tensor);
  }

  train(training = true): this {
    this.training = training;
    for (const [, member] of this.members()) if (member instanceof Module) member.train(training);
    return this;
  }

  /** Copies values in by path; every tensor must be there with its shape, and nothing else. */
  load(source: ReadonlyMap<string, Tensor>): void {
    this.checkFit(new Map([...source].map(([name, tensor]) => [name, tensor.shape])));
    noGrad(() => {
      for (const [name, tensor] of this.namedTensors()) tensor.copy_(source.get(name)!);
    });
  }

  /** Throws unless these are the paths and shapes of all tensors. */
  checkFit(shapes: ReadonlyMap<string, readonly number[]>): void {
    const faults: string[] = [];
    const own = new Map(this.namedTensors());
    for (const [name, tensor] of own) {
      const saved = shapes.get(name);
      if (!saved) faults.push(`${name} is missing`);
      else if (saved.join() !== tensor.shape.join())
        faults.push(`${name} has shape [${saved.join(', ')}], expected [${tensor.shape.join(', ')}]`);
    }
    for (const name of shapes.keys()) if (!own.has(name)) faults.push(`${name} is not part of this model`);
    if (faults.length > 0) throw new Error(`these weights do not fit: ${summary(faults)}`);
  }

  free(): void {
    for (const [, tensor] of this.namedTensors()) tensor.free();
  }
}

function isTensor(value: unknown): value is Tensor {
  return typeof value === 'object' && value !== null && 'requireGrad' in value;
}

function summary(faults: readonly string[]): string {
  const shown = faults.slice(0, 8).join('; ');
  return faults.length > 8 ? `${shown}; and ${faults.length - 8} more` : shown;
}
