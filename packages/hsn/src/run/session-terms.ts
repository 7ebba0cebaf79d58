import type { Replicas } from '../train/replicas.ts';
import type { PreparationState } from '../train/task.ts';
import type { StepMetrics } from '../train/trainer.ts';
import type { TrainerState } from '../train/trainer-state.ts';
import type { ProgressOutput } from './progress.ts';

/** How a run is trained on. */
export interface SessionOptions {
  /** Continue from the last checkpoint. */
  resume?: boolean;
  /** Aborting ends training after the step that runs, with a checkpoint. */
  signal?: AbortSignal;
  output?: ProgressOutput;
  /** Told of every step. */
  onStep?: (metrics: StepMetrics) => void;
  /** The processes that train together; this one leads them. */
  replicas?: Replicas;
  /** Ends with the preparation, where the task is of use then. */
  onlyPrepare?: boolean;
  /** Called when the preparation is saved and the model can be looked at, before the first step. */
  onPrepared?: (seconds: number) => void | Promise<void>;
}

/** How training ended. */
export interface SessionResult<Evaluation = unknown> {
  state: 'discovered' | 'finished' | 'stopped';
  step: number;
  /** Why training ended before its last step, if it did. */
  reason?: string;
  evaluation?: Evaluation;
  seconds: number;
}

/** What a checkpoint's state.json holds beside the trainer's own. */
export interface SessionState {
  trainer: TrainerState;
  best: number | null;
  /** The step of the best checkpoint, where one is kept. */
  bestStep?: number;
  sinceBest: number;
  /** How far the preparation came, where there is one. */
  sweeps?: PreparationState;
  seconds: number;
}
