import fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { type JsonValue, UserError } from '@hidden-schema/base';
import { scope } from '@hidden-schema/torch';
import type { CheckpointSettings } from '../config/network.ts';
import { align, Replicas } from '../train/replicas.ts';
import type { Preparation, Task, TaskTrainer } from '../train/task.ts';
import { counted, Stage } from '../train/train-events.ts';
import type { StepMetrics } from '../train/trainer.ts';
import { brokenWeight, NumberFailure } from '../train/updater.ts';
import { loadCheckpoint } from './checkpoint.ts';
import { type CheckpointParts, CheckpointWriter, saveElsewhere } from './checkpoint-writer.ts';
import { EventWriter } from './events.ts';
import { MetricsLog } from './metrics.ts';
import { showEvents } from './progress.ts';
import type { Run } from './run.ts';
import {
  checkpointParts,
  checkpointSettings,
  type OnSessionEvent,
  restoreTask,
  type SessionOptions,
  type SessionProgress,
  type SessionResult,
} from './session-checkpoint.ts';

const beginning: SessionProgress = { best: null, sinceBest: 0, seconds: 0 };

/** Trains a run on disk: preparation, steps, evaluations, checkpoints, metrics; then evaluates the best model. */
export class Session<Evaluation = unknown> {
  readonly #run: Run;
  readonly #task: Task<Evaluation>;
  readonly #trainer: TaskTrainer;
  readonly #options: SessionOptions;
  readonly #emit: OnSessionEvent;
  readonly #replicas: Replicas;
  readonly #metrics: MetricsLog;
  readonly #events: EventWriter;
  readonly #writer: CheckpointWriter;
  readonly #checkpoints: CheckpointSettings;
  readonly #began = performance.now();
  #state: SessionProgress = beginning;
  /** Whether anything happened that no checkpoint holds yet. */
  #unsaved = true;

