import { BatchOrder, type PaddedIds } from '@hidden-schema/text/text-batches';
import { cat, crossEntropy, Generator, noGrad, scope, Tensor } from '@hidden-schema/torch';
import type * as optim from '@hidden-schema/torch/optim';
import { maskOfLengths } from '@hidden-schema/transformers/text-encoder';
import { residualCodes } from '../../encoder/sentence-codes.ts';
import { unitMeans } from '../../encoder/walk-queries.ts';
import { FreeLogits } from '../../graph/posterior.ts';
import { clipped } from '../../train/updater.ts';
import { drawnRows, type WalkCodes } from '../../train/warm-start.ts';
import type { TupleTraining } from './training.ts';

const encodedAtOnce = 1000;
/** Log-odds of a link that codes walk, and of one that they do not: present or absent in all but a few samples. */
const sureLink = 6;

/** The symbol of a choice at a step: steps go round the symbols, each with some of its own as far as they last. */
export function symbolOf(step: number, choice: number, choices: number, symbols: number): number {
  const groups = Math.max(1, Math.floor(symbols / choices));
  return (step % groups) * choices + choice;
}

/**
 * Before the first step, both blocks of queries learn to write a code: the first half a residual k-means code of
 * (s, r)'s mean vector, the second one of the object's or the tuple's. A step of a code has few choices, so that what
 * follows from (s, r) can be told step by step. A free graph starts with the links that codes walk.
 */
export class TupleWalkCodes implements WalkCodes {
  readonly order: BatchOrder;
  readonly #training: TupleTraining;
  readonly #rows: Int32Array;
  #first: Tensor[] = [];
  #second: Tensor[] = [];
  #codes: Map<number, readonly number[]> | undefined;

  constructor(training: TupleTraining) {
    const { config, corpus, tokens } = training;
    const { seed, training: settings, warmStart } = config;
    this.#training = training;
    this.#rows = drawnRows(corpus.splits.train, warmStart.sentences, seed);
    const lengthOf = (row: number) => tokens.length(row);
    this.order = new BatchOrder(this.#rows, { batchSize: settings.batch, seed, lengthOf });
  }

  get ready(): boolean {
    return this.#codes !== undefined;
  }

  makeSome(fresh: boolean): Record<string, number> {
    const encoded = this.#encodeSome();
    if (encoded === this.#rows.length) this.#makeCodes(fresh);
    return { encoded };
  }

  #encodeSome(): number {
    const { config, model, tokens } = this.#training;
    const done = this.#first.reduce((sum, part) => sum + part.dim(0), 0);
    const rows = this.#rows.subarray(done, done + encodedAtOnce);
    const { batch } = config.training;
    model.train(false);
    for (let first = 0; first < rows.length; first += batch) {
      const some = rows.slice(first, first + batch);
      const { prefix, whole } = this.#states(some);
      const object = config.warmStart.second === 'object' ? tokens.objects(some) : undefined;
      this.#first.push(vectors(prefix.states, prefix.ids));
      this.#second.push(
        object ? vectors(() => model.encoder.states(object), object) : vectors(whole.states, whole.ids),
      );
    }
    return done + rows.length;
  }

  /** Both inputs with the encoder's outputs for them, as constants. */
  #states(rows: Int32Array) {
    const { model, tokens } = this.#training;
    const constant = (ids: PaddedIds, known: () => Tensor | undefined) => ({
      ids,
      states: (): Tensor => noGrad(() => known() ?? model.encoder.states(ids)),
    });
    const [prefix, whole] = [tokens.prefix(rows), tokens.whole(rows)];
    return {
      prefix: constant(prefix, () => this.#training.prefixStates(rows, prefix)),
      whole: constant(whole, () => this.#training.wholeStates(rows, whole)),
    };
  }

  #makeCodes(fresh: boolean): void {
    const { symbols, length, seed, warmStart } = this.#training.config;
    const half = length / 2;
    const choices = Math.min(symbols, warmStart.choices);
    // A generator of its own, so that codes made again after a stop are the same.
    const generator = new Generator(seed);
    const codes = scope(() => {
      const of = (parts: readonly Tensor[]) =>
        residualCodes(cat(parts, 0), { symbols: choices, length: half }, generator);
      return cat([of(this.#first), of(this.#second)], 1).toNumbers();
    });
    const walk = (n: number) =>
      codes.slice(n * length, (n + 1) * length).map((choice, i) => symbolOf(i, choice, choices, symbols));
    this.#codes = new Map(Array.from(this.#rows, (row, n) => [row, walk(n)]));
    for (const part of [...this.#first, ...this.#second]) part.free();
    this.#first = this.#second = [];
    if (fresh) this.#layLinks();
  }

  /** Free links start where codes walk. */
  #layLinks(): void {
    const { graph } = this.#training.model;
    if (!(graph instanceof FreeLogits)) return;
    const { pairs } = graph.links();
    const walked = new Set<number>();
    for (const walk of this.#codes!.values())
      for (let i = 1; i < walk.length; i++) {
        const [a, b] = [walk[i - 1]!, walk[i]!];
        walked.add(Math.min(a, b) * pairs.nodes + Math.max(a, b));
      }
    const logits = Float32Array.from(pairs.rows, (row, e) =>
      walked.has(row * pairs.nodes + pairs.columns[e]!) ? sureLink : -sureLink,
    );
    noGrad(() => scope(() => void graph.logits.copy_(Tensor.fromArray(logits, [logits.length]))));
  }

  /** Cross-entropy of the scores with the codes, in nats a symbol. */
  update(optimizer: optim.Adam): number {
    return scope(() => {
      const { model, config } = this.#training;
      const { rows } = this.order.next();
      const { prefix, whole } = this.#states(rows);
      model.train();
      const known = { prefix: prefix.states(), whole: whole.states() };
      const scores = model.encoder.scores({ prefix: prefix.ids, whole: whole.ids, known }); // [B, L, K]
      const wanted = Array.from(rows, (row) => this.#codes!.get(row)!).flat();
      const loss = crossEntropy(
        scores.reshape(-1, config.symbols),
        Tensor.fromArray(BigInt64Array.from(wanted, BigInt), [wanted.length]),
      );
      optimizer.zeroGrad();
      loss.backward();
      const parameters = optimizer.groups.flatMap((group) => group.parameters.map(([, tensor]) => tensor));
      clipped(parameters, config.training.clip);
      optimizer.step();
      return loss.item();
    });
  }
}

/** Unit mean vectors. [B, D] */
function vectors(states: () => Tensor, { lengths, width }: PaddedIds): Tensor {
  return scope(() => noGrad(() => unitMeans(states(), maskOfLengths(lengths, width))));
}
