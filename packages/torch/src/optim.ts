import { noGrad, withoutGrad } from './autograd.ts';
import { zeros } from './create.ts';
import { hasKernels, stack } from './functional.ts';
import { guarded, native } from './native.ts';
import type { Tensor } from './tensor.ts';

export interface ParameterGroup {
  /** Checkpoint paths and their parameters. */
  readonly parameters: readonly (readonly [string, Tensor])[];
  rate: number;
  decay?: number;
}

export interface AdamOptions {
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  /** true: AdamW's decoupled weight decay; false: Adam's L2 term. */
  decoupled?: boolean;
}

interface Moments {
  readonly name: string;
  readonly parameter: Tensor;
  readonly first: Tensor;
  readonly second: Tensor;
}

/** Adam and AdamW over parameter groups: one fused pass on the CPU, libtorch's operators over all weights elsewhere. */
export class Adam {
  readonly groups: readonly ParameterGroup[];
  readonly #moments: readonly (readonly Moments[])[];
  readonly #options: Required<AdamOptions>;
  #counts: number[];

  constructor(groups: readonly ParameterGroup[], options: AdamOptions = {}) {
    this.groups = groups;
    this.#counts = groups.map(() => 0);
    this.#options = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decoupled: false, ...options };
    this.#moments = noGrad(() =>
      groups.map((group) =>
        group.parameters.map(([name, parameter]) => {
          const like = { dtype: parameter.dtype, device: parameter.device };
          return {
            name,
            parameter,
            first: zeros(parameter.shape, like).keep(),
            second: zeros(parameter.shape, like).keep(),
          };
        }),
      ),
    );
  }

  /** How many updates each group had: one whose parameters have no gradient waits, its moments with it. */
  get counts(): readonly number[] {
    return this.#counts;
  }

  /** One update of every parameter that has a gradient. */
  step(): void {
    const { beta1, beta2, epsilon, decoupled } = this.#options;
    for (const [index, group] of this.groups.entries()) {
      const moments = this.#moments[index]!;
      const handles = (part: 'parameter' | 'first' | 'second') => moments.map((one) => one[part].handle);
      const updated = guarded('adam', () =>
        native.adamStep(
          ...([handles('parameter'), handles('first'), handles('second')] as const),
          ...([group.rate, beta1, beta2, epsilon, group.decay ?? 0] as const),
          ...([this.#counts[index]! + 1, decoupled, hasKernels('cpu')] as const),
        ),
      );
      if (updated > 0) this.#counts[index]!++;
    }
  }

  zeroGrad(): void {
    for (const group of this.groups)
      for (const [, parameter] of group.parameters) parameter.setGrad(undefined);
  }

  /** The running moments by name, for checkpoints. */
  *namedTensors(): Generator<[string, Tensor]> {
    for (const { name, first, second } of this.#moments.flat()) {
      yield [`${name}.first`, first];
      yield [`${name}.second`, second];
    }
  }

  /** Continues from saved moments and the counts they were saved at. */
  load(source: ReadonlyMap<string, Tensor>, counts: readonly number[]): void {
    if (counts.length !== this.groups.length)
      throw new Error(`the optimiser's state is of ${counts.length} groups, expected ${this.groups.length}`);
    noGrad(() => {
      for (const [name, tensor] of this.namedTensors()) {
        const saved = source.get(name);
        if (!saved) throw new Error(`the optimiser's state lacks ${name}`);
        tensor.copy_(saved);
      }
    });
    this.#counts = [...counts];
  }

  free(): void {
    for (const [, tensor] of this.namedTensors()) tensor.free();
  }
}

/** Scales all gradients so that their joint Euclidean norm is at most `limit`; returns the norm before. */
export function clipGradients(parameters: readonly Tensor[], limit: number): number {
  return withoutGrad(() => {
    const gradients = parameters.flatMap((p) => p.grad ?? []);
    if (gradients.length === 0) return 0;
    const norm = stack(gradients.map((g) => g.norm()))
      .norm()
      .item();
    const factor = limit / (norm + 1e-6);
    if (factor < 1) for (const gradient of gradients) gradient.mul_(factor);
    return norm;
  });
}

/** A learning rate's factor as a function of the update's number, from 0. */
export type Schedule = (step: number) => number;

export const constant: Schedule = () => 1;

/** Rises from 0 to 1 over `steps` updates, then follows `after`. */
export function warmup(steps: number, after: Schedule = constant): Schedule {
  return (step) => (step < steps ? (step + 1) / (steps + 1) : after(step - steps));
}

/** Falls on a line from 1 to `floor` over `steps` updates. */
export function linearDecay(steps: number, floor = 0): Schedule {
  return (step) => floor + (1 - floor) * Math.max(0, 1 - step / steps);
}

/** Falls on half a cosine from 1 to `floor` over `steps` updates. */
export function cosineDecay(steps: number, floor = 0): Schedule {
  return (step) => floor + (1 - floor) * 0.5 * (1 + Math.cos(Math.PI * Math.min(1, step / steps)));
}

/** Multiplies by `factor` every `period` updates. */
export function stepDecay(period: number, factor: number): Schedule {
  return (step) => factor ** Math.floor(step / period);
}
