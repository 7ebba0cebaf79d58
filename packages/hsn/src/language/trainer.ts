import { noGrad, type optim, scope, type Tensor } from '@hidden-schema/torch';
import { maskOfLengths } from '../encoder/text-encoder.ts';
import {
  batchesByLength,
  type Frames,
  LengthBatches,
  type TextBatch,
  type TextCorpus,
} from '../text/index.ts';
import type { StepMetrics } from '../trainer/trainer.ts';
import { restoreTrainer, type TrainerState, trainerState } from '../trainer/trainer-state.ts';
import { Updater } from '../trainer/updater.ts';
import type { LanguageConfig } from './config.ts';
import { HiddenCache } from './hidden-cache.ts';
import { idsTensor, type LanguageNetwork } from './model.ts';

/** A language network (or its decoder alone, as baseline) in training on a text corpus: one call a step. */
export class LanguageTrainer {
  readonly config: LanguageConfig;
  readonly model: LanguageNetwork;
  readonly corpus: TextCorpus;
  readonly frames: Frames;
  readonly #order: LengthBatches;
  readonly #updater: Updater;
  readonly #cache: HiddenCache | undefined;
  #step = 0;

  constructor(config: LanguageConfig, model: LanguageNetwork, corpus: TextCorpus, frames: Frames) {
    this.config = config;
    this.model = model;
    this.corpus = corpus;
    this.frames = frames;
    const { batch: batchSize } = config.training;
    this.#order = new LengthBatches(corpus.store, corpus.splits.train, {
      ...frames,
      batchSize,
      seed: config.seed,
    });
    this.#updater = new Updater(parameterGroups(model, config), config.training);
    if (model.encoder.frozen) this.#cache = new HiddenCache(model.encoder.base.width, config.encoder.cache);
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

  /** One update on the next batch. */
  trainStep(): StepMetrics & { perplexity: number } {
    return scope(() => {
      const batch = this.#order.next();
      this.model.train();
      const { loss, figures } = this.config.baseline ? this.#baseline(batch) : this.#network(batch);
      const gradient_norm = this.#updater.backward(loss);
      const rate = this.#updater.rateAt(this.#step);
      const metrics = {
        step: ++this.#step,
        epoch: batch.epoch,
        loss: loss.item(),
        ...figures,
        gradient_norm,
        rate,
      };
      this.#updater.update(metrics, batch.index);
      return metrics;
    });
  }

  #network(batch: TextBatch) {
    const terms = this.model.forward(batch, this.#step, this.hidden(batch));
    const reconstruction = terms.reconstruction.item();
    const perplexity = Math.exp((reconstruction * batch.rows.length) / terms.tokens);
    const figures = { reconstruction, kl_walk: terms.walk.item(), kl_graph: terms.graph.item(), perplexity };
    return { loss: terms.loss, figures };
  }

  #baseline(batch: TextBatch) {
    const { perSentence, tokens } = this.model.decoder.nll(idsTensor(batch.decoder), undefined, [
      ...batch.decoder.lengths,
    ]);
    const loss = perSentence.mean();
    const reconstruction = loss.item();
    const perplexity = Math.exp((reconstruction * batch.rows.length) / tokens);
    return { loss, figures: { reconstruction, kl_walk: 0, kl_graph: 0, perplexity } };
  }

  /** The frozen encoder's states of a batch, from memory after the first time; nothing where the encoder trains. */
  hidden(batch: Pick<TextBatch, 'rows' | 'encoder'>): Tensor | undefined {
    const { encoder } = batch;
    return this.#cache?.states(batch.rows, encoder, () =>
      this.model.encoder.hidden(idsTensor(encoder), maskOfLengths(encoder.lengths, encoder.width)),
    );
  }

  /** Mean objective of validation sentences at full β, without dropout or dropped words. */
  validate(limit = 1000): number {
    const saved = this.model.generator.state();
    this.model.train(false);
    const rows = this.corpus.splits.valid.slice(0, limit);
    let [sum, count] = [0, 0];
    for (const batch of batchesByLength(this.corpus.store, rows, 100, this.frames)) {
      sum += scope(() => noGrad(() => this.#validationLoss(batch))) * batch.rows.length;
      count += batch.rows.length;
    }
    this.model.generator.restore(saved);
    return sum / count;
  }

  #validationLoss(batch: TextBatch): number {
    if (this.config.baseline) return this.#baseline(batch).loss.item();
    return this.model
      .forward(batch, this.#step, this.hidden(batch), this.config.objective.beta.to)
      .loss.item();
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

/** Groups: decoder and walk prior; encoder; graph. A baseline trains its decoder alone. */
function parameterGroups(model: LanguageNetwork, config: LanguageConfig): optim.ParameterGroup[] {
  const { rate, encoderRate, graphRate, decay } = config.training;
  const named = [...model.namedParameters()];
  const of = (...prefixes: string[]) =>
    named.filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix)));
  if (config.baseline) return [{ parameters: of('decoder.'), rate, decay }];
  return [
    { parameters: of('decoder.', 'walkPrior.'), rate, decay },
    { parameters: of('encoder.'), rate: encoderRate, decay },
    { parameters: of('graph.', 'graphPrior.'), rate: graphRate },
  ];
}
