import { cat, crossEntropy, Generator, noGrad, optim, scope, Tensor } from '@hidden-schema/torch';
import { Random } from '../corpus/random.ts';
import { residualCodes } from '../encoder/sentence-codes.ts';
import { maskOfLengths } from '../encoder/text-encoder.ts';
import { meanPooled } from '../encoder/walk-queries.ts';
import { FreeLogits } from '../graph/index.ts';
import { LengthOrder, type PaddedIds } from '../text/index.ts';
import type { Preparation, PreparationState } from '../trainer/task.ts';
import { joinedScores } from './encoder.ts';
import type { ReasoningTrainer } from './trainer.ts';

const encodedAtOnce = 1000;
const updatesAtOnce = 50;
/** A stream of the seed that is not an epoch's own. */
const drawStream = 1_000_001;
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
export class TwoPartWarmStart implements Preparation {
  readonly label = 'warm start';
  readonly unit = 'steps';
  readonly most: number;
  readonly #trainer: ReasoningTrainer;
  readonly #rows: Int32Array;
  readonly #order: LengthOrder;
  #first: Tensor[] = [];
  #second: Tensor[] = [];
  #codes: Map<number, readonly number[]> | undefined;
  #count = 0;

  constructor(trainer: ReasoningTrainer) {
    const { config, corpus, tokens } = trainer;
    const { steps, sentences } = config.warmStart;
    this.#trainer = trainer;
    this.most = config.baseline ? 0 : steps;
    const all = Int32Array.from(corpus.splits.train);
    this.#rows = new Random(config.seed, drawStream).shuffle(all).slice(0, sentences);
    const batchSize = config.training.batch;
    this.#order = new LengthOrder(this.#rows, (row) => tokens.length(row), { batchSize, seed: config.seed });
  }

  get wanted(): boolean {
    return this.#trainer.step === 0 && this.#count < this.most;
  }
  get state(): PreparationState {
    return { count: this.#count };
  }
  set state({ count }: PreparationState) {
    this.#count = count;
    const { batchesPerEpoch } = this.#order;
    this.#order.seek({ epoch: Math.floor(count / batchesPerEpoch), batch: count % batchesPerEpoch });
  }

  advance(): Record<string, number> {
    if (!this.#codes) return { encoded: this.#encodeSome() };
    let loss = 0;
    const optimizer = this.#trainer.fitting();
    const end = Math.min(this.most, this.#count + updatesAtOnce);
    for (; this.#count < end; this.#count++) loss = this.#update(optimizer);
    if (this.#count === this.most) this.#trainer.fitted();
    return { fit: loss };
  }

  /** Tuples are encoded again when a stopped warm start goes on: they are not part of a checkpoint. */
  #encodeSome(): number {
    const { config, model, tokens } = this.#trainer;
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
        object ? vectors(() => model.states(object), object) : vectors(whole.states, whole.ids),
      );
    }
    if (done + rows.length === this.#rows.length) this.#makeCodes();
    return done + rows.length;
  }

  /** Both inputs with the encoder's outputs for them, as constants. */
  #states(rows: Int32Array) {
    const { model, tokens } = this.#trainer;
    const constant = (ids: PaddedIds, known: () => Tensor | undefined) => ({
      ids,
      states: (): Tensor => noGrad(() => known() ?? model.states(ids)),
    });
    const [prefix, whole] = [tokens.prefix(rows), tokens.whole(rows)];
    return {
      prefix: constant(prefix, () => this.#trainer.prefixStates(rows, prefix)),
      whole: constant(whole, () => this.#trainer.wholeStates(rows, whole)),
    };
  }

  #makeCodes(): void {
    const { symbols, length, seed, warmStart } = this.#trainer.config;
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
    if (this.#count === 0) this.#layLinks();
  }

  /** Free links start where codes walk. */
  #layLinks(): void {
    const { graph } = this.#trainer.model;
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
  #update(optimizer: optim.Adam): number {
    return scope(() => {
      const { model, config } = this.#trainer;
      const { rows } = this.#order.next();
      const { prefix, whole } = this.#states(rows);
      model.train();
      const scores = joinedScores(
        model.firstScores(prefix.ids, prefix.states()),
        model.secondScores(whole.ids, whole.states()),
      ); // [B, L, K]
      const wanted = Array.from(rows, (row) => this.#codes!.get(row)!).flat();
      const loss = crossEntropy(
        scores.reshape(-1, config.symbols),
        Tensor.fromArray(BigInt64Array.from(wanted, BigInt), [wanted.length]),
      );
      optimizer.zeroGrad();
      loss.backward();
      const parameters = optimizer.groups.flatMap((group) => group.parameters.map(([, tensor]) => tensor));
      optim.clipGradients(parameters, config.training.clip);
      optimizer.step();
      return loss.item();
    });
  }
}

/** Unit mean vectors. [B, D] */
function vectors(states: () => Tensor, { lengths, width }: PaddedIds): Tensor {
  return scope(() =>
    noGrad(() => {
      const mean = meanPooled(states(), maskOfLengths(lengths, width));
      return mean.div(mean.mul(mean).sum(1, true).sqrt().clamp(1e-12));
    }),
  );
}
