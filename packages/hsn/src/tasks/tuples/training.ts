import { BatchOrder, type PaddedIds, partOfPadded } from '@hidden-schema/text/text-batches';
import type { Tensor } from '@hidden-schema/torch';
import type * as optim from '@hidden-schema/torch/optim';
import { StateCache } from '@hidden-schema/transformers/state-cache';
import type { ReasoningConfig } from '../../config/tuples.ts';
import { NetworkTraining } from '../../train/trainer.ts';
import { parameterGroups } from '../language/training.ts';
import type { ReadTuples } from './encoder.ts';
import type { ReasoningNetwork, TupleBatch, TupleKind } from './network.ts';
import { ScheduledWalks } from './scheduled-walks.ts';
import type { TupleTokens } from './tokens.ts';
import { TuplePoints } from './tuple-points.ts';
import type { TupleCorpus } from './tuples.ts';
import { TwoPartPursuit } from './two-part-pursuit.ts';

/** Tuples looked at for the validation objective. */
const validated = 1000;
const validatedAtOnce = 100;

/** A network over tuples, or COMET as its baseline, in training. */
export class TupleTraining extends NetworkTraining<TupleKind> {
  readonly config: ReasoningConfig;
  readonly corpus: TupleCorpus;
  readonly tokens: TupleTokens;
  readonly order: BatchOrder;
  readonly groups: readonly optim.ParameterGroup[];
  readonly fit: { parameters: RegExp; rate: number };
  /** Tuples as points, where walks pursue. */
  readonly points: TuplePoints | undefined;
  readonly #caches: { prefix: StateCache; whole: StateCache } | undefined;
  readonly #scheduled: ScheduledWalks | undefined;

  constructor(model: ReasoningNetwork, corpus: TupleCorpus, tokens: TupleTokens) {
    super(model);
    const { config } = model;
    const { seed, training, warmStart } = config;
    this.config = config;
    this.corpus = corpus;
    this.tokens = tokens;
    const lengthOf = (row: number) => tokens.length(row);
    this.order = new BatchOrder(corpus.splits.train, { batchSize: training.batch, seed, lengthOf });
    this.groups = parameterGroups(model, config);
    this.fit = { parameters: /^encoder\.(walk|second)\./, rate: warmStart.rate };
    const { encoder } = model;
    if (encoder instanceof TwoPartPursuit) {
      this.points = new TuplePoints(encoder, tokens);
      this.#scheduled = new ScheduledWalks(this);
      return;
    }
    if (!encoder.frozen) return;
    const half = () => new StateCache(encoder.base.width, config.encoder.cache / 2);
    this.#caches = { prefix: half(), whole: half() };
  }

  get settings(): ReasoningConfig['training'] {
    return this.config.training;
  }

  batch(
    rows: Int32Array,
    part: { first: number; end: number; epoch?: number; step?: number } = { first: 0, end: rows.length },
  ): TupleBatch {
    const { ids, prefixes } = this.tokens.decoder(rows);
    const { first, end } = part;
    const own = (side: PaddedIds) => (rows.length === end - first ? side : partOfPadded(side, first, end));
    const read = { prefix: own(this.tokens.prefix(rows)), whole: own(this.tokens.whole(rows)) };
    const known = this.config.baseline ? {} : this.#known(rows.slice(first, end), read, part);
    return { ...read, ...known, decoder: own(ids), prefixes: prefixes.slice(first, end) };
  }

  /** What the encoder need not make again: states or points; and second halves that are given, in training. */
  #known(
    rows: Int32Array,
    read: Pick<ReadTuples, 'prefix' | 'whole'>,
    at: { epoch?: number; step?: number },
  ): Partial<ReadTuples> {
    const { points } = this;
    if (!points) return { known: this.states(rows, read) };
    return {
      points: { first: points.first(rows), second: points.second(rows) },
      secondWalks: this.#scheduled?.secondWalks(rows, at),
    };
  }

  /** The frozen encoder's states, from memory after the first time; nothing where the encoder trains. */
  states(rows: Int32Array, { prefix, whole }: Pick<ReadTuples, 'prefix' | 'whole'>) {
    return { prefix: this.prefixStates(rows, prefix), whole: this.wholeStates(rows, whole) };
  }

  prefixStates(rows: Int32Array, ids: PaddedIds): Tensor | undefined {
    const { table } = this.corpus;
    const prefixes = rows.map((row) => table.head[row]! * table.relations.length + table.relation[row]!);
    return this.#caches?.prefix.states(prefixes, ids, (some) => this.model.encoder.states(some));
  }

  wholeStates(rows: Int32Array, ids: PaddedIds): Tensor | undefined {
    return this.#caches?.whole.states(rows, ids, (some) => this.model.encoder.states(some));
  }

  validate(step: number): number {
    const rows = this.corpus.splits.valid
      .slice(0, validated)
      .sort((a, b) => this.tokens.length(a) - this.tokens.length(b));
    const firsts = Array.from(
      { length: Math.ceil(rows.length / validatedAtOnce) },
      (_, i) => i * validatedAtOnce,
    );
    const batches = firsts.map((first) => {
      const some = rows.slice(first, first + validatedAtOnce);
      return { count: some.length, make: () => this.batch(some) };
    });
    return this.meanObjective(step, batches);
  }
}
