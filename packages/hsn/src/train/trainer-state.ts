import { reasonOf, UserError } from '@hidden-schema/base';
import type { BatchPosition } from '@hidden-schema/text';
import type { Generator, nn, optim, Tensor } from '@hidden-schema/torch';
import { nameOfToday } from '../tensor-names.ts';
import type { PlateauState } from './plateau.ts';

/** Where a training stands, beside its weights: what a checkpoint's state.json keeps of it. */
export interface TrainerState {
  step: number;
  position: BatchPosition;
  /** Updates of each parameter group; runs of version 0.1 kept one number for all. */
  updates: number | readonly number[];
  /** The model's generator, base64. */
  generator: string;
  /** Of the schedule `plateau`: how far rates have fallen. */
  plateau?: PlateauState;
}

/** What every training has: a model with its generator, and an optimiser. */
interface Training {
  readonly step: number;
  readonly model: nn.Module & { readonly generator: Generator };
  readonly optimizer: optim.Adam;
}

/** The order of batches: where it stands, and going there. */
export interface Order {
  position(): BatchPosition;
  seek(position: BatchPosition): void;
}

export function trainerState({ step, model, optimizer }: Training, order: Order): TrainerState {
  return {
    step,
    position: order.position(),
    updates: optimizer.counts,
    generator: Buffer.from(model.generator.state()).toString('base64'),
  };
}

/** Weights, moments, order and generator as a checkpoint has them; those of other settings are refused. */
export function restoreTrainer(
  { model, optimizer }: Training,
  order: Order,
  saved: { model: ReadonlyMap<string, Tensor>; optimizer: ReadonlyMap<string, Tensor> },
  state: TrainerState,
): void {
  try {
    model.load(saved.model);
    const { updates } = state;
    const counts = typeof updates === 'number' ? optimizer.groups.map(() => updates) : updates;
    const moments = new Map([...saved.optimizer].map(([name, tensor]) => [nameOfToday(name), tensor]));
    optimizer.load(moments, counts);
  } catch (error) {
    throw new UserError(
      `the checkpoint of step ${state.step} needs the settings it was made with: ${reasonOf(error)}`,
    );
  }
  order.seek(state.position);
  model.generator.restore(Buffer.from(state.generator, 'base64'));
}
