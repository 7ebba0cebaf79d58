import type { JsonValue } from '@hidden-schema/base';
import type { SyntheticConfig } from '../../config/network.ts';
import { ClosedFormPosterior } from '../../graph/closed-form.ts';
import { Replicas } from '../../train/replicas.ts';
import type { Inspection, Preparation, PreparationState, Task } from '../../train/task.ts';
import { Trainer } from '../../train/trainer.ts';
import type { SyntheticCorpus } from './corpus/reader.ts';
import { evaluateSynthetic, graphRecovery, type SyntheticEvaluation } from './evaluation.ts';
import {
  afterSweep,
  noSweeps,
  type SweepResult,
  type SweepState,
  sweep,
  sweepsSettled,
} from './graph-sweeps.ts';
import { graphRecord, type SyntheticBatch, type SyntheticNetwork } from './network.ts';
import { SyntheticTraining } from './training.ts';

/** The closed-form graph's passes over the sentences, until they gain nothing more. */
class GraphSweeps implements Preparation {
  readonly label = 'graph';
  readonly unit = 'sweeps';
  readonly together = true;
  readonly most: number;
  readonly #task: SyntheticTask;
  #sweeps: SweepState = noSweeps;

  constructor(task: SyntheticTask) {
    this.#task = task;
    const { posterior, sweeps } = task.training.config.graph;
    this.most = posterior === 'closed-form' ? sweeps : 0;
  }

  get wanted(): boolean {
    return this.#task.trainer.step === 0 && !sweepsSettled(this.#sweeps) && this.#sweeps.count < this.most;
  }
  get state(): PreparationState {
    return { ...this.#sweeps };
  }
  set state(state: PreparationState) {
    this.#sweeps = state as unknown as SweepState;
  }

  advance(): Record<string, number> {
    const result = this.#task.sweepGraph()!;
    this.#sweeps = afterSweep(this.#sweeps, result);
    return { log_likelihood: result.train, valid: result.valid };
  }
}

/** Training on the synthetic language (Section 4). */
export class SyntheticTask implements Task<SyntheticEvaluation> {
  readonly training: SyntheticTraining;
  readonly trainer: Trainer<SyntheticBatch>;
  readonly preparation: Preparation;
  readonly #replicas: Replicas;

  constructor(config: SyntheticConfig, corpus: SyntheticCorpus, replicas: Replicas = Replicas.alone) {
    this.training = new SyntheticTraining(config, corpus);
    this.trainer = new Trainer(this.training, replicas);
    this.preparation = new GraphSweeps(this);
    this.#replicas = replicas;
  }

  get model(): SyntheticNetwork {
    return this.training.model;
  }
  get corpus(): SyntheticCorpus {
    return this.training.corpus;
  }

  /** One pass of the closed-form graph over the training sentences; returns mean log p(x) of train and valid. */
  sweepGraph(): SweepResult | undefined {
    const { graph } = this.model;
    return graph instanceof ClosedFormPosterior
      ? sweep(this.model, graph, this.corpus, this.#replicas)
      : undefined;
  }

  inspect(): Inspection {
    const { auc, edges_expected } = graphRecovery(this.model, this.corpus, { samples: 1 });
    return {
      figures: {
        ...(typeof auc === 'number' ? { auc } : {}),
        ...(edges_expected === undefined ? {} : { edges: edges_expected }),
      },
    };
  }

  evaluate(): SyntheticEvaluation {
    return evaluateSynthetic(this.model, this.corpus);
  }

  artifacts(): Record<string, JsonValue> {
    return { 'graph.json': graphRecord(this.model, this.corpus) };
  }
}