  constructor(run: Run, task: Task<Evaluation>, options: SessionOptions = {}) {
    this.#run = run;
    this.#task = task;
    this.#options = options;
    this.#emit = options.onEvent ?? showEvents(options.output ?? process.stderr);
    this.#replicas = options.replicas ?? Replicas.alone;
    this.#trainer = task.trainer;
    this.#checkpoints = checkpointSettings(run.config);
    this.#writer = new CheckpointWriter(run, this.#note);
    this.#metrics = new MetricsLog(run.path('metrics.jsonl'));
    const { damaged } = this.#metrics;
    if (damaged > 0) this.#note(`metrics.jsonl: ${damaged} lines are damaged and left out`);
    if (options.resume) this.#restore();
    const resumed = options.resume ? { resumedAt: this.#trainer.step } : {};
    this.#events = new EventWriter(run.directory, resumed);
  }

  get trainer(): TaskTrainer {
    return this.#trainer;
  }

  async train(): Promise<SessionResult<Evaluation>> {
    try {
      this.#run.setState('running', { failure: undefined });
      const prepared = await this.#prepare();
      await align(this.#task, this.#replicas);
      if (prepared) await this.#lookAtPrepared();
      if (this.#options.onlyPrepare && !this.#options.signal?.aborted) {
        await this.#replicas.lead('end');
        return this.#end({ state: 'discovered' });
      }
      const reason = await this.#steps();
      await this.#replicas.lead('end');
      const stopped = this.#options.signal?.aborted ?? false;
      if (this.#unsaved) await this.#save(false);
      await this.#writer.settle();
      if (stopped) return this.#end({ state: 'stopped', ...(reason ? { reason } : {}) });
      this.#useBest();
      const evaluation = this.#figures();
      this.#run.store('evaluation.json', evaluation as unknown as JsonValue);
      for (const [name, value] of Object.entries(this.#task.artifacts())) this.#run.store(name, value);
      return this.#end({ state: 'finished', evaluation, ...(reason ? { reason } : {}) });
    } catch (error) {
      throw await this.#afterFault(error);
    } finally {
      this.#metrics.close();
      this.#events.close();
      this.#trainer.free();
    }
  }

  /** Notes a number that went wrong; saves what a run whose folder was lost has in memory. Gives the error to throw. */
  async #afterFault(error: unknown): Promise<unknown> {
    // What is being written must not outlive the lock; its own fault matters less than the one that is there.
    await this.#writer.settle().catch(() => undefined);
    if (fs.existsSync(this.#run.directory)) {
      if (error instanceof NumberFailure)
        this.#run.setState('crashed', { failure: error.failure as unknown as JsonValue });
      return error;
    }
    const place = await saveElsewhere(`${this.#run.directory}-rescued`, this.#trainer.step, this.#parts());
    return new UserError(
      `the run folder ${this.#run.directory} was removed or moved during training; the weights of step ${this.#trainer.step} are in ${place}: move that folder into the checkpoints of the run and continue with --resume`,
    );
  }

  /** The task's evaluation. */
  #figures(): Evaluation {
    const stage = counted({ type: 'evaluate', label: 'evaluate', unit: 'sentences' }, this.#emit);
    const evaluation = this.#task.evaluate(stage.going);
    stage.end();
    return evaluation;
  }

  #end(result: Omit<SessionResult<Evaluation>, 'step' | 'seconds'>): SessionResult<Evaluation> {
    const full = { ...result, step: this.#trainer.step, seconds: this.#seconds() };
    this.#run.setState(result.state, { step: full.step, seconds: full.seconds });
    return full;
  }

  #seconds(): number {
    return this.#state.seconds + (performance.now() - this.#began) / 1000;
  }

  /** Whether anything was prepared, and is whole. */
  async #prepare(): Promise<boolean> {
    const { preparation } = this.#task;
    if (!preparation?.wanted) return false;
    const { label, most, unit } = preparation;
    const stage = this.#stage('discover', label, most, unit);
    stage.begin(preparation.state.count);
    if (preparation.together) await align(this.#task, this.#replicas);
    while (preparation.wanted && !this.#options.signal?.aborted) {
      if (preparation.together) await this.#replicas.lead('prepare');
      const before = preparation.state.count;
      const figures = await this.#advance(preparation, stage);
      if (!figures) break;
      const { count } = preparation.state;
      if (count === before) {
        stage.going(count, { figures });
        await setImmediate();
        continue;
      }
      const shown = { ...figures, ...(await this.#task.inspect()).figures };
      this.#record({ step: 0, epoch: 0, sweep: count, ...shown });
      stage.going(count, { figures: shown });
      this.#unsaved = true;
      const { every } = this.#checkpoints;
      if (every !== undefined && count % every === 0) await this.#save(false);
      await setImmediate();
    }
    stage.end();
    return !preparation.wanted;
  }

  /** One part of the preparation; nothing where it was stopped on the way. */
  async #advance(preparation: Preparation, stage: Stage): Promise<Record<string, number> | undefined> {
    const { signal } = this.#options;
    const onPart = (count: number, figures: Record<string, number>) => {
      this.#record({ step: 0, epoch: 0, sweep: count, ...figures });
      stage.going(count, { figures });
    };
    try {
      return await preparation.advance({ signal, onPart });
    } catch (error) {
      if (signal?.aborted) return undefined;
      throw error;
    }
  }

  /** A model that is of use already is saved before its training begins. */
  async #lookAtPrepared(): Promise<void> {
    if (!this.#task.usablePrepared) return;
    const { best } = this.#checkpoints;
    // The best so far, being the only one; any evaluation is better.
    if (best) this.#state = { ...this.#state, bestStep: 0 };
    await this.#save(best);
    await this.#writer.settle();
    for (const [name, value] of Object.entries(this.#task.artifacts())) this.#run.store(name, value);
    this.#run.setState('running', { step: 0, seconds: this.#seconds() });
    const seconds = this.#seconds();
    await this.#emit({ type: 'discovered', directory: this.#run.directory, seconds });
  }

  /** Trains until the last step, a stop from outside, or patience is at its end; returns why it ended early. */
  async #steps(): Promise<string | undefined> {
    const { training } = this.#run.config;
    const stage = this.#stage('train', 'train', training.steps, 'steps');
    stage.begin(this.#trainer.step);
    while (!this.#trainer.finished && this.#reasonToStop() === undefined) await this.#oneStep(stage);
    const reason = this.#trainer.finished ? undefined : this.#reasonToStop();
    stage.end(reason);
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

  async #oneStep(stage: Stage): Promise<void> {
    const { logEvery, evaluateEvery, steps } = this.#run.config.training;
    this.#writer.check();
    await this.#replicas.lead('step');
    const metrics = this.#trainer.trainStep();
    const { step } = metrics;
    this.#unsaved = true;
    this.#run.refresh();
    stage.going(step, { step: metrics });
    this.#options.onStep?.(metrics);
    if (step % logEvery === 0) this.#record({ ...metrics });
    const evaluated = step % evaluateEvery === 0 || step === steps;
    const better = evaluated && (await this.#evaluate(metrics));
    const best = better && this.#checkpoints.best;
    if (best || step % this.#checkpointEvery === 0 || step === steps) await this.#save(best);
    await setImmediate();
  }

  get #checkpointEvery(): number {
    return this.#checkpoints.every ?? this.#run.config.training.evaluateEvery;
  }

  /** Validation; tells whether the model is the best so far. */
  async #evaluate(metrics: StepMetrics): Promise<boolean> {
    const validation = this.#trainer.validate();
    const { step, epoch } = metrics;
    if (!Number.isFinite(validation))
      throw new NumberFailure({ step, epoch, term: 'validation objective', value: String(validation) });
    // Other processes do not validate: they take over rates that have fallen.
    if (this.#trainer.validated(validation)) await align(this.#task, this.#replicas);
    const { figures, notes = [] } = await this.#task.inspect();
    const better = this.#state.best === null || validation < this.#state.best;
    this.#state = {
      ...this.#state,
      best: better ? validation : this.#state.best,
      ...(better && this.#checkpoints.best ? { bestStep: step } : {}),
      sinceBest: better ? 0 : this.#state.sinceBest + 1,
    };
    this.#record({ step, epoch, validation, ...figures });
    this.#emit({ type: 'validation', step, objective: validation, best: better, figures });
    for (const note of notes) this.#note(note);
    return better;
  }

  #record({ step, epoch, ...values }: { step: number; epoch: number; [name: string]: number }): void {
    this.#metrics.append(step, epoch, values);
    this.#events.scalars(step, values);
  }

  async #save(best: boolean): Promise<void> {
    const { step } = this.#trainer;
    const broken = brokenWeight(this.#trainer.model);
    if (broken !== undefined)
      throw new NumberFailure({ step, term: `weight ${broken}`, value: 'not finite' });
    // What was prepared and of use stays, for training to be compared with.
    const always = this.#task.usablePrepared ? 0 : undefined;
    await this.#writer.save(step, this.#parts(), { best, keep: this.#checkpoints.keep, always });
    this.#unsaved = false;
  }

  #parts(): CheckpointParts {
    return checkpointParts(this.#task, { ...this.#state, seconds: this.#seconds() });
  }

  #restore(): void {
    const saved = restoreTask(this.#run, this.#task, this.#note);
    this.#metrics.truncateAfter(saved?.step ?? -1, saved?.sweeps);
    if (!saved) return;
    this.#state = saved.progress;
    this.#unsaved = false;
  }

  /** The final figures are those of the model with the best validation objective. */
  #useBest(): void {
    scope(() => this.#trainer.model.load(loadCheckpoint(this.#run, 'best').model));
  }

  readonly #note = (text: string): void => {
    this.#emit({ type: 'note', text });
  };

  #stage(type: 'discover' | 'train' | 'evaluate', label: string, total: number, unit: string): Stage {
    return new Stage({ type, label, total, unit }, this.#emit);
  }
}
