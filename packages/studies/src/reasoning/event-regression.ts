import type { TrainedWalks } from '@hidden-schema/hsn/tasks/tuples/trained-walks';
import { call, eye, noGrad, scope, type Tensor } from '@hidden-schema/torch';

// Shapes: n events of a relation, D width of their vectors, M values that are regressed.

/** Ridge regression on the vectors of the events that have a relation, in closed form. */
export class EventRegression {
  /** Numbers of the events among the known ones, a row each. */
  readonly events: readonly number[];
  /** [1, D] */
  readonly mean: Tensor;
  readonly #known: TrainedWalks;
  /** Σ_i x_i x_iᵀ of centred vectors. [D, D] */
  readonly #covariance: Tensor;

  constructor(known: TrainedWalks, events: readonly number[]) {
    this.#known = known;
    this.events = events;
    [this.mean, this.#covariance] = noGrad(() =>
      scope(() => {
        const vectors = known.vectorsOf(events).to('float64');
        const mean = vectors.mean(0, true);
        const centred = vectors.sub(mean);
        return [mean.keep(), centred.transpose(0, 1).matmul(centred).keep()] as const;
      }),
    );
  }

  /** [n, D] */
  centred(): Tensor {
    return this.#known.vectorsOf(this.events).sub(this.mean.to('float32'));
  }

  /** (G + n·penalty)⁻¹ Σ_i x_i y_iᵀ of these sums over events [D, M]. */
  slopes(sums: Tensor, penalty: number): Tensor {
    const width = this.mean.dim(1);
    const ridge = eye(width, { dtype: 'float64' }).mul(penalty * this.events.length);
    return call('linalg_solve', this.#covariance.add(ridge), sums.to('float64'));
  }
}
