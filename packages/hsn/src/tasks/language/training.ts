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
import type { nn, Tensor } from '@hidden-schema/torch';
import type * as optim from '@hidden-schema/torch/optim';
import { StateCache } from '@hidden-schema/transformers/state-cache';
import type { LanguageConfig } from '../../config/language.ts';
import { CorpusPoints, type PassageVectors } from '../../discovery/vectors/corpus-vectors.ts';
import { type HeldOut, NetworkTraining } from '../../train/trainer.ts';
import type { LanguageKind, LanguageNetwork, ReadTexts } from './network.ts';

/** Validation sentences looked at, and how many of them at once. */
const validated = 1000;
const validatedAtOnce = 100;

/** A language network (or its decoder alone, as baseline) in training on a text corpus. */
export class LanguageTraining extends NetworkTraining<LanguageKind> {
  readonly config: LanguageConfig;
  readonly corpus: TextCorpus;
  readonly frames: Frames;
  readonly order: BatchOrder;
  readonly groups: readonly optim.ParameterGroup[];
  readonly fit: { parameters: RegExp; rate: number };
  readonly #cache: StateCache | undefined;
  readonly #points: CorpusPoints | undefined;

  /** `inputs` are passages and vectors of all texts, where walks are read by pursuit. */
  constructor(model: LanguageNetwork, corpus: TextCorpus, frames: Frames, inputs?: PassageVectors) {
    super(model);
    const { config } = model;
    this.config = config;
    this.corpus = corpus;
    this.frames = frames;
    const { seed, training, warmStart } = config;
    this.order = lengthOrder(corpus.store, corpus.splits.train, { batchSize: training.batch, seed });
    this.groups = parameterGroups(model, config);
    this.fit = { parameters: /^(encoder\.walk|graph)\./, rate: warmStart.rate };
    const { encoder } = model;
    if (encoder.reads === 'points') {
      if (inputs) this.#points = new CorpusPoints(encoder, inputs);
    } else if (encoder.frozen) this.#cache = new StateCache(encoder.base.width, config.encoder.cache);
  }

  get settings(): LanguageConfig['training'] {
    return this.config.training;
  }

  batch(rows: Int32Array, { first, end }: { first: number; end: number }): ReadTexts {
    const whole = readBatch(this.corpus.store, rows, this.frames);
    return this.withReading(rows.length === end - first ? whole : partOfBatch(whole, first, end));
  }

  /** A batch with what the frozen encoder makes of it: states, kept in memory from the first time, or points. */
  withReading(batch: TextBatch): ReadTexts {
    if (this.config.baseline) return batch;
    return this.#points
      ? { ...batch, ...this.#points.reading(batch.rows) }
      : { ...batch, states: this.states(batch) };
  }

  /** Nothing where the encoder trains. [B, T, D] */
  states({ rows, encoder }: Pick<TextBatch, 'rows' | 'encoder'>): Tensor | undefined {
    return this.#cache?.states(rows, encoder, (ids) => this.model.encoder.states(ids));
  }

  validate(step: number): number {
    return this.meanObjective(
      step,
      heldOut(this.corpus, this.frames, (batch) => this.withReading(batch)),
    );
  }
}

/** Validation sentences in batches, each read when it is looked at. */
export function heldOut(
  { store, splits }: TextCorpus,
  frames: Frames,
  read: (batch: TextBatch) => ReadTexts,
): HeldOut<ReadTexts> {
  const batches = batchesByLength(store, splits.valid.slice(0, validated), validatedAtOnce, frames);
  return [...batches].map((batch) => ({ count: batch.rows.length, make: () => read(batch) }));
}

/** Groups: decoder and walk prior; the decoder's projections of symbols; encoder; graph and symbols. A baseline trains its decoder alone. */
export function parameterGroups(
  model: nn.Module,
  config: Pick<LanguageConfig, 'baseline' | 'training'>,
): optim.ParameterGroup[] {
  const { rate, symbolRate, encoderRate, graphRate, decay } = config.training;
  const named = [...model.namedParameters()];
  const of = (...prefixes: string[]) =>
    named.filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix)));
  if (config.baseline) return [{ parameters: of('decoder.'), rate, decay }];
  const ofSymbols = ([name]: readonly [string, Tensor]) => name.includes('.psa.');
  const written = of('decoder.', 'walkPrior.');
  return [
    { parameters: written.filter((one) => !ofSymbols(one)), rate, decay },
    { parameters: written.filter(ofSymbols), rate: rate * symbolRate },
    { parameters: of('encoder.'), rate: encoderRate, decay },
    { parameters: of('graph.', 'graphPrior.', 'symbols.'), rate: graphRate },
  ];
}
