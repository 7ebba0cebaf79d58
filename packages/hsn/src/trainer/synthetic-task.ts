import type { Config } from '../config.ts';
import type { SyntheticCorpus } from '../corpus/index.ts';
import { evaluateSynthetic, graphRecovery, type SyntheticEvaluation } from '../evaluation/synthetic.ts';
import type { JsonValue } from './files.ts';
import { graphRecord } from './graph-record.ts';
import { afterSweep, noSweeps, type SweepState, sweepsSettled } from './graph-sweeps.ts';
import { Replicas } from './replicas.ts';
import type { Inspection, Preparation, PreparationState, Task } from './task.ts';
import { Trainer } from './trainer.ts';

/** The closed-form graph's passes over the sentences, until they gain nothing more. */
class GraphSweeps implements Preparation {
  readonly label = 'graph';
  readonly unit = 'sweeps';
  readonly together = true;
  readonly most: number;
  readonly #trainer: Trainer;
  #sweeps: SweepState = noSweeps;

  constructor(trainer: Trainer) {
    this.#trainer = trainer;
    const { posterior, sweeps } = trainer.config.graph;
    this.most = posterior === 'closed-form' ? sweeps : 0;
  }

  get wanted(): boolean {
    return this.#trainer.step === 0 && !sweepsSettled(this.#sweeps) && this.#sweeps.count < this.most;
  }
  get state(): PreparationState {
    return { ...this.#sweeps };
  }
  set state(state: PreparationState) {
    this.#sweeps = state as unknown as SweepState;
  }

  advance(): Record<string, number> {
    const result = this.#trainer.sweepGraph()!;
    this.#sweeps = afterSweep(this.#sweeps, result);
    return { log_likelihood: result.train, valid: result.valid };
  }
}

/** Training on the synthetic language (Section 4). */
export class SyntheticTask implements Task<SyntheticEvaluation> {
  readonly trainer: Trainer;
  readonly preparation: Preparation;

  constructor(config: Config, corpus: SyntheticCorpus, replicas: Replicas = Replicas.alone) {
    this.trainer = new Trainer(config, corpus, replicas);
    this.preparation = new GraphSweeps(this.trainer);
  }

  inspect(): Inspection {
    const { model, corpus } = this.trainer;
    const { auc, edges_expected } = graphRecovery(model, corpus, { samples: 1 });
    return {
      figures: {
        ...(typeof auc === 'number' ? { auc } : {}),
        ...(edges_expected === undefined ? {} : { edges: edges_expected }),
      },
    };
  }

  evaluate(): SyntheticEvaluation {
    return evaluateSynthetic(this.trainer.model, this.trainer.corpus);
  }

  artifacts(): Record<string, JsonValue> {
    return { 'graph.json': graphRecord(this.trainer.model, this.trainer.corpus) };
  }
}
