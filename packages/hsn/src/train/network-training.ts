import type { BatchOrder } from '@hidden-schema/text';
import { noGrad, type optim, scope, type Tensor } from '@hidden-schema/torch';
import type { HiddenSchemaNetwork, Kind } from '../model.ts';
import type { Terms } from '../objective/objective.ts';
import type { Replicas } from './replicas.ts';
import type { Loss, Training } from './trainer.ts';
import type { UpdateSettings } from './updater.ts';

/** Training of a Hidden Schema Network: kinds of data say how a batch is made, the rest is the same for all. */
export abstract class NetworkTraining<K extends Kind> implements Training<K['batch']> {
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

  protected figures({ reconstruction, walk, graph, teacher, tokens }: Terms): Loss['figures'] {
    return {
      reconstruction: reconstruction.item(),
      kl_walk: walk.item(),
      kl_graph: graph.item(),
      ...(teacher ? { teacher: teacher.item() } : {}),
      tokens,
    };
  }

  /** Mean objective of held-out sentences at full β, without dropout or dropped words; batches are made in a scope. */
  protected meanObjective(
    step: number,
    batches: Iterable<{ count: number; make: () => K['batch'] }>,
  ): number {
    const saved = this.model.generator.state();
    const beta = this.model.config.objective.beta.to;
    this.model.train(false);
    let [sum, total] = [0, 0];
    for (const { count, make } of batches) {
      sum += scope(() => noGrad(() => this.model.forward(make(), { step, beta }).loss.item())) * count;
      total += count;
    }
    this.model.generator.restore(saved);
    return sum / total;
  }
}
