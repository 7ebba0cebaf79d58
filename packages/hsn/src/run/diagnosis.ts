import { UserError } from '@hidden-schema/base';
import { type NumberFault, type NumberReport, watchNumbers } from '@hidden-schema/torch/number-watch';
import type { Task, TaskTrainer } from '../train/task.ts';
import { brokenWeight, type Failure, NumberFailure } from '../train/updater.ts';
import { checkpointSteps } from './checkpoint.ts';
import type { Run } from './run.ts';
import { loadTask } from './session-checkpoint.ts';

/** What a second look at a batch that went wrong found. */
export interface Diagnosis {
  /** What `run.json` says went wrong. */
  readonly failure: Failure;
  /** The checkpoint it was repeated from; 0 is the beginning. */
  readonly from: number;
  /** What went wrong this time; absent where nothing did. */
  readonly again?: Failure;
  /** The operator that first gave NaN, or an infinity that a healthy step does not have. */
  readonly forward?: NumberFault;
  /** The operator that first passed back a gradient that is not finite. */
  readonly backward?: NumberFault;
  /** Operators looked at. */
  readonly calls: number;
  readonly notes: readonly string[];
}

/** Repeats a run that stopped on a number gone wrong, from its last good checkpoint, with every operator looked at. */
export async function diagnose(
  run: Run,
  task: Task<unknown>,
  onStep: (step: number, of: number) => void = () => {},
): Promise<Diagnosis> {
  const failure = run.record.failure as Failure | undefined;
  if (!failure)
    throw new UserError(
      `${run.directory} did not stop on a number gone wrong (its state is ${run.state}): there is nothing to diagnose`,
    );
  const { step: from, notes } =
    checkpointSteps(run).length > 0 ? loadTask(run, task) : { step: 0, notes: [] };
  await prepare(task);
  const { trainer } = task;
  // The update of the step before is where a weight went wrong that shows in a validation or a checkpoint.
  const inStep = failure.batch !== undefined;
  const last = inStep ? failure.step - 1 : failure.step;
  while (trainer.step < last - 1) {
    trainer.trainStep();
    onStep(trainer.step, last);
  }
  // A healthy step shows which infinities are meant, such as those of a mask.
  const usual = trainer.step < last ? watchNumbers(() => trainer.trainStep()) : undefined;
  const early = usual && failureOf(usual);
  const report =
    usual && early
      ? usual
      : watchNumbers(inStep ? () => trainer.trainStep() : () => look(trainer, failure), {
          ...(usual ? { usual: usual.infinities } : {}),
        });
  return { failure, from, notes, calls: report.calls, ...found(report) };
}

async function prepare({ preparation }: Task<unknown>): Promise<void> {
  while (preparation?.wanted) await preparation.advance({ onPart: () => {} });
}

/** The validation or the weights, where the fault showed outside of a step. */
function look(trainer: TaskTrainer, { step }: Failure): void {
  const broken = brokenWeight(trainer.model);
  if (broken !== undefined) throw new NumberFailure({ step, term: `weight ${broken}`, value: 'not finite' });
  const value = trainer.validate();
  if (!Number.isFinite(value))
    throw new NumberFailure({ step, term: 'validation objective', value: String(value) });
}

function failureOf({ outcome }: NumberReport<unknown>): Failure | undefined {
  if (!('error' in outcome)) return undefined;
  if (outcome.error instanceof NumberFailure) return outcome.error.failure;
  throw outcome.error;
}

function found(report: NumberReport<unknown>): Pick<Diagnosis, 'again' | 'forward' | 'backward'> {
  const again = failureOf(report);
  const forward = report.nan ?? report.infinite;
  return {
    ...(again ? { again } : {}),
    ...(again && forward ? { forward } : {}),
    ...(report.gradient ? { backward: report.gradient } : {}),
  };
}
