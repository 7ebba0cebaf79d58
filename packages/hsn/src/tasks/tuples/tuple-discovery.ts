import { Random } from '@hidden-schema/base';
import { cat, noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { type Discovered, encodePoints, freeDiscovered, WalkCounts } from '../../discovery/encode.ts';
import { DiscoveryStage, fitSymbols } from '../../discovery/fit.ts';
import { inferLinks } from '../../discovery/links.ts';
import { fitPointSpace } from '../../discovery/point-space.ts';
import { adopt, fitOptions } from '../../discovery/text-discovery.ts';
import { countLikelyLinks } from '../../graph/likely.ts';
import type { PreparationWatch } from '../../train/task.ts';
import type { TupleTraining } from './training.ts';
import type { TwoPartPursuit } from './two-part-pursuit.ts';

// Shapes: N training tuples, P their different (s, r), O their different objects, H steps of a half, K symbols.

/** Points of each kind that symbols are fitted to, at most: the dictionary changes little with more. */
const mostPoints = 15_000;
/** Rows whose walks are read at a time once symbols are known: of a large corpus the points are never all there. */
const encodedAtOnce = 4096;
/** A stream of the seed that is not an epoch's own. */
const drawStream = 1_000_002;

/** Before the first step: one dictionary and one graph for both halves of walks, from points of (s, r) and of objects. */
export class TupleDiscovery extends DiscoveryStage {
  readonly #training: TupleTraining;

  constructor(training: TupleTraining) {
    super();
    this.#training = training;
  }

  /** All stages at once: what is stopped on the way begins again. */
  async advance({ signal, onPart }: PreparationWatch): Promise<Record<string, number>> {
    const { config, corpus, points: known } = this.#training;
    const { table, splits } = corpus;
    const encoder = this.#training.model.encoder as TwoPartPursuit;
    const prefixOf = (row: number) => table.head[row]! * table.relations.length + table.relation[row]!;
    const prefixes = distinctRows(splits.train, prefixOf);
    const objects = distinctRows(splits.train, (row) => table.object[row]!);
    onPart(0, { texts: prefixes.rows.length + objects.rows.length });
    const points = scope(() => {
      const [first, second] = [some(prefixes.rows, config.seed), some(objects.rows, config.seed)];
      encoder.events.place(fitPointSpace(known!.prefixVectors(first)));
      encoder.objects.place(fitPointSpace(known!.objectVectors(second)));
      return cat([known!.first(first), known!.second(second)], 0);
    });
    try {
      const { discovered, explained, encoded } = await fitSymbols(points, {
        ...fitOptions({ ...config, length: config.length / 2 }),
        ...(signal ? { signal } : {}),
        onStage: ({ done, stage, ...figures }) => onPart(done, figures),
      });
      for (const tensor of Object.values(encoded) as Tensor[]) tensor.free();
      const links = this.#adopt(discovered, prefixes, objects);
      this.finish();
      return { explained, links };
    } finally {
      points.free();
    }
  }

  /** Hands symbols over with the graph that whole walks of training tuples travel; returns its links. */
  #adopt(discovered: Discovered, prefixes: DistinctRows, objects: DistinctRows): number {
    const { corpus, config, model, points } = this.#training;
    const rows = corpus.splits.train;
    const { length, symbols } = config;
    const half = length / 2;
    const first = halvesOf(discovered, prefixes.rows, (block) => points!.first(block));
    const second = halvesOf(discovered, objects.rows, (block) => points!.second(block));
    const counts = new WalkCounts({ length, symbols });
    const part = (walks: Int32Array, place: number) => walks.subarray(place * half, (place + 1) * half);
    for (const row of rows)
      counts.add([...part(first, prefixes.place(row)), ...part(second, objects.place(row))]);
    return noGrad(() =>
      scope(() => {
        const texts = rows.length;
        const links = inferLinks(counts.travelled(texts), { ...discovered.options, texts });
        adopt(model, { symbols: discovered.symbols, linkProbabilities: links }, counts);
        const encoder = model.encoder as TwoPartPursuit;
        encoder.starts?.copy_(discovered.starts);
        encoder.cutoffs?.copy_(discovered.cutoffs);
        freeDiscovered(discovered);
        return countLikelyLinks(links);
      }),
    );
  }
}

/** Best walks of rows' points, some rows at a time. [N, H] */
function halvesOf(
  discovered: Discovered,
  rows: Int32Array,
  points: (block: Int32Array) => Tensor,
): Int32Array {
  const out = new Int32Array(rows.length * discovered.options.length);
  for (let at = 0; at < rows.length; at += encodedAtOnce) {
    const block = rows.slice(at, at + encodedAtOnce);
    const found = scope(() => encodePoints(discovered, points(block)).walks.toNumbers());
    out.set(found, at * discovered.options.length);
  }
  return out;
}

/** A row for each different key, and which of them stands for a row. */
interface DistinctRows {
  rows: Int32Array;
  place(row: number): number;
}

function distinctRows(rows: Int32Array, keyOf: (row: number) => number): DistinctRows {
  const places = new Map<number, number>();
  const kept: number[] = [];
  for (const row of rows) {
    const key = keyOf(row);
    if (places.has(key)) continue;
    places.set(key, kept.length);
    kept.push(row);
  }
  return { rows: Int32Array.from(kept), place: (row) => places.get(keyOf(row))! };
}

/** At most so many of the rows, drawn by the seed. */
const some = (rows: Int32Array, seed: number): Int32Array =>
  rows.length <= mostPoints ? rows : new Random(seed, drawStream).shuffle(rows.slice()).slice(0, mostPoints);
