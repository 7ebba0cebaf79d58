import type { JsonValue } from '@hidden-schema/base';
import type { nn, Tensor } from '@hidden-schema/torch';
import type * as optim from '@hidden-schema/torch/optim';
import type { StepMetrics, TrainerState } from './trainer.ts';

/** What a session drives: a model that is updated one step at a time. */
export interface TaskTrainer {
  readonly model: nn.Module;
  readonly optimizer: optim.Adam;
  readonly step: number;
  readonly finished: boolean;
  trainStep(): StepMetrics;
  /** The objective on the validation split: what selects the best model and stops training early. */
  validate(): number;
  /** Takes in that objective; tells whether rates fall from now on. */
  validated(objective: number): boolean;
  state(): TrainerState;
  restore(
    state: TrainerState,
    model: ReadonlyMap<string, Tensor>,
    optimizer: ReadonlyMap<string, Tensor>,
  ): void;
  free(): void;
}

/** How far a preparation has come; part of a checkpoint. */
export type PreparationState = { readonly count: number } & { readonly [name: string]: JsonValue };

/** Who looks on while one part of a preparation is done. */
export interface PreparationWatch {
  /** Aborting ends a part that takes long; it begins again the next time. */
  signal?: AbortSignal | undefined;
  /** Hears what is done within a part: how much, in the preparation's unit, and figures. */
  onPart(count: number, figures: Record<string, number>): void;
}

/** Work before the first step, in parts, such as the closed-form graph's sweeps. */
export interface Preparation {
  /** For progress: what it is, and what is counted. */
  readonly label: string;
  readonly unit: string;
  readonly most: number;
  readonly wanted: boolean;
  /** Whether all processes take part, each with its share; otherwise rank 0 prepares alone. */
  readonly together?: boolean;
  state: PreparationState;
  /** One part more; returns its figures. */
  advance(watch: PreparationWatch): Record<string, number> | Promise<Record<string, number>>;
}

/** What a look at the model shows beside its validation objective. */
export interface Inspection {
  figures: Record<string, number>;
  /** Lines for the user: examples, warnings. */
  notes?: readonly string[];
}

/** A model with its data: all that differs between one kind of training and another. */
export interface Task<Evaluation> {
  readonly trainer: TaskTrainer;
  readonly preparation?: Preparation;
  inspect(): Inspection | Promise<Inspection>;
  /** Whether the model is of use once it is prepared, before any training: its run can be looked at and end there. */
  readonly usablePrepared?: boolean;
  /** The figures at the end of training, of the best model; says how many sentences are done where that takes long. */
  evaluate(onProgress?: (done: number, total: number) => void): Evaluation;
  /** Further files of a finished run, by name. */
  artifacts(): Record<string, JsonValue>;
}
