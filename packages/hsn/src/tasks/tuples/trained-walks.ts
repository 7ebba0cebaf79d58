import { partialName, UserError } from '@hidden-schema/base';
import { rowsOfPadded } from '@hidden-schema/text/text-batches';
import { noGrad, openSafetensors, scope, Tensor, writeSafetensors } from '@hidden-schema/torch';
import { vectorRows } from '../../discovery/vectors/text-vectors.ts';
import type { RunFiles } from '../../run/run-files.ts';
import type { TupleTokens } from './tokens.ts';
import type { TupleWalks } from './walks.ts';

// Shapes: E training events, D width of the encoder, N training tuples, L steps.

const fileName = 'walks.safetensors';
const textKey = 'texts';

/** Events of training that are near to another, the nearest first, and the cosines of their vectors with its. */
export interface NearEvents {
  events: Int32Array;
  cosines: Float32Array;
}

/** The walks of training tuples, with their events as the network's encoder sees them. */
export class TrainedWalks {
  readonly events: readonly string[];
  readonly objects: readonly string[];
  /** Of each tuple: its event, its relation among the run's, its object. [N] */
  readonly event: Int32Array;
  readonly relation: Int32Array;
  readonly object: Int32Array;
  readonly #walks: Int32Array;
  readonly length: number;
  /** Unit vectors of the events. [E, D] */
  readonly #vectors: Tensor;

  constructor(parts: {
    events: readonly string[];
    objects: readonly string[];
    event: Int32Array;
    relation: Int32Array;
    object: Int32Array;
    walks: Int32Array;
    vectors: Tensor;
  }) {
    this.events = parts.events;
    this.objects = parts.objects;
    this.event = parts.event;
    this.relation = parts.relation;
    this.object = parts.object;
    this.#walks = parts.walks;
    this.#vectors = parts.vectors;
    this.length = parts.walks.length / parts.event.length;
  }

  /** Of some rows with their walks. */
  static of(
    rows: Int32Array,
    walks: readonly (readonly number[])[],
    reader: TupleWalks,
    relations: readonly string[],
  ): TrainedWalks {
    const { table } = reader.tokens;
    const numbered = (numbers: readonly number[]) => {
      const kept = [...new Set(Array.from(rows, (row) => numbers[row]!))];
      return { kept, place: new Map(kept.map((number, at) => [number, at])) };
    };
    const [heads, objects] = [numbered(table.head), numbered(table.object)];
    const someRow = new Map(Array.from(rows, (row) => [table.head[row]!, row]));
    const asRows = Int32Array.from(heads.kept, (head) => someRow.get(head)!);
    return new TrainedWalks({
      events: heads.kept.map((head) => table.heads[head]!),
      objects: objects.kept.map((object) => table.objects[object]!),
      event: rows.map((row) => heads.place.get(table.head[row]!)!),
      relation: rows.map((row) => relations.indexOf(table.relations[table.relation[row]!]!)),
      object: rows.map((row) => objects.place.get(table.object[row]!)!),
      walks: Int32Array.from(walks.flat()),
      vectors: eventVectors(reader, reader.tokens, asRows),
    });
  }

  get count(): number {
    return this.event.length;
  }

  walk(tuple: number): Int32Array {
    return this.#walks.subarray(tuple * this.length, (tuple + 1) * this.length);
  }

  /** Of training events by number. [B, D] */
  vectorsOf(events: readonly number[]): Tensor {
    return this.#vectors.indexSelect(0, Tensor.fromArray(Int32Array.from(events), [events.length]));
  }

  /** The nearest events to each of some unit vectors. [B, D] */
  nearest(vectors: Tensor, count: number): NearEvents[] {
    const most = Math.min(count, this.events.length);
    return noGrad(() =>
      scope(() => {
        const { values, indices } = vectors.matmul(this.#vectors.transpose(0, 1)).topk(most, 1);
        const cosines = values.toArray() as Float32Array;
        const events = indices.to('int32').toArray() as Int32Array;
        return Array.from({ length: vectors.dim(0) }, (_, n) => ({
          events: events.slice(n * most, (n + 1) * most),
          cosines: cosines.slice(n * most, (n + 1) * most),
        }));
      }),
    );
  }

  /** Stores them in the folder of a path model's run. */
  save(files: RunFiles): void {
    const partial = partialName(files.target(fileName));
    const whole = (numbers: Int32Array) => Tensor.fromArray(numbers, [numbers.length]);
    scope(() =>
      writeSafetensors(
        partial,
        [
          ['vectors', this.#vectors],
          ['event', whole(this.event)],
          ['relation', whole(this.relation)],
          ['object', whole(this.object)],
          ['walks', whole(this.#walks)],
        ],
        { [textKey]: JSON.stringify({ events: this.events, objects: this.objects }) },
      ),
    );
    files.store({ [fileName]: { partial } });
  }

  /** Reads what `save` wrote; what cannot be is refused in one line. */
  static load(files: RunFiles, bounds: { relations: number; symbols: number; length: number }): TrainedWalks {
    const file = files.path(fileName);
    files.check(fileName);
    const weights = openSafetensors(file);
    try {
      const names = ['vectors', 'event', 'relation', 'object', 'walks'];
      if (!names.every((name) => weights.has(name)) || weights.info('vectors').shape.length !== 2)
        throw damaged(file);
      const numbers = (name: string) => scope(() => weights.get(name).to('int32').toArray() as Int32Array);
      const { events, objects } = textsOf(weights.metadata.get(textKey), file);
      const vectors = scope(() => weights.get('vectors').to('float32').clone());
      const read = {
        event: numbers('event'),
        relation: numbers('relation'),
        object: numbers('object'),
        walks: numbers('walks'),
      };
      const { event, relation, object, walks } = read;
      const within = (values: Int32Array, end: number) => values.every((value) => value >= 0 && value < end);
      const fine =
        event.length > 0 &&
        [relation.length, object.length, walks.length / bounds.length].every(
          (count) => count === event.length,
        ) &&
        vectors.dim(0) === events.length &&
        within(event, events.length) &&
        within(object, objects.length) &&
        within(relation, bounds.relations) &&
        within(walks, bounds.symbols);
      if (!fine) throw damaged(file);
      return new TrainedWalks({ events, objects, ...read, vectors });
    } finally {
      weights.close();
    }
  }

  free(): void {
    this.#vectors.free();
  }
}

const damaged = (file: string): UserError =>
  new UserError(
    `${file} does not fit its network; count again with: hsn reason train --part path --set path.kind=counts --force`,
  );

function textsOf(text: string | undefined, file: string): { events: string[]; objects: string[] } {
  try {
    const { events, objects } = JSON.parse(text ?? '') as Record<string, unknown>;
    const texts = (all: unknown): all is string[] =>
      Array.isArray(all) && all.every((one) => typeof one === 'string');
    if (texts(events) && texts(objects)) return { events, objects };
  } catch {
    // Told below, as any other damage is.
  }
  throw damaged(file);
}

/** Events of some rows as the network's encoder sees them, at unit length. [B, D] */
export function eventVectors({ model }: TupleWalks, tokens: TupleTokens, rows: Int32Array): Tensor {
  const { base, frozen } = model.encoder;
  return vectorRows(base, rowsOfPadded(tokens.events(rows)), frozen).keep();
}
