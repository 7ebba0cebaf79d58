import { type JsonValue, UserError } from '@hidden-schema/base';
import { scope } from '@hidden-schema/torch';
import { type CheckpointSettings, checkpointsSchema } from '../config/network.ts';
import type { RunConfig } from '../config/settings.ts';
import type { Task } from '../train/task.ts';
import {
  type CheckpointParts,
  checkpointSteps,
  discardCheckpointsAfter,
  loadCheckpoint,
  markBest,
} from './checkpoint.ts';
import type { Run } from './run.ts';
import type { SessionState } from './session-terms.ts';

/** What a session knows beside the task: the best validation objective so far, and the seconds spent. */
export type SessionProgress = Omit<SessionState, 'trainer' | 'sweeps'>;

/** When checkpoints are written; a kind of training that has no such settings uses the defaults. */
export function checkpointSettings(config: RunConfig): CheckpointSettings {
  return 'checkpoints' in config ? config.checkpoints : checkpointsSchema.parse({});
}

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
  return scope(() => {
    const saved = loadCheckpoint(run, 'last');
    for (const note of saved.notes) onNote(note);
    const { trainer, sweeps, ...progress } = saved.state as unknown as SessionState;
    if (!saved.optimizer)
      throw new UserError(`step ${saved.step} of ${run.directory} has no optimiser state`);
    task.trainer.restore(trainer, saved.model, saved.optimizer);
    if (sweeps && task.preparation) task.preparation.state = sweeps;
    discardCheckpointsAfter(run, saved.step);
    // A process killed between a best checkpoint and its mark must not cost that checkpoint.
    if (progress.bestStep !== undefined) markBest(run, progress.bestStep);
    return { progress, step: saved.step, sweeps: sweeps?.count };
  });
}
