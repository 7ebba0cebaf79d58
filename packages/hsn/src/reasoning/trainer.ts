import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { HiddenCache } from '../language/hidden-cache.ts';
import { parameterGroups } from '../language/parameter-groups.ts';
import { LengthOrder, type PaddedIds } from '../text/index.ts';
import { FittedTrainer } from '../trainer/fitted-trainer.ts';
import type { StepMetrics } from '../trainer/trainer.ts';
import { Updater } from '../trainer/updater.ts';
import type { ReasoningConfig } from './config.ts';
import type { KnownStates, ReasoningNetwork, TupleBatch } from './model.ts';
import type { TupleTokens } from './tokens.ts';
import type { TupleCorpus } from './tuples.ts';

/** Tuples looked at for the validation objective. */
const validated = 1000;
const validatedAtOnce = 100;

/** A network over tuples, or COMET as its baseline, in training: one call a step. */
export class ReasoningTrainer extends FittedTrainer<ReasoningNetwork> {
  readonly config: ReasoningConfig;
  readonly corpus: TupleCorpus;
  readonly tokens: TupleTokens;
  readonly #order: LengthOrder;
  readonly #caches: { prefix: HiddenCache; whole: HiddenCache } | undefined;

  constructor(config: ReasoningConfig, model: ReasoningNetwork, corpus: TupleCorpus, tokens: TupleTokens) {
    const { seed, training, warmStart } = config;
    const order = new LengthOrder(corpus.splits.train, (row) => tokens.length(row), {
      batchSize: training.batch,
      seed,
    });
    const updater = new Updater(parameterGroups(model, config), training);
    const fit = { parameters: /^encoder\.(walk|second)\./, rate: warmStart.rate };
    super({ model, order, updater, steps: training.steps, fit });
    this.config = config;
    this.corpus = corpus;
    this.tokens = tokens;
    this.#order = order;
    if (!model.encoder.frozen) return;
    const half = () => new HiddenCache(model.encoder.base.width, config.encoder.cache / 2);
    this.#caches = { prefix: half(), whole: half() };
  }

  batch(rows: Int32Array): TupleBatch {
    const { ids, prefixes } = this.tokens.decoder(rows);
    return { rows, prefix: this.tokens.prefix(rows), whole: this.tokens.whole(rows), decoder: ids, prefixes };
  }

  trainStep(): StepMetrics & { perplexity: number } {
    return scope(() => {
      const { rows, epoch, index } = this.#order.next();
      this.model.train();
      const { loss, figures } = this.#loss(this.batch(rows));
      const gradient_norm = this.updater.backward(loss);
      const rate = this.updater.rateAt(this.step);
      const metrics = { step: this.counted(), epoch, loss: loss.item(), ...figures, gradient_norm, rate };
      this.updater.update(metrics, index);
      return metrics;
    });
  }

  #loss(batch: TupleBatch, beta?: number) {
    const count = batch.rows.length;
    if (this.config.baseline) {
      const { perSentence, tokens } = this.model.objectNll(batch, undefined);
      const loss = perSentence.mean();
      const reconstruction = loss.item();
      const perplexity = Math.exp((reconstruction * count) / tokens);
      return { loss, figures: { reconstruction, kl_walk: 0, kl_graph: 0, perplexity } };
    }
    const terms = this.model.reconstruct(batch, this.step, this.hidden(batch), beta);
    const reconstruction = terms.reconstruction.item();
    const perplexity = Math.exp((reconstruction * count) / terms.tokens);
    const figures = { reconstruction, kl_walk: terms.walk.item(), kl_graph: terms.graph.item(), perplexity };
    return { loss: terms.loss, figures };
  }

  /** The frozen encoder's states of a batch, from memory after the first time; nothing where the encoder trains. */
  hidden({ rows, prefix, whole }: Pick<TupleBatch, 'rows' | 'prefix' | 'whole'>): KnownStates {
    return { prefix: this.prefixStates(rows, prefix), whole: this.wholeStates(rows, whole) };
  }

  prefixStates(rows: Int32Array, ids: PaddedIds): Tensor | undefined {
    const { table } = this.corpus;
    const prefixes = rows.map((row) => table.head[row]! * table.relations.length + table.relation[row]!);
    return this.#caches?.prefix.states(prefixes, ids, (some) => this.model.states(some));
  }

  wholeStates(rows: Int32Array, ids: PaddedIds): Tensor | undefined {
    return this.#caches?.whole.states(rows, ids, (some) => this.model.states(some));
  }

  /** Mean objective of validation tuples at full β, without dropout or dropped words. */
  validate(): number {
    const saved = this.model.generator.state();
    this.model.train(false);
    const rows = this.corpus.splits.valid
      .slice(0, validated)
      .sort((a, b) => this.tokens.length(a) - this.tokens.length(b));
    let sum = 0;
    for (let first = 0; first < rows.length; first += validatedAtOnce) {
      const some = rows.slice(first, first + validatedAtOnce);
      const loss = () => this.#loss(this.batch(some), this.config.objective.beta.to).loss.item();
      sum += scope(() => noGrad(loss)) * some.length;
    }
    this.model.generator.restore(saved);
    return sum / rows.length;
  }
}
