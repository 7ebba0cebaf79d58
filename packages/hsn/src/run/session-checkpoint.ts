import { type JsonValue, UserError } from '@hidden-schema/base';
import { scope } from '@hidden-schema/torch';
import { type CheckpointSettings, checkpointsSchema } from '../config/network.ts';
import type { RunConfig } from '../config/settings.ts';
import type { Replicas } from '../train/replicas.ts';
import type { PreparationState, Task } from '../train/task.ts';
import type { SessionEvent } from '../train/train-events.ts';
import type { StepMetrics, TrainerState } from '../train/trainer.ts';
import { checkpointSteps, discardCheckpointsAfter, loadCheckpoint, markBest } from './checkpoint.ts';
import type { CheckpointParts } from './checkpoint-writer.ts';
import type { ProgressOutput } from './progress.ts';
import type { Run } from './run.ts';

/** What a session knows beside the task: the best validation objective so far, and the seconds spent. */
export type SessionProgress = Omit<SessionState, 'trainer' | 'sweeps'>;

/** When checkpoints are written; a kind of training that has no such settings uses the defaults. */
export const checkpointSettings = (config: RunConfig): CheckpointSettings =>
  'checkpoints' in config ? config.checkpoints : checkpointsSchema.parse({});

/** Weights, optimiser and state of a task in training, as a checkpoint holds them. */
export function checkpointParts(
  { trainer, preparation }: Task<unknown>,
  progress: SessionProgress,
): CheckpointParts {
  const sweeps = preparation?.state;
  const state: SessionState = { ...progress, ...(sweeps ? { sweeps } : {}), trainer: trainer.state() };
  return {
    model: trainer.model.namedTensors(),
    optimizer: trainer.optimizer.namedTensors(),
    state: state as unknown as JsonValue,
  };
}

/** Where a task was at a checkpoint. */
interface Restored {
  progress: SessionProgress;
  step: number;
  /** Sweeps of the preparation, where there is one. */
  sweeps: number | undefined;
}

/** Puts a task back to the last checkpoint of its run and discards later ones; gives nothing where there is none. */
export function restoreTask(
  run: Run,
  task: Task<unknown>,
  onNote: (text: string) => void,
): Restored | undefined {
  if (checkpointSteps(run).length === 0) {
    onNote('no checkpoint was written yet: training begins again');
    return undefined;
  }
  const { step, notes, state } = loadTask(run, task);
  for (const note of notes) onNote(note);
  const { sweeps, ...progress } = state;
  discardCheckpointsAfter(run, step);
  // A process killed between a best checkpoint and its mark must not cost that checkpoint.
  if (progress.bestStep !== undefined) markBest(run, progress.bestStep);
  return { progress, step, sweeps: sweeps?.count };
}

/** Puts a task back to the last checkpoint of its run; gives what that says beside the trainer's own state. */
export function loadTask(
  run: Run,
  task: Task<unknown>,
): { step: number; notes: string[]; state: Omit<SessionState, 'trainer'> } {
  return scope(() => {
    const { step, notes, state, model, optimizer } = loadCheckpoint(run, 'last');
    const { trainer, ...rest } = state as unknown as SessionState;
    if (!optimizer) throw new UserError(`step ${step} of ${run.directory} has no optimiser state`);
    task.trainer.restore(trainer, model, optimizer);
    if (rest.sweeps && task.preparation) task.preparation.state = rest.sweeps;
    return { step, notes, state: rest };
  });
}

/** What is called with the events of a training. */
export type OnSessionEvent = (event: SessionEvent) => void | Promise<void>;

/** How a run is trained on. */
export interface SessionOptions {
  /** Continue from the last checkpoint. */
  resume?: boolean;
  /** Aborting ends training after the step that runs, with a checkpoint. */
  signal?: AbortSignal;
  /** Called with what happens, as it does; training waits for what it returns after `discovered` alone. */
  onEvent?: OnSessionEvent;
  /** Without `onEvent`: where it is shown to people; standard error unless given. */
  output?: ProgressOutput;
  /** Told of every step. */
  onStep?: (metrics: StepMetrics) => void;
  /** The processes that train together; this one leads them. */
  replicas?: Replicas;
  /** Ends with the preparation, where the task is of use then. */
  onlyPrepare?: boolean;
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
