import { type optim, scope, span, type Tensor } from '@hidden-schema/torch';
import type { Config } from '../config.ts';
import { BatchOrder, type SyntheticCorpus } from '../corpus/index.ts';
import { UserError } from '../errors.ts';
import { validationLoss } from '../evaluation/synthetic.ts';
import { ClosedFormPosterior } from '../graph/index.ts';
import { HiddenSchemaNetwork } from '../model.ts';
import { tokensOf } from './batch.ts';
import { type SweepResult, sweep } from './graph-sweeps.ts';
import { Replicas } from './replicas.ts';
import { restoreTrainer, type TrainerState, trainerState } from './trainer-state.ts';
import { Updater } from './updater.ts';

/** The terms of one training step as plain numbers, in nats per sentence. */
export interface StepMetrics {
  step: number;
  epoch: number;
  loss: number;
  reconstruction: number;
  kl_walk: number;
  kl_graph: number;
  teacher?: number;
  gradient_norm: number;
  rate: number;
}

/** A model in training on a synthetic corpus: one call a step, nothing on disk. */
export class Trainer {
  readonly config: Config;
  readonly corpus: SyntheticCorpus;
  readonly model: HiddenSchemaNetwork;
  readonly #order: BatchOrder;
  readonly #updater: Updater;
  readonly #replicas: Replicas;
  #step = 0;

  constructor(config: Config, corpus: SyntheticCorpus, replicas: Replicas = Replicas.alone) {
    checkTrainable(config, corpus);
    this.config = config;
    this.corpus = corpus;
    this.model = new HiddenSchemaNetwork(config, modelShape(config, corpus));
    this.#order = new BatchOrder(corpus.splits.train.count, config.training.batch, config.seed);
    this.#updater = new Updater(parameterGroups(this.model, config), config.training, replicas);
    this.#replicas = replicas;
    replicas.part(this.#order.batchSize);
  }

  get optimizer(): optim.Adam {
    return this.#updater.optimizer;
  }
  get step(): number {
    return this.#step;
  }
  get finished(): boolean {
    return this.#step >= this.config.training.steps;
  }

  /** One pass of the closed-form graph over the training sentences; returns mean log p(x) of train and valid. */
  sweepGraph(): SweepResult | undefined {
    const { graph } = this.model;
    return graph instanceof ClosedFormPosterior
      ? sweep(this.model, graph, this.corpus, this.#replicas)
      : undefined;
  }

  /** One update on the next batch. */
  trainStep(): StepMetrics {
    return this.model.generator.sharing(this.#replicas.share, () => scope(() => this.#update()));
  }

  #update(): StepMetrics {
    const batch = this.#order.next();
    const { first, end } = this.#replicas.part(batch.rows.length);
    const tokens = tokensOf(this.corpus.splits.train, this.corpus.length, batch.rows.subarray(first, end));
    const teacher = span('graph', () => this.#observe(tokens));
    this.model.train();
    const terms = span('forward', () => this.model.forward(tokens, this.#step, teacher, this.#replicas));
    const norm = this.#updater.backward(terms.loss);
    const rate = this.#updater.rateAt(this.#step);
    const figures = this.#replicas.means({
      loss: terms.loss.item(),
      reconstruction: terms.reconstruction.item(),
      kl_walk: terms.walk.item(),
      kl_graph: terms.graph.item(),
      ...(terms.teacher ? { teacher: terms.teacher.item() } : {}),
    });
    const metrics = { step: ++this.#step, epoch: batch.epoch, ...figures, gradient_norm: norm, rate };
    this.#updater.update(metrics, batch.index);
    return metrics;
  }

  /**
   * The closed-form graph's exact posterior of the batch, which teaches the encoder. Where symbols are learned, the
   * graph goes on learning from it too; where they are known, its sweeps have settled it.
   */
  #observe(tokens: Tensor): readonly Tensor[] | undefined {
    const { graph } = this.model;
    if (!(graph instanceof ClosedFormPosterior)) return undefined;
    const taught = this.config.encoder.teacher === 'smoothing';
    const settled = this.model.decoder.logits === undefined && this.config.graph.sweeps > 0;
    if (settled) return taught ? this.model.teach(tokens, graph) : undefined;
    const smoothed = this.model.smooth(tokens, graph);
    const [traversals, certainty, start] = this.#replicas.mean([
      smoothed.traversals,
      smoothed.certainty,
      smoothed.start,
    ]);
    graph.observe({ traversals: traversals!, certainty: certainty!, start: start! });
    return taught ? smoothed.marginals : undefined;
  }

  /** The objective on the validation split without dropout: what selects the best model and stops training early. */
  validate(): number {
    return validationLoss(this.model, this.corpus);
  }

  state(): TrainerState {
    return trainerState(this, this.#order);
  }

  restore(
    state: TrainerState,
    model: ReadonlyMap<string, Tensor>,
    optimizer: ReadonlyMap<string, Tensor>,
  ): void {
    restoreTrainer(this, this.#order, { model, optimizer }, state);
    this.#step = state.step;
  }

  free(): void {
    this.model.free();
    this.optimizer.free();
  }
}

/** What training needs beyond a model that fits: refused before a run folder is touched. */
export function checkTrainable(config: Config, corpus: SyntheticCorpus): void {
  modelShape(config, corpus);
  const { width, heads } = config.encoder;
  if (width % heads !== 0)
    throw new UserError(`encoder.width is ${width}: expected a multiple of encoder.heads, ${heads}`);
  for (const [name, { count }] of Object.entries(corpus.splits)) {
    if (count > 0) continue;
    throw new UserError(
      `${corpus.directory} has no sentences in ${name}.txt: add some, or remove the file so that a share of train.txt is used`,
    );
  }
}

/** K, V, L and N from the corpus; the bags' number of symbols wins over the configuration only when it is silent. */
export function modelShape(config: Config, corpus: SyntheticCorpus) {
  const given = corpus.bags?.nodes;
  const symbols = config.symbols ?? given;
  if (symbols === undefined) {
    throw new UserError(
      'the corpus names no symbols (no node_tokens.tsv): say how many with --set symbols=50',
    );
  }
  if (given !== undefined && symbols !== given) {
    throw new UserError(
      `symbols is ${symbols}, but the corpus gives bags of tokens for ${given} symbols: leave symbols out, or set it to ${given}`,
    );
  }
  if (config.length !== undefined && config.length !== corpus.length) {
    throw new UserError(
      `length is ${config.length}, but the sentences have ${corpus.length} tokens, one for each step: leave length out`,
    );
  }
  return {
    symbols,
    vocabulary: corpus.vocabulary.length,
    length: corpus.length,
    sentences: corpus.splits.train.count,
    ...(corpus.bags ? { bags: corpus.bags.probabilities } : {}),
  };
}

/** Group 0: encoder, decoder and walk prior. Group 1: the graph's posterior and prior. */
function parameterGroups(model: HiddenSchemaNetwork, config: Config): optim.ParameterGroup[] {
  const named = [...model.namedParameters()];
  const isGraph = (name: string) => name.startsWith('graph');
  const { rate, graphRate, decay } = config.training;
  return [
    { parameters: named.filter(([name]) => !isGraph(name)), rate, decay },
    { parameters: named.filter(([name]) => isGraph(name)), rate: graphRate },
  ];
}
