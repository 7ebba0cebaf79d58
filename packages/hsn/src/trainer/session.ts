import { setImmediate } from 'node:timers/promises';
import { scope } from '@hidden-schema/torch';
import type { SyntheticEvaluation } from '../evaluation/synthetic.ts';
import { UserError } from '../errors.ts';
import { checkpointSteps, discardCheckpointsAfter, loadCheckpoint, saveCheckpoint } from './checkpoint.ts';
import { EventWriter } from './events.ts';
import { type JsonValue, writeJsonAtomic } from './files.ts';
import { MetricsLog } from './metrics.ts';
import { Progress, type ProgressOutput } from './progress.ts';
import type { Run } from './run.ts';
import type { PreparationState, Task, TaskTrainer } from './task.ts';
import type { StepMetrics } from './trainer.ts';
import type { TrainerState } from './trainer-state.ts';

export interface SessionOptions {
  /** Continue from the last checkpoint. */
  resume?: boolean;
  /** Aborting ends training after the step that runs, with a checkpoint. */
  signal?: AbortSignal;
  output?: ProgressOutput;
}

export interface SessionResult<Evaluation = SyntheticEvaluation> {
  state: 'finished' | 'stopped';
  step: number;
  /** Why training ended before its last step, if it did. */
  reason?: string;
  evaluation?: Evaluation;
  seconds: number;
}

/** What a checkpoint's state.json holds beside the trainer's own. */
interface SessionState {
  trainer: TrainerState;
  best: number | null;
  sinceBest: number;
  /** How far the preparation came, where there is one. */
  sweeps?: PreparationState;
  seconds: number;
}

const beginning: Omit<SessionState, 'trainer' | 'sweeps'> = { best: null, sinceBest: 0, seconds: 0 };

/** Trains a run on disk: preparation, steps, evaluations, checkpoints, metrics; then evaluates the best model. */
export class Session<Evaluation = SyntheticEvaluation> {
  readonly #run: Run;
  readonly #task: Task<Evaluation>;
  readonly #trainer: TaskTrainer;
  readonly #options: SessionOptions;
  readonly #metrics: MetricsLog;
  readonly #events: EventWriter;
  readonly #began = performance.now();
  #state = beginning;

