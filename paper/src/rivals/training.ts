import type { RivalConfig } from '@hidden-schema/hsn/config/rivals';
import type { ReadTexts } from '@hidden-schema/hsn/tasks/language/network';
import { heldOut } from '@hidden-schema/hsn/tasks/language/training';
import type { Replicas } from '@hidden-schema/hsn/train/replicas';
import { type Loss, meanObjective, type Training } from '@hidden-schema/hsn/train/trainer';
import type { TextCorpus } from '@hidden-schema/text/corpus';
import {
  type BatchOrder,
  batchesByLength,
  type Frames,
  lengthOrder,
  partOfBatch,
  readBatch,
  type TextBatch,
} from '@hidden-schema/text/text-batches';
import type * as optim from '@hidden-schema/torch/optim';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { StateCache } from '@hidden-schema/transformers/state-cache';
import type { Rival } from './rival.ts';

/** Groups: decoder; its projections of latents, and the prior of codes; encoder; what learns in turn. */
function rivalGroups(model: Rival, config: RivalConfig): optim.ParameterGroup[] {
  const { rate, symbolRate, encoderRate, decay } = config.training;
  const dualRate = config.model === 'ivae' ? config.dual.rate : rate;
  const kindOf = (name: string): keyof typeof groups => {
    if (name.startsWith('encoder.')) return 'encoder';
    if (name.startsWith('dual.')) return 'dual';
    return /\.(psa|into_embedding)\.|^prior\./.test(name) ? 'latents' : 'rest';
  };
  const groups = {
    rest: { rate, decay },
    latents: { rate: rate * symbolRate },
    encoder: { rate: encoderRate, decay },
    dual: { rate: dualRate },
  };
  const named = [...model.namedParameters()];
  return Object.entries(groups)
    .map(([kind, settings]) => ({
      ...settings,
      parameters: named.filter(([name]) => kindOf(name) === kind),
    }))
    .filter(({ parameters }) => parameters.length > 0);
}

/** A rival in training on a text corpus. */
export class RivalTraining implements Training<ReadTexts> {
  readonly model: Rival;
  readonly corpus: TextCorpus;
  readonly frames: Frames;
  readonly order: BatchOrder;
  readonly groups: readonly optim.ParameterGroup[];
  readonly #cache: StateCache | undefined;

  constructor(model: Rival, corpus: TextCorpus, frames: Frames) {
    const { seed, training, encoder } = model.config;
    this.model = model;
    this.corpus = corpus;
    this.frames = frames;
    this.order = lengthOrder(corpus.store, corpus.splits.train, { batchSize: training.batch, seed });
    this.groups = rivalGroups(model, model.config);
    if (model.encoder.frozen) this.#cache = new StateCache(model.encoder.base.width, encoder.cache);
  }

  get settings(): RivalConfig['training'] {
    return this.model.config.training;
  }

  batch(rows: Int32Array, { first, end }: { first: number; end: number }): ReadTexts {
    const whole = readBatch(this.corpus.store, rows, this.frames);
    return this.withStates(rows.length === end - first ? whole : partOfBatch(whole, first, end));
  }

  /** A batch with the frozen encoder's states, kept in memory from the first time. */
  withStates(batch: TextBatch): ReadTexts {
    const states = this.#cache?.states(batch.rows, batch.encoder, (ids) => this.model.encoder.states(ids));
    return { ...batch, states };
  }

  loss(batch: ReadTexts, step: number, replicas: Replicas): Loss {
    const { loss, reconstruction, kl, tokens } = this.model.forward(batch, { step, holders: replicas });
    return { loss, figures: { reconstruction: reconstruction.item(), kl: kl.item(), tokens } };
  }

  turns(batch: ReadTexts): Iterable<Tensor> {
    return this.model.turns?.(batch) ?? [];
  }

  validate(step: number): number {
    const { config } = this.model;
    const beta = 'beta' in config ? config.beta.to : 1;
    const batches = heldOut(this.corpus, this.frames, (batch) => this.withStates(batch));
    return meanObjective(this.model, batches, { step, beta });
  }

  /** Validation sentences in batches, as they are looked at. */
  looked(limit: number): Iterable<TextBatch> {
    const { store, splits } = this.corpus;
    return batchesByLength(store, splits.valid.slice(0, limit), 100, this.frames);
  }
}
