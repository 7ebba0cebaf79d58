import type { TokenStore } from '@hidden-schema/text';
import {
  type BatchOrder,
  batchesByLength,
  lengthOrder,
  readBatch,
  type TextBatch,
} from '@hidden-schema/text/text-batches';
import { cat, Generator, int64, noGrad, scope, Tensor, withoutGrad } from '@hidden-schema/torch';
import type * as optim from '@hidden-schema/torch/optim';
import { maskOfLengths } from '@hidden-schema/transformers/text-encoder';
import { type CodeOptions, type SentenceCodes, sentenceCodes } from '../../encoder/sentence-codes.ts';
import { TopicCodes } from '../../encoder/topic-codes.ts';
import { unitMeans } from '../../encoder/walk-queries.ts';
import type { LinkBelief } from '../../graph/bernoulli.ts';
import { clipped } from '../../train/updater.ts';
import { drawnRows, type WalkCodes } from '../../train/warm-start.ts';
import { WalkableGraph } from '../../walk/walkable-graph.ts';
import type { LanguageTraining } from './training.ts';

/** Sentences encoded between two looks. */
const encodedAtOnce = 1000;

/** How sure the graph is of its links when training begins. */
const sureness = 0.95;

/** What the walk's queries and the graph are fitted to. */
interface Wanted {
  walks: Map<number, readonly number[]>;
  adjacency: Tensor;
  belief: LinkBelief;
}

/**
 * Before the first step, queries and graph learn to write each sentence as the quantised code of its mean vector,
 * while the decoder waits. Walks then tell sentences apart when the decoder begins to read them; from a cold start it
 * learns to ignore them first.
 */
export class SentenceWalkCodes implements WalkCodes {
  readonly order: BatchOrder;
  readonly #training: LanguageTraining;
  readonly #rows: Int32Array;
  /** Unit mean vectors of the sentences encoded so far, until the codes are made of them. */
  #vectors: { rows: Int32Array; means: Tensor }[] = [];
  #topics: TopicCodes | undefined;
  #wanted: Wanted | undefined;

  constructor(training: LanguageTraining) {
    const { config, corpus } = training;
    const { seed, training: settings, warmStart } = config;
    this.#training = training;
    this.#rows = drawnRows(corpus.splits.train, warmStart.sentences, seed);
    this.order = lengthOrder(corpus.store, this.#rows, { batchSize: settings.batch, seed });
  }

  get ready(): boolean {
    return this.#wanted !== undefined;
  }

  makeSome(): Record<string, number> {
    return this.#training.config.warmStart.code === 'topics'
      ? { topic_sweeps: this.#sweepTopics() }
      : { encoded: this.#encodeSome() };
  }

  #encodeSome(): number {
    const { config, corpus, frames, model } = this.#training;
    const done = this.#vectors.reduce((sum, { rows }) => sum + rows.length, 0);
    const rows = this.#rows.slice(done, done + encodedAtOnce);
    model.train(false);
    for (const batch of batchesByLength(corpus.store, rows, config.training.batch, frames))
      this.#vectors.push({ rows: batch.rows, means: withoutGrad(() => this.#meanVectors(batch)) });
    const last = done + rows.length === this.#rows.length;
    if (last) this.#vectorCodes();
    return done + rows.length;
  }

  #meanVectors(batch: TextBatch): Tensor {
    const { lengths, width } = batch.encoder;
    return unitMeans(this.#states(batch), maskOfLengths(lengths, width));
  }

  #states(batch: TextBatch): Tensor {
    const { model } = this.#training;
    return this.#training.states(batch) ?? noGrad(() => model.encoder.states(batch.encoder));
  }

  #vectorCodes(): void {
    const rows = this.#vectors.flatMap(({ rows: some }) => [...some]);
    const means = this.#vectors.map((part) => part.means);
    this.#want(
      rows,
      scope(() => sentenceCodes(cat(means, 0), this.#codeOptions(), this.#generator())),
    );
    for (const mean of means) mean.free();
    this.#vectors = [];
  }

  #sweepTopics(): number {
    const { store } = this.#training.corpus;
    this.#topics ??= new TopicCodes(frequentWords(store, this.#rows), this.#codeOptions(), this.#generator());
    this.#topics.sweep();
    const { sweeps } = this.#topics;
    if (this.#topics.finished) this.#want([...this.#rows], this.#topics.codes());
    return sweeps;
  }

  /** Of its own, so that codes made again after a stop are the same. */
  #generator(): Generator {
    return new Generator(this.#training.config.seed);
  }

  #codeOptions(): CodeOptions {
    const { symbols, length, graph } = this.#training.config;
    return { symbols, length, density: graph.p, selfLoops: graph.selfLoops };
  }

  #want(rows: readonly number[], { walks, adjacency }: SentenceCodes): void {
    const { length } = this.#training.config;
    const flat = walks.toNumbers();
    walks.free();
    const belief = scope(() => {
      const { pairs } = this.#training.model.graph.links();
      const present = pairs
        .vector(adjacency)
        .mul(2 * sureness - 1)
        .add(1 - sureness);
      return { logPresent: present.log(), logAbsent: present.neg().add(1).log() };
    });
    const ofRow = new Map(rows.map((row, n) => [row, flat.slice(n * length, (n + 1) * length)]));
    this.#wanted = { walks: ofRow, adjacency, belief };
  }

  /** One update towards the codes' log-probability (Eq. 9) and links; returns the nats a symbol still costs. */
  update(optimizer: optim.Adam): number {
    return scope(() => {
      const { model, config, corpus, frames } = this.#training;
      const { walks, adjacency, belief } = this.#wanted!;
      const batch = readBatch(corpus.store, this.order.next().rows, frames);
      model.train();
      const scores = model.encoder.scores({ ...batch, states: this.#states(batch) }); // [B, L, K]
      const wanted = Array.from(batch.rows, (row) => walks.get(row)!).flat();
      const posterior = model.posterior(scores, new WalkableGraph(adjacency, config.walk.isolated));
      const nll = posterior
        .logProb(int64(wanted, [batch.rows.length, config.length]))
        .mean()
        .div(-config.length);
      const links = model.graph.links();
      optimizer.zeroGrad();
      nll.add(links.kl(belief).div(links.pairs.count)).backward();
      clipped(
        optimizer.groups.flatMap((group) => group.parameters.map(([, tensor]) => tensor)),
        config.training.clip,
      );
      optimizer.step();
      return nll.item();
    });
  }
}

/** The most frequent tokens that are counted: rarer ones say little and cost much. */
const most = 4000;

/** How often each sentence has each of the decoder's most frequent tokens. [N, V] */
export function frequentWords(store: TokenStore, rows: Int32Array): Tensor {
  const sentences = Array.from(rows, (row) => store.ids('decoder', store.row(row)));
  const totals = new Map<number, number>();
  for (const ids of sentences) for (const id of ids) totals.set(id, (totals.get(id) ?? 0) + 1);
  const kept = [...totals].sort(([a, m], [b, n]) => n - m || a - b).slice(0, most);
  const place = new Map(kept.map(([id], i) => [id, i]));
  const counts = new Float32Array(rows.length * kept.length);
  for (const [n, ids] of sentences.entries())
    for (const id of ids) {
      const at = place.get(id);
      if (at !== undefined) counts[n * kept.length + at]! += 1;
    }

  return Tensor.fromArray(counts, [rows.length, kept.length]);
}
