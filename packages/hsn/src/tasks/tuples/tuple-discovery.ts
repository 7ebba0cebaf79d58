import { Random } from '@hidden-schema/base';
import { cat, noGrad, scope, Tensor } from '@hidden-schema/torch';
import {
  type Discovered,
  discoveryDefaults,
  encodePoints,
  fitPointSpace,
  fitSymbols,
  linkProbabilities,
  toPoints,
} from '../../discovery/index.ts';
import type { Preparation, PreparationState, PreparationWatch } from '../../train/task.ts';
import { adopt } from '../language/discovery.ts';
import type { TupleTraining } from './training.ts';
import type { TwoPartPursuit } from './two-part-pursuit.ts';

// Shapes: N training tuples, P their different (s, r), O their different objects, H steps of a half, K symbols.

/** Points of each kind that symbols are fitted to, at most: the dictionary changes little with more. */
const mostPoints = 15_000;
/** A stream of the seed that is not an epoch's own. */
const drawStream = 1_000_002;

/** Before the first step: one dictionary and one graph for both halves of walks, from points of (s, r) and of objects. */
export class TupleDiscovery implements Preparation {
  readonly label = 'discover';
  readonly unit = 'sweeps';
  readonly most: number;
  readonly #training: TupleTraining;
  #done = 0;

  constructor(training: TupleTraining) {
    this.#training = training;
    const { freeSweeps, linkedSweeps } = discoveryDefaults;
    this.most = freeSweeps + (training.config.length > 2 ? linkedSweeps : 0);
  }

  get wanted(): boolean {
    return this.#done < this.most;
  }
  get state(): PreparationState {
    return { count: this.#done };
  }
  set state({ count }: PreparationState) {
    this.#done = count;
  }

  /** All sweeps at once: what is stopped on the way begins again. */
  async advance({ signal, onPart }: PreparationWatch): Promise<Record<string, number>> {
    const { config, corpus, points: known } = this.#training;
    const { table, splits } = corpus;
    const encoder = this.#training.model.encoder as TwoPartPursuit;
    const prefixes = distinctRows(
      splits.train,
      (row) => table.head[row]! * table.relations.length + table.relation[row]!,
    );
    const objects = distinctRows(splits.train, (row) => table.object[row]!);
    onPart(0, { texts: prefixes.rows.length + objects.rows.length });
    const own = { first: known!.prefixVectors(prefixes.rows), second: known!.objectVectors(objects.rows) };
    const spaces = { first: fitPointSpace(own.first), second: fitPointSpace(own.second) };
    encoder.events.place(spaces.first);
    encoder.objects.place(spaces.second);
    const points = { first: toPoints(spaces.first, own.first), second: toPoints(spaces.second, own.second) };
    const { symbols, length, seed, discovery } = config;
    const fitted = scope(() => cat([some(points.first, seed), some(points.second, seed)], 0));
    try {
      const { discovered, sweeps, encoded } = await fitSymbols(fitted, {
        ...{ symbols, length: length / 2, seed, density: discovery.density },
        ...(signal ? { signal } : {}),
        onSweep: ({ sweep, explained, links }) => onPart(sweep, { explained, links }),
      });
      for (const tensor of Object.values(encoded) as Tensor[]) tensor.free();
      const links = this.#adopt(discovered, points, { prefixes, objects });
      this.#done = this.most;
      return { explained: sweeps.at(-1)!.explained, links };
    } finally {
      for (const tensor of [fitted, own.first, own.second, points.first, points.second]) tensor.free();
    }
  }

  /** Hands symbols over with the graph that whole walks of training tuples travel; returns its links. */
  #adopt(
    discovered: Discovered,
    points: Record<'first' | 'second', Tensor>,
    { prefixes, objects }: Record<'prefixes' | 'objects', DistinctRows>,
  ): number {
    const { corpus, config, model } = this.#training;
    const rows = corpus.splits.train;
    const half = config.length / 2;
    return noGrad(() =>
      scope(() => {
        const halves = {
          first: encodePoints(discovered, points.first).walks.toNumbers(),
          second: encodePoints(discovered, points.second).walks.toNumbers(),
        };
        const walks = new BigInt64Array(rows.length * config.length);
        for (const [n, row] of rows.entries())
          for (let i = 0; i < half; i++) {
            walks[n * 2 * half + i] = BigInt(halves.first[prefixes.place(row) * half + i]!);
            walks[n * 2 * half + half + i] = BigInt(halves.second[objects.place(row) * half + i]!);
          }
        const travelled = traversals(walks, config.length, config.symbols);
        const links = linkProbabilities(travelled, { ...discovered.options, texts: rows.length });
        const whole = Tensor.fromArray(walks, [rows.length, config.length]);
        adopt(model, { symbols: discovered.symbols, linkProbabilities: links }, whole);
        discovered.symbols.free();
        discovered.linkProbabilities.free();
        return links.gt(0.5).to('float32').sum().item() / 2;
      }),
    );
  }
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

/** At most so many of the points, drawn by the seed. */
function some(points: Tensor, seed: number): Tensor {
  const count = points.dim(0);
  if (count <= mostPoints) return points;
  const all = Int32Array.from({ length: count }, (_, i) => i);
  const drawn = new Random(seed, drawStream).shuffle(all).slice(0, mostPoints);
  return points.indexSelect(0, Tensor.fromArray(drawn, [drawn.length]));
}

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