  constructor(run: Run, task: Task<Evaluation>, options: SessionOptions = {}) {
    this.#run = run;
    this.#task = task;
    this.#options = options;
    this.#trainer = task.trainer;
    this.#metrics = new MetricsLog(run.path('metrics.jsonl'));
    if (options.resume) this.#restore();
    const resumed = options.resume ? { resumedAt: this.#trainer.step } : {};
    this.#events = new EventWriter(run.directory, resumed);
  }

  get trainer(): TaskTrainer {
    return this.#trainer;
  }

  async train(): Promise<SessionResult<Evaluation>> {
    try {
      this.#run.setState('running');
      await this.#prepare();
      const reason = await this.#steps();
      const stopped = this.#options.signal?.aborted ?? false;
      this.#save(false);
      if (stopped) return this.#end({ state: 'stopped', ...(reason ? { reason } : {}) });
      this.#useBest();
      const evaluation = this.#task.evaluate();
      writeJsonAtomic(this.#run.path('evaluation.json'), evaluation as unknown as JsonValue);
      for (const [name, value] of Object.entries(this.#task.artifacts()))
        writeJsonAtomic(this.#run.path(name), value);
      return this.#end({ state: 'finished', evaluation, ...(reason ? { reason } : {}) });
    } finally {
      this.#metrics.close();
      this.#events.close();
      this.#trainer.free();
    }
  }

  #end(result: Omit<SessionResult<Evaluation>, 'step' | 'seconds'>): SessionResult<Evaluation> {
    const full = { ...result, step: this.#trainer.step, seconds: this.#seconds() };
    this.#run.setState(result.state, { step: full.step, seconds: full.seconds });
    return full;
  }

  #seconds(): number {
    return this.#state.seconds + (performance.now() - this.#began) / 1000;
  }

  async #prepare(): Promise<void> {
    const { preparation } = this.#task;
    if (!preparation?.wanted) return;
    const { label, most, unit } = preparation;
    const progress = this.#progress(label, most, unit, preparation.state.count);
    while (preparation.wanted && !this.#options.signal?.aborted) {
      const figures = preparation.advance();
      const shown = { ...figures, ...(await this.#task.inspect()).figures };
      const { count } = preparation.state;
      this.#record({ step: 0, epoch: 0, sweep: count, ...shown });
      progress.update(count, shown);
      await setImmediate();
    }
    progress.finish();
  }

  /** Trains until the last step, a stop from outside, or patience is at its end; returns why it ended early. */
  async #steps(): Promise<string | undefined> {
    const { training } = this.#run.config;
    const progress = this.#progress('train', training.steps, 'steps', this.#trainer.step);
    while (!this.#trainer.finished && this.#reasonToStop() === undefined) await this.#oneStep(progress);
    const reason = this.#trainer.finished ? undefined : this.#reasonToStop();
    progress.finish(reason);
    return reason;
  }

  /** Also asked before the first step, since a resumed run may have ended just so. */
  #reasonToStop(): string | undefined {
    const { patience } = this.#run.config.training;
    if (this.#options.signal?.aborted) return 'stopped from outside';
    return this.#state.sinceBest >= patience
      ? `no better validation objective in ${patience} evaluations`
      : undefined;
  }

  async #oneStep(progress: Progress): Promise<void> {
    const { logEvery, evaluateEvery, steps } = this.#run.config.training;
    const metrics = this.#trainer.trainStep();
    this.#run.refresh();
    const { loss, reconstruction, kl_walk } = metrics;
    progress.update(metrics.step, { loss, nll: reconstruction, 'kl-z': kl_walk });
    if (metrics.step % logEvery === 0) this.#record({ ...metrics });
    if (metrics.step % evaluateEvery === 0 || metrics.step === steps) await this.#evaluate(metrics, progress);
    await setImmediate();
  }

  async #evaluate(metrics: StepMetrics, progress: Progress): Promise<void> {
    const validation = this.#trainer.validate();
    if (!Number.isFinite(validation))
      throw new UserError(
        `step ${metrics.step}: the validation objective is ${validation}; the last checkpoint is kept. Try a lower training.rate`,
      );
    const { figures, notes = [] } = await this.#task.inspect();
    const better = this.#state.best === null || validation < this.#state.best;
    this.#state = {
      ...this.#state,
      best: better ? validation : this.#state.best,
      sinceBest: better ? 0 : this.#state.sinceBest + 1,
    };
    this.#record({ step: metrics.step, epoch: metrics.epoch, validation, ...figures });
    progress.update(metrics.step, { valid: validation, ...figures });
    for (const note of notes) progress.note(note);
    this.#save(better);
  }

  #record({ step, epoch, ...values }: { step: number; epoch: number; [name: string]: number }): void {
    this.#metrics.append(step, epoch, values);
    this.#events.scalars(step, values);
  }

  #save(best: boolean): void {
    const sweeps = this.#task.preparation?.state;
    const state: SessionState = {
      ...this.#state,
      ...(sweeps ? { sweeps } : {}),
      seconds: this.#seconds(),
      trainer: this.#trainer.state(),
    };
    saveCheckpoint(
      this.#run,
      this.#trainer.step,
      {
        model: this.#trainer.model.namedTensors(),
        optimizer: this.#trainer.optimizer.namedTensors(),
        state: state as unknown as JsonValue,
      },
      { best },
    );
  }

  #restore(): void {
    if (checkpointSteps(this.#run).length === 0) {
      this.#options.output?.write('no checkpoint was written yet: training begins again\n');
      this.#metrics.truncateAfter(-1);
      return;
    }
    scope(() => {
      const saved = loadCheckpoint(this.#run, 'last');
      for (const note of saved.notes) this.#options.output?.write(`${note}\n`);
      const { trainer, sweeps, ...rest } = saved.state as unknown as SessionState;
      if (!saved.optimizer)
        throw new UserError(`step ${saved.step} of ${this.#run.directory} has no optimiser state`);
      this.#trainer.restore(trainer, saved.model, saved.optimizer);
      if (sweeps && this.#task.preparation) this.#task.preparation.state = sweeps;
      this.#state = rest;
      this.#metrics.truncateAfter(saved.step, sweeps?.count);
      discardCheckpointsAfter(this.#run, saved.step);
    });
  }

  /** The final figures are those of the model with the best validation objective. */
  #useBest(): void {
    scope(() => this.#trainer.model.load(loadCheckpoint(this.#run, 'best').model));
  }

  #progress(label: string, total: number, unit: string, start: number): Progress {
    const { output } = this.#options;
    return new Progress({ label, total, unit, start, ...(output ? { output } : {}) });
  }
}
