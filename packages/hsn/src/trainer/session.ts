import { setImmediate } from 'node:timers/promises';
import { scope } from '@hidden-schema/torch';
import type { SyntheticCorpus } from '../corpus/index.ts';
import { evaluateSynthetic, graphRecovery, type SyntheticEvaluation } from '../evaluation/synthetic.ts';
import { UserError } from '../errors.ts';
import { checkpointSteps, discardCheckpointsAfter, loadCheckpoint, saveCheckpoint } from './checkpoint.ts';
import { EventWriter } from './events.ts';
import { type JsonValue, writeJsonAtomic } from './files.ts';
import { graphRecord } from './graph-record.ts';
import { afterSweep, noSweeps, type SweepState, sweepsSettled } from './graph-sweeps.ts';
import { MetricsLog } from './metrics.ts';
import { Progress, type ProgressOutput } from './progress.ts';
import type { Run } from './run.ts';
import { type StepMetrics, Trainer, type TrainerState } from './trainer.ts';

export interface SessionOptions {
  /** Continue from the last checkpoint. */
  resume?: boolean;
  /** Aborting ends training after the step that runs, with a checkpoint. */
  signal?: AbortSignal;
  output?: ProgressOutput;
}

export interface SessionResult {
  state: 'finished' | 'stopped';
  step: number;
  /** Why training ended before its last step, if it did. */
  reason?: string;
  evaluation?: SyntheticEvaluation;
  seconds: number;
}

/** What a checkpoint's state.json holds beside the trainer's own. */
interface SessionState {
  trainer: TrainerState;
  best: number | null;
  sinceBest: number;
  sweeps: SweepState;
  seconds: number;
}

const beginning: Omit<SessionState, 'trainer'> = {
  best: null,
  sinceBest: 0,
  sweeps: noSweeps,
  seconds: 0,
};

/** Trains a run on disk: graph sweeps, steps, evaluations, checkpoints, metrics; then evaluates the best model. */
export class Session {
  readonly #run: Run;
  readonly #trainer: Trainer;
  readonly #corpus: SyntheticCorpus;
  readonly #options: SessionOptions;
  readonly #metrics: MetricsLog;
  readonly #events: EventWriter;
  readonly #began = performance.now();
  #state = beginning;

  constructor(run: Run, corpus: SyntheticCorpus, options: SessionOptions = {}) {
    this.#run = run;
    this.#corpus = corpus;
    this.#options = options;
    this.#trainer = new Trainer(run.config, corpus);
    this.#metrics = new MetricsLog(run.path('metrics.jsonl'));
    if (options.resume) this.#restore();
    const resumed = options.resume ? { resumedAt: this.#trainer.step } : {};
    this.#events = new EventWriter(run.directory, resumed);
  }

  get trainer(): Trainer {
    return this.#trainer;
  }

  async train(): Promise<SessionResult> {
    try {
      this.#run.setState('running');
      await this.#sweepGraph();
      const reason = await this.#steps();
      const stopped = this.#options.signal?.aborted ?? false;
      this.#save(false);
      if (stopped) return this.#end({ state: 'stopped', ...(reason ? { reason } : {}) });
      this.#useBest();
      const evaluation = evaluateSynthetic(this.#trainer.model, this.#corpus);
      writeJsonAtomic(this.#run.path('evaluation.json'), evaluation as unknown as JsonValue);
      writeJsonAtomic(this.#run.path('graph.json'), graphRecord(this.#trainer.model, this.#corpus));
      return this.#end({ state: 'finished', evaluation, ...(reason ? { reason } : {}) });
    } finally {
      this.#metrics.close();
      this.#events.close();
      this.#trainer.free();
    }
  }

  #end(result: Omit<SessionResult, 'step' | 'seconds'>): SessionResult {
    const full = { ...result, step: this.#trainer.step, seconds: this.#seconds() };
    this.#run.setState(result.state, { step: full.step, seconds: full.seconds });
    return full;
  }

  #seconds(): number {
    return this.#state.seconds + (performance.now() - this.#began) / 1000;
  }

  /** The closed-form graph's passes over the sentences, until they gain nothing more. */
  async #sweepGraph(): Promise<void> {
    const { posterior, sweeps } = this.#run.config.graph;
    const wanted = () => !sweepsSettled(this.#state.sweeps) && this.#state.sweeps.count < sweeps;
    if (posterior !== 'closed-form' || this.#trainer.step > 0 || !wanted()) return;
    const progress = this.#progress('graph', sweeps, 'sweeps', this.#state.sweeps.count);
    while (wanted() && !this.#options.signal?.aborted) {
      const result = this.#trainer.sweepGraph()!;
      this.#state = { ...this.#state, sweeps: afterSweep(this.#state.sweeps, result) };
      const shown = { log_likelihood: result.train, valid: result.valid, ...this.#recovered() };
      this.#record({ step: 0, epoch: 0, sweep: this.#state.sweeps.count, ...shown });
      progress.update(this.#state.sweeps.count, shown);
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
    if (metrics.step % evaluateEvery === 0 || metrics.step === steps) this.#evaluate(metrics, progress);
    await setImmediate();
  }

  #evaluate(metrics: StepMetrics, progress: Progress): void {
    const validation = this.#trainer.validate();
    if (!Number.isFinite(validation))
      throw new UserError(
        `step ${metrics.step}: the validation objective is ${validation}; the last checkpoint is kept. Try a lower training.rate`,
      );
    const recovered = this.#recovered();
    const better = this.#state.best === null || validation < this.#state.best;
    this.#state = {
      ...this.#state,
      best: better ? validation : this.#state.best,
      sinceBest: better ? 0 : this.#state.sinceBest + 1,
    };
    this.#record({ step: metrics.step, epoch: metrics.epoch, validation, ...recovered });
    progress.update(metrics.step, { valid: validation, ...recovered });
    this.#save(better);
  }

  #recovered(): Record<string, number> {
    const { auc, edges_expected } = graphRecovery(this.#trainer.model, this.#corpus, { samples: 1 });
    return {
      ...(typeof auc === 'number' ? { auc } : {}),
      ...(edges_expected === undefined ? {} : { edges: edges_expected }),
    };
  }

  #record({ step, epoch, ...values }: { step: number; epoch: number; [name: string]: number }): void {
    this.#metrics.append(step, epoch, values);
    this.#events.scalars(step, values);
  }

  #save(best: boolean): void {
    const state: SessionState = { ...this.#state, seconds: this.#seconds(), trainer: this.#trainer.state() };
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
      const { trainer, ...rest } = saved.state as unknown as SessionState;
      if (!saved.optimizer)
        throw new UserError(`step ${saved.step} of ${this.#run.directory} has no optimiser state`);
      this.#trainer.restore(trainer, saved.model, saved.optimizer);
      this.#state = rest;
      this.#metrics.truncateAfter(saved.step, rest.sweeps.count);
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
