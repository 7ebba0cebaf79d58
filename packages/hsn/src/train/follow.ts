import { scope } from '@hidden-schema/torch';
import { namedTensors, type Replicas } from './replicas.ts';
import type { PreparationState, Task } from './task.ts';
import type { TrainerState } from './trainer-state.ts';

/** Where rank 0 stands, beside its tensors. */
interface RankState {
  trainer: TrainerState;
  preparation: PreparationState | null;
}

/** Rank 0: brings the others to where it stands, after a restored checkpoint or a preparation. */
export async function align({ trainer, preparation }: Task<unknown>, replicas: Replicas): Promise<void> {
  if (replicas.size === 1) return;
  await replicas.lead('align');
  const standing: RankState = { trainer: trainer.state(), preparation: preparation?.state ?? null };
  replicas.tell(standing);
  replicas.send(namedTensors(trainer.model));
  replicas.send(namedTensors(trainer.optimizer));
}

function takeOver({ trainer, preparation }: Task<unknown>, replicas: Replicas): void {
  const standing = replicas.tell<RankState>();
  scope(() => trainer.restore(standing.trainer, replicas.receive(), replicas.receive()));
  if (preparation && standing.preparation) preparation.state = standing.preparation;
}

/** All ranks but 0: does what rank 0 says until it says that training ends. Nothing is written. */
export async function follow(task: Task<unknown>, replicas: Replicas, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      const command = await replicas.next(signal.aborted);
      if (command === 'end') return;
      if (command === 'align') takeOver(task, replicas);
      else if (command === 'prepare') await prepareAlong(task, replicas, signal);
      else task.trainer.trainStep();
    }
  } finally {
    task.trainer.free();
  }
}

/** One part of the preparation; where all agreed to stop, rank 0 says what comes next. */
async function prepareAlong(
  { preparation }: Task<unknown>,
  replicas: Replicas,
  signal: AbortSignal,
): Promise<void> {
  try {
    await preparation!.advance({ signal, onPart: () => {} });
  } catch (error) {
    if (!replicas.stopped.aborted) throw error;
  }
}
