import type { TrainedWalks } from '@hidden-schema/hsn';
import { call, noGrad, scope, Tensor, zeros } from '@hidden-schema/torch';
import { answerKey } from '../measures/recall.ts';
import { EventRegression } from './event-regression.ts';

// Shapes: n training events of a relation, D width of their vectors, M objects of the relation that are told apart, B questions.

/** Objects of a relation that are told apart: those that most events have. */
const OBJECTS = 3000;
/** Penalty of the ridge regression, per event; chosen on valid events of ATOMIC. */
const PENALTY = 1e-3;
/** The least that an object is given, as a part of its share among the relation's events: a line may go below 0. */
const LEAST = 0.3;

/** What is regressed for a relation. */
interface Lines {
  /** Columns of objects by their keys. */
  columns: ReadonlyMap<string, number>;
  /** Share of the relation's events that have each object. [M] */
  shares: Tensor;
  regression: EventRegression;
  /** [D, M] */
  slopes: Tensor;
}

/** log-probability of objects by their keys; nothing for an object that is not told apart. */
export type Classified = (key: string) => number | undefined;

/**
 * For each relation a linear classifier from an event's vector to the objects that it has: ridge regression of 0 and 1
 * on the vectors of training events, in closed form. A relation is fitted when it is first asked for.
 */
export class ObjectClassifier {
  readonly #trained: TrainedWalks;
  readonly #lines = new Map<number, Lines | undefined>();

  constructor(trained: TrainedWalks) {
    this.#trained = trained;
  }

  /** What vectors of events [B, D] say of the objects of their relations. */
  of(vectors: Tensor, relations: readonly number[]): Classified[] {
    const out: Classified[] = relations.map(() => () => undefined);
    for (const relation of new Set(relations)) {
      const lines = this.#of(relation);
      if (!lines) continue;
      const rows = [...relations.keys()].filter((row) => relations[row] === relation);
      const logs = scope(() => logsOf(lines, picked(vectors, rows)).toArray() as Float32Array);
      const width = lines.columns.size;
      for (const [at, row] of rows.entries())
        out[row] = (key) => {
          const column = lines.columns.get(key);
          return column === undefined ? undefined : logs[at * width + column]!;
        };
    }
    return out;
  }

  /** The regression of a relation; nothing where no event has it. */
  regression(relation: number): EventRegression | undefined {
    return this.#of(relation)?.regression;
  }

  #of(relation: number): Lines | undefined {
    if (!this.#lines.has(relation)) this.#lines.set(relation, fitLines(this.#trained, relation));
    return this.#lines.get(relation);
  }
}

export const picked = (vectors: Tensor, rows: readonly number[]): Tensor =>
  vectors.indexSelect(0, Tensor.fromArray(Int32Array.from(rows), [rows.length]));

/** log max(share + (x − mean) · slope, LEAST · share). [B, M] */
function logsOf({ regression, slopes, shares }: Lines, vectors: Tensor): Tensor {
  return noGrad(() =>
    vectors
      .sub(regression.mean.to('float32'))
      .matmul(slopes)
      .add(shares)
      .maximum(shares.mul(LEAST).unsqueeze(0))
      .log(),
  );
}

function fitLines(trained: TrainedWalks, relation: number): Lines | undefined {
  const { events, pairs, columns } = occurrences(trained, relation);
  if (events.length === 0) return undefined;
  const shares = new Float32Array(columns.size);
  for (const { column } of pairs) shares[column]! += 1 / events.length;
  const regression = new EventRegression(trained, events);
  const slopes = noGrad(() =>
    scope(() => {
      const sums = sumsOf(regression.centred(), pairs, columns.size);
      return regression.slopes(sums, PENALTY).to('float32').keep();
    }),
  );
  return { columns, shares: Tensor.fromArray(shares, [columns.size]).keep(), regression, slopes };
}

/** The sum over the events [n, D] that have each object. [D, M] */
function sumsOf(centred: Tensor, pairs: readonly Having[], objects: number): Tensor {
  const columns = Int32Array.from(pairs, ({ column }) => column);
  const having = picked(
    centred,
    pairs.map(({ row }) => row),
  );
  const none = zeros([objects, centred.dim(1)]);
  return call('index_add', none, 0, Tensor.fromArray(columns, [pairs.length]), having, 1).transpose(0, 1);
}

/** That an event, by its row, has an object, by its column. */
interface Having {
  row: number;
  column: number;
}

/** Events of a relation, its commonest objects as columns, and which event (by row) has which, each once. */
function occurrences(trained: TrainedWalks, relation: number) {
  const rows = new Map<number, number>();
  const had = new Map<string, Set<number>>();
  for (let tuple = 0; tuple < trained.count; tuple++) {
    if (trained.relation[tuple] !== relation) continue;
    const event = trained.event[tuple]!;
    const row = rows.get(event) ?? rows.size;
    rows.set(event, row);
    const key = answerKey(trained.objects[trained.object[tuple]!]!);
    const known = had.get(key);
    if (known) known.add(row);
    else had.set(key, new Set([row]));
  }
  const kept = [...had].sort(([, a], [, b]) => b.size - a.size).slice(0, OBJECTS);
  return {
    events: [...rows.keys()],
    columns: new Map(kept.map(([key], column) => [key, column])),
    pairs: kept.flatMap(([, own], column) => Array.from(own, (row) => ({ row, column }))),
  };
}
