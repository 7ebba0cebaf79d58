import type { TrainedWalks } from '@hidden-schema/hsn/tasks/tuples/trained-walks';
import type { Tensor } from '@hidden-schema/torch';
import { answerKey, distinctAnswers } from '../evaluation/recall.ts';

/** Nearest training events with a question's relation that are counted, and those among which they are looked for. */
const NEIGHBOURS = 200;
const SEARCHED = 2000;
/** A neighbour weighs exp(−(c_1 − c) / WIDTH), c its cosine and c_1 that of the nearest. */
const WIDTH = 0.1;

/** A training event near to a question's, with what it has by the question's relation. */
export interface NearEvent {
  event: string;
  /** Different objects. */
  objects: readonly string[];
  weight: number;
  /** The first half of its walk by the relation. */
  first: readonly number[];
}

/** How an object is written, and the share of a relation's events that have it. */
export interface ObjectShare {
  text: string;
  share: number;
}

/** Training events of a network over tuples, by vectors and by walks. */
export class Neighbourhood {
  readonly #trained: TrainedWalks;
  /** Training tuples of an event and relation. */
  readonly #tuples = new Map<number, number[]>();
  readonly #shares: readonly ReadonlyMap<string, ObjectShare>[];
  readonly #relations: number;

  constructor(trained: TrainedWalks, relations: number) {
    this.#trained = trained;
    this.#relations = relations;
    for (let tuple = 0; tuple < trained.count; tuple++) {
      const key = trained.event[tuple]! * relations + trained.relation[tuple]!;
      const known = this.#tuples.get(key);
      if (known) known.push(tuple);
      else this.#tuples.set(key, [tuple]);
    }
    this.#shares = Array.from({ length: relations }, (_, relation) => this.#sharesOf(relation));
  }

  /** By the keys of objects, the share of a relation's events that have them. */
  shares(relation: number): ReadonlyMap<string, ObjectShare> {
    return this.#shares[relation]!;
  }

  /**
   * The nearest training events of each question that have its relation, the nearest first; its own event is left out.
   * `vectors` are those of the questions' events. [B, D]
   */
  near(vectors: Tensor, questions: readonly { head: string; relation: number }[]): NearEvent[][] {
    const found = this.#trained.nearest(vectors, SEARCHED);
    return questions.map(({ head: own, relation }, i) => {
      const { events, cosines } = found[i]!;
      const out: NearEvent[] = [];
      let best: number | undefined;
      for (let at = 0; at < events.length && out.length < NEIGHBOURS; at++) {
        const tuples = this.#tuples.get(events[at]! * this.#relations + relation);
        const event = this.#trained.events[events[at]!]!;
        if (!tuples || event === own) continue;
        best ??= cosines[at]!;
        out.push(this.#nearEvent(event, tuples, Math.exp((cosines[at]! - best) / WIDTH)));
      }
      return out;
    });
  }

  #nearEvent(event: string, tuples: readonly number[], weight: number): NearEvent {
    const trained = this.#trained;
    const objects = tuples.map((tuple) => trained.objects[trained.object[tuple]!]!);
    const first = [...trained.walk(tuples[0]!).subarray(0, trained.length / 2)];
    return { event, objects: distinctAnswers(objects, objects.length), weight, first };
  }

  #sharesOf(relation: number): Map<string, ObjectShare> {
    const trained = this.#trained;
    const counts = new Map<string, ObjectShare>();
    let events = 0;
    for (const [key, tuples] of this.#tuples) {
      if (key % this.#relations !== relation) continue;
      events++;
      const objects = tuples.map((tuple) => trained.objects[trained.object[tuple]!]!);
      for (const text of distinctAnswers(objects, objects.length)) {
        const known = counts.get(answerKey(text));
        if (known) known.share++;
        else counts.set(answerKey(text), { text, share: 1 });
      }
    }
    for (const one of counts.values()) one.share /= events;
    return counts;
  }
}
