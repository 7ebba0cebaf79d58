import { Random } from '@hidden-schema/base';
import { cat, noGrad, scope, Tensor } from '@hidden-schema/torch';
import { type Discovered, encodePoints } from '../../discovery/encode.ts';
import { fitSymbols } from '../../discovery/fit.ts';
import { linkProbabilities } from '../../discovery/links.ts';
import { fitPointSpace } from '../../discovery/point-space.ts';
import { countLikelyLinks } from '../../graph/likely.ts';
import type { PreparationWatch } from '../../train/task.ts';
import { DiscoveryStage } from '../discovery-stage.ts';
import { adopt } from '../language/discovery.ts';
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
    super(training.config.length / 2);
    this.#training = training;
  }

  /** All sweeps at once: what is stopped on the way begins again. */
  async advance({ signal, onPart }: PreparationWatch): Promise<Record<string, number>> {
    const { config, corpus, points: known } = this.#training;
    const { table, splits } = corpus;
    const { symbols, length, seed, discovery } = config;
    const encoder = this.#training.model.encoder as TwoPartPursuit;
    const prefixOf = (row: number) => table.head[row]! * table.relations.length + table.relation[row]!;
    const prefixes = distinctRows(splits.train, prefixOf);
    const objects = distinctRows(splits.train, (row) => table.object[row]!);
    onPart(0, { texts: prefixes.rows.length + objects.rows.length });
    const points = scope(() => {
      const [first, second] = [some(prefixes.rows, seed), some(objects.rows, seed)];
      encoder.events.place(fitPointSpace(known!.prefixVectors(first)));
      encoder.objects.place(fitPointSpace(known!.objectVectors(second)));
      return cat([known!.first(first), known!.second(second)], 0);
    });
    try {
      const { discovered, sweeps, encoded } = await fitSymbols(points, {
        ...{ symbols, length: length / 2, seed, density: discovery.density },
        ...(signal ? { signal } : {}),
        onSweep: ({ sweep, explained, links }) => onPart(sweep, { explained, links }),
      });
      for (const tensor of Object.values(encoded) as Tensor[]) tensor.free();
      const links = this.#adopt(discovered, prefixes, objects);
      this.finish();
      return { explained: sweeps.at(-1)!.explained, links };
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
    const walks = new BigInt64Array(rows.length * length);
    for (const [n, row] of rows.entries())
      for (let i = 0; i < half; i++) {
        walks[n * length + i] = BigInt(first[prefixes.place(row) * half + i]!);
        walks[n * length + half + i] = BigInt(second[objects.place(row) * half + i]!);
      }
    return noGrad(() =>
      scope(() => {
        const travelled = traversals(walks, length, symbols);
        const links = linkProbabilities(travelled, { ...discovered.options, texts: rows.length });
        const counts = Array.from({ length }, () => new Float64Array(symbols));
        for (const [at, symbol] of walks.entries()) counts[at % length]![Number(symbol)]!++;
        adopt(model, { symbols: discovered.symbols, linkProbabilities: links }, counts);
        discovered.symbols.free();
        discovered.linkProbabilities.free();
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

/** How often whole walks go from one symbol to another, per walk; a walk that stays where it is travels no link. [K, K] */
function traversals(walks: BigInt64Array, length: number, symbols: number) {
  const counts = new Float64Array(symbols * symbols);
  const texts = walks.length / length;
  for (let n = 0; n < texts; n++)
    for (let i = 1; i < length; i++) {
      const [from, to] = [Number(walks[n * length + i - 1]), Number(walks[n * length + i])];
      if (from !== to) counts[from * symbols + to]! += 1 / texts;
    }
  const matrix = () => Tensor.fromArray(counts, [symbols, symbols]);
  return { traversals: matrix(), certainty: matrix() };
}
