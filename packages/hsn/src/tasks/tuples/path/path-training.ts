import { BatchOrder } from '@hidden-schema/text/text-batches';
import { noGrad, scope } from '@hidden-schema/torch';
import type * as optim from '@hidden-schema/torch/optim';
import type { ReasoningConfig } from '../../../config/tuples.ts';
import type { Loss, Training } from '../../../train/trainer.ts';
import type { TupleTokens } from '../tokens.ts';
import type { PathModel, StepTargets } from './path.ts';
import type { TargetTable } from './step-targets.ts';

/** Posterior walks of tuples, a draw or several of each. */
export interface WalkSet {
  rows: Int32Array;
  /** For each draw, a walk for each row. */
  draws: number[][][];
  /** For each draw, what the posterior says of the steps of second halves, where the path model learns from it. */
  targets?: TargetTable[];
}

/** Tuples with the walks that are to be continued. */
export interface PathBatch {
  rows: Int32Array;
  walks: readonly (readonly number[])[];
  targets?: StepTargets | undefined;
}

const atOnce = 200;

/** A path model in training on posterior samples. */
export class PathTraining implements Training<PathBatch> {
  readonly model: PathModel;
  readonly order: BatchOrder;
  readonly groups: readonly optim.ParameterGroup[];
  readonly #sets: { train: WalkSet; valid: WalkSet };
  readonly #place = new Map<number, number>();

  constructor(model: PathModel, tokens: TupleTokens, sets: { train: WalkSet; valid: WalkSet }) {
    this.model = model;
    this.#sets = sets;
    const { training, seed } = model.config;
    for (const [place, row] of sets.train.rows.entries()) this.#place.set(row, place);
    const lengthOf = (row: number) => tokens.length(row);
    this.order = new BatchOrder(sets.train.rows, { batchSize: training.batch, seed, lengthOf });
    const { rate, decay } = training;
    this.groups = [{ parameters: [...model.namedParameters()], rate, decay }];
  }

  get settings(): ReasoningConfig['training'] {
    return this.model.config.training;
  }

  batch(rows: Int32Array, { first, end, epoch }: { first: number; end: number; epoch: number }): PathBatch {
    const { draws, targets } = this.#sets.train;
    const draw = epoch % draws.length;
    const own = rows.slice(first, end);
    const places = Array.from(own, (row) => this.#place.get(row)!);
    const walks = places.map((place) => draws[draw]![place]!);
    return { rows: own, walks, targets: targets?.[draw]?.of(places) };
  }

  loss({ rows, walks, targets }: PathBatch): Loss {
    const loss = this.model.loss(rows, walks, targets);
    return { loss, figures: { reconstruction: loss.item(), kl_walk: 0, kl_graph: 0 } };
  }

  /** −log p of validation walks' second halves, in nats a walk. */
  validate(): number {
    const { rows, draws } = this.#sets.valid;
    this.model.train(false);
    let sum = 0;
    for (let first = 0; first < rows.length; first += atOnce) {
      const some = rows.slice(first, first + atOnce);
      const walks = draws[0]!.slice(first, first + atOnce);
      sum += scope(() => noGrad(() => this.model.loss(some, walks).item())) * some.length;
    }
    return sum / rows.length;
  }
}
