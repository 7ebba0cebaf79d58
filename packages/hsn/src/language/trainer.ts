import { noGrad, scope, span, type Tensor } from '@hidden-schema/torch';
import { maskOfLengths } from '../encoder/text-encoder.ts';
import { betaAt } from '../objective/schedule.ts';
import {
  batchesByLength,
  type Frames,
  LengthBatches,
  partOfBatch,
  type TextBatch,
  type TextCorpus,
} from '../text/index.ts';
import { FittedTrainer } from '../trainer/fitted-trainer.ts';
import { Replicas } from '../trainer/replicas.ts';
import type { StepMetrics } from '../trainer/trainer.ts';
import { Updater } from '../trainer/updater.ts';
import type { LanguageConfig } from './config.ts';
import { HiddenCache } from './hidden-cache.ts';
import { idsTensor, type LanguageNetwork } from './model.ts';
import { parameterGroups } from './parameter-groups.ts';

/** A language network (or its decoder alone, as baseline) in training on a text corpus: one call a step. */
export class LanguageTrainer extends FittedTrainer<LanguageNetwork> {
  readonly config: LanguageConfig;
  readonly corpus: TextCorpus;
  readonly frames: Frames;
  readonly #order: LengthBatches;
  readonly #cache: HiddenCache | undefined;
  readonly #replicas: Replicas;

  constructor(
    config: LanguageConfig,
    model: LanguageNetwork,
    corpus: TextCorpus,
    frames: Frames,
    replicas: Replicas = Replicas.alone,
  ) {
    const { seed, training, warmStart } = config;
    const order = new LengthBatches(corpus.store, corpus.splits.train, {
      ...frames,
      batchSize: training.batch,
      seed,
    });
    const updater = new Updater(parameterGroups(model, config), training, replicas);
    const fit = { parameters: /^(encoder\.walk|graph)\./, rate: warmStart.rate };
    super({ model, order, updater, steps: training.steps, fit });
    this.config = config;
    this.corpus = corpus;
    this.frames = frames;
    this.#order = order;
    this.#replicas = replicas;
    replicas.part(order.batchSize);
    if (model.encoder.frozen) this.#cache = new HiddenCache(model.encoder.base.width, config.encoder.cache);
  }

  /** One update on the next batch. */
  trainStep(): StepMetrics & { perplexity: number } {
    return this.model.generator.sharing(this.#replicas.share, () => scope(() => this.#update()));
  }

  #update(): StepMetrics & { perplexity: number } {
    const whole = this.#order.next();
    const { first, end } = this.#replicas.part(whole.rows.length);
    const batch = this.#replicas.size === 1 ? whole : partOfBatch(whole, first, end);
    this.model.train();
    const { loss, figures: own } = this.config.baseline ? this.#baseline(batch) : this.#network(batch);
    const gradient_norm = this.updater.backward(loss);
    const rate = this.updater.rateAt(this.step);
    const { tokens, ...figures } = this.#replicas.means({ loss: loss.item(), ...own });
    const perplexity = Math.exp((figures.reconstruction * batch.rows.length) / tokens);
    const metrics = { step: this.counted(), epoch: batch.epoch, ...figures, perplexity, gradient_norm, rate };
    this.updater.update(metrics, batch.index);
    return metrics;
  }

  #network(batch: TextBatch) {
    const { objective } = this.config;
    const beta = betaAt(objective.beta, this.step);
    const hidden = span('encoder', () => this.hidden(batch));
    const terms = span('forward', () => this.model.forward(batch, this.step, hidden, beta, this.#replicas));
    const { tokens, reconstruction, walk, graph } = terms;
    const figures = { reconstruction: reconstruction.item(), kl_walk: walk.item(), kl_graph: graph.item() };
    return { loss: terms.loss, figures: { ...figures, tokens } };
  }

  #baseline(batch: TextBatch) {
    const { perSentence, tokens } = this.model.decoder.nll(idsTensor(batch.decoder), undefined, [
      ...batch.decoder.lengths,
    ]);
    const loss = perSentence.mean();
    return { loss, figures: { reconstruction: loss.item(), kl_walk: 0, kl_graph: 0, tokens } };
  }

  /** The frozen encoder's states of a batch, from memory after the first time; nothing where the encoder trains. */
  hidden(batch: Pick<TextBatch, 'rows' | 'encoder'>): Tensor | undefined {
    return this.#cache?.states(batch.rows, batch.encoder, (ids) =>
      this.model.encoder.hidden(idsTensor(ids), maskOfLengths(ids.lengths, ids.width)),
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
      .forward(batch, this.step, this.hidden(batch), this.config.objective.beta.to)
      .loss.item();
  }
}
