import { UserError } from '@hidden-schema/base';
import { call, type nn, noGrad, scope, type Tensor } from '@hidden-schema/torch';

/** Where a number went wrong; kept in `run.json`, for `hsn train --diagnose`. */
export interface Failure {
  readonly step: number;
  readonly epoch?: number;
  /** Which batch of the epoch; absent where the fault showed outside of a step. */
  readonly batch?: number;
  /** A term of the objective, gradient_norm, validation, or the name of a weight. */
  readonly term: string;
  /** NaN, Infinity or -Infinity. */
  readonly value: string;
}

/** A number that is not one: training stops before it reaches the weights, or a checkpoint. */
export class NumberFailure extends UserError {
  readonly failure: Failure;

  constructor(failure: Failure) {
    const { step, epoch, batch, term, value } = failure;
    super(
      batch === undefined
        ? `step ${step}: the ${term} is ${value}; the last checkpoint is kept. Try a lower training.rate; hsn train --diagnose says where it began`
        : `step ${step} (epoch ${epoch}, batch ${batch}): ${term} is ${value}; the weights of the step before are kept. Try a lower training.rate, or graph.hard: true; hsn train --diagnose says where it began`,
    );
    this.failure = failure;
  }
}

/** The first weight that holds NaN or an infinity, if any does: what must not be kept as a checkpoint. */
export function brokenWeight(model: nn.Module): string | undefined {
  return brokenTensor(model.namedParameters());
}

/** The name of the first tensor that holds NaN or an infinity, if any does. */
export function brokenTensor(tensors: Iterable<readonly [string, Tensor]>): string | undefined {
  return scope(() =>
    noGrad(() => {
      for (const [name, tensor] of tensors)
        if (call('all', call('isfinite', tensor)).item() === 0) return name;
      return undefined;
    }),
  );
}
