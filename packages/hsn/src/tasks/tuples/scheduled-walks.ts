import { Random } from '@hidden-schema/base';
import { Generator } from '@hidden-schema/torch';
import { CountedPath } from './path/counted-path.ts';
import { TrainedWalks } from './trained-walks.ts';
import type { TupleTraining } from './training.ts';
import { continueWalks } from './walk-search.ts';
import { TupleWalks } from './walks.ts';

/** A stream of the seed for each pass, apart from others. */
const drawStream = 2_000_000;

/**
 * Second halves that a decoder reads in place of the posterior's for a share of its training, drawn from the counted path
 * model of the training walks: what it will have to write from when the object is not known.
 */
export class ScheduledWalks {
  readonly #training: TupleTraining;
  #path: { counted: CountedPath; walks: TupleWalks } | undefined;

  constructor(training: TupleTraining) {
    this.#training = training;
  }

  /**
   * For each row a second half to read, or none; the same for the same rows and pass. None during the first pass over
   * the tuples, or the first third of the steps where that ends sooner: what a walk says is learned first.
   */
  secondWalks(
    rows: Int32Array,
    { epoch = 0, step = 0 }: { epoch?: number; step?: number },
  ): (readonly number[] | undefined)[] | undefined {
    const { seed, path, training } = this.#training.config;
    if (path.scheduled === 0 || rows.length === 0) return undefined;
    if (epoch === 0 && step < training.steps / 3) return undefined;
    const random = new Random(seed, drawStream * epoch + rows[0]!);
    const chosen = Array.from(rows, () => random.next() < path.scheduled);
    const some = rows.filter((_, i) => chosen[i]);
    if (some.length === 0) return undefined;
    this.#path ??= this.#counted();
    const { counted, walks } = this.#path;
    const generator = new Generator(random.int(2 ** 31));
    const halves = { rows: some, first: walks.first(some, 'best') };
    const found = continueWalks(counted, halves, { how: 'sample', count: 1, generator });
    let next = 0;
    return chosen.map((one) => (one ? found[next++]![0]!.second : undefined));
  }

  #counted() {
    const { model, tokens, corpus, points } = this.#training;
    const walks = new TupleWalks(model, tokens, points);
    const rows = corpus.splits.train;
    const { relations } = corpus.table;
    const trained = TrainedWalks.of(rows, walks.whole(rows, 'best'), walks, relations);
    return { counted: new CountedPath(trained, walks, relations), walks };
  }
}
