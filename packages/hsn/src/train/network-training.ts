import type { BatchOrder } from '@hidden-schema/text';
import { type Generator, type nn, noGrad, type optim, scope, type Tensor } from '@hidden-schema/torch';
import type { HiddenSchemaNetwork, ModelSpec } from '../model.ts';
import type { LossTerms } from '../objective/objective.ts';
import type { Replicas } from './replicas.ts';
import type { Loss, Training } from './trainer.ts';
import type { UpdateSettings } from './updater.ts';

/** Training of a Hidden Schema Network: kinds of data say how a batch is made, the rest is the same for all. */
export abstract class NetworkTraining<K extends ModelSpec> implements Training<K['batch']> {
  readonly model: HiddenSchemaNetwork<K>;
  abstract readonly settings: UpdateSettings;
  abstract readonly groups: readonly optim.ParameterGroup[];
  abstract readonly order: BatchOrder;

  constructor(model: HiddenSchemaNetwork<K>) {
    this.model = model;
  }

  abstract batch(rows: Int32Array, part: { first: number; end: number }): K['batch'];
  abstract validate(step: number): number;

  /** The exact posterior that teaches the encoder, where there is one. L tensors [B, K] */
  protected teacher(_batch: K['batch'], _replicas: Replicas): readonly Tensor[] | undefined {
    return undefined;
  }

  loss(batch: K['batch'], step: number, replicas: Replicas): Loss {
    const teacher = this.teacher(batch, replicas);
    const terms = this.model.forward(batch, { step, teacher, holders: replicas });
    return { loss: terms.loss, figures: this.figures(terms) };
  }

  protected figures({ reconstruction, walk, graph, teacher, tokens }: LossTerms): Loss['figures'] {
    return {
      reconstruction: reconstruction.item(),
      kl_walk: walk.item(),
      kl_graph: graph.item(),
      ...(teacher ? { teacher: teacher.item() } : {}),
      tokens,
    };
  }

  /** Mean objective of held-out sentences at full β. */
  protected meanObjective(step: number, batches: HeldOut<K['batch']>): number {
    return meanObjective(this.model, batches, { step, beta: this.model.config.objective.beta.to });
  }
}

/** Held-out batches, each made when it is looked at. */
export type HeldOut<Batch> = Iterable<{ count: number; make: () => Batch }>;

/** What is trained: its loss on a batch. */
type Trained<Batch> = nn.Module & {
  readonly generator: Generator;
  forward(batch: Batch, options: { step: number; beta: number }): { loss: Tensor };
};

/** Mean loss of held-out sentences, without dropout or dropped words; batches are made in a scope. */
export function meanObjective<Batch>(
  model: Trained<Batch>,
  batches: HeldOut<Batch>,
  options: { step: number; beta: number },
): number {
  const saved = model.generator.state();
  model.train(false);
  let [sum, total] = [0, 0];
  for (const { count, make } of batches) {
    sum += scope(() => noGrad(() => model.forward(make(), options).loss.item())) * count;
    total += count;
  }
  model.generator.restore(saved);
  return sum / total;
}
