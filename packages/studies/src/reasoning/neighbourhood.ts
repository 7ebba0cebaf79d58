import type { TrainedWalks } from '@hidden-schema/hsn/tasks/tuples/trained-walks';
import type { Tensor } from '@hidden-schema/torch';
import { answerKey, distinctAnswers } from '../measures/recall.ts';

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
}

/** How an object is mostly written, and the share of a relation's events that have it. */
export interface ObjectShare {
  text: string;
  share: number;
}

/** Training events of a network over tuples, by their vectors. */
export class Neighbourhood {
  readonly #known: TrainedWalks;
  /** Training tuples of an event and relation. */
  readonly #tuples = new Map<number, number[]>();
  readonly #shares: readonly ReadonlyMap<string, ObjectShare>[];
  readonly #relations: number;

  constructor(known: TrainedWalks, relations: number) {
    this.#known = known;
    this.#relations = relations;
    for (let tuple = 0; tuple < known.count; tuple++) {
      const key = known.event[tuple]! * relations + known.relation[tuple]!;
      const own = this.#tuples.get(key);
      if (own) own.push(tuple);
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
    const found = this.#known.nearest(vectors, SEARCHED);
    return questions.map(({ head: own, relation }, i) => {
      const { events, cosines } = found[i]!;
      const out: NearEvent[] = [];
      let best: number | undefined;
      for (let at = 0; at < events.length && out.length < NEIGHBOURS; at++) {
        const tuples = this.#tuples.get(events[at]! * this.#relations + relation);
        const event = this.#known.events[events[at]!]!;
        if (!tuples || event === own) continue;
        best ??= cosines[at]!;
        const weight = Math.exp((cosines[at]! - best) / WIDTH);
        out.push({ event, objects: this.#textsOf(tuples), weight });
      }
      return out;
    });
  }

  /** Different objects that an event has by a relation. */
  objects(event: number, relation: number): string[] {
    return this.#textsOf(this.#tuples.get(event * this.#relations + relation) ?? []);
  }

  #textsOf(tuples: readonly number[]): string[] {
    const { objects, object } = this.#known;
    return distinctAnswers(
      tuples.map((tuple) => objects[object[tuple]!]!),
      tuples.length,
    );
  }

  #sharesOf(relation: number): Map<string, ObjectShare> {
    const counts = new Map<string, Map<string, number>>();
    let events = 0;
    for (const [key, tuples] of this.#tuples) {
      if (key % this.#relations !== relation) continue;
      events++;
      for (const text of this.#textsOf(tuples)) {
        const forms = counts.get(answerKey(text)) ?? new Map<string, number>();
        counts.set(answerKey(text), forms.set(text, (forms.get(text) ?? 0) + 1));
      }
    }
    return commonestFirst([...counts].map(([key, forms]) => [key, shareOf(forms, events)]));
  }
}

/** Objects by their keys, those of most events first. */
export const commonestFirst = (shares: readonly (readonly [string, ObjectShare])[]) =>
  new Map(shares.toSorted(([, a], [, b]) => b.share - a.share));

/**
 * Adds to the weights of objects, by their keys, what all events of a relation say. Objects without a weight are added where
 * they may be among the `most` with most weight: those are among as many of the commonest.
 */
export function addShares(
  weights: Map<string, { text: string; weight: number }>,
  shares: ReadonlyMap<string, ObjectShare>,
  { pseudoCount, most }: { pseudoCount: number; most: number },
): void {
  for (const [key, one] of weights) one.weight += pseudoCount * (shares.get(key)?.share ?? 0);
  let left = most;
  for (const [key, { text, share }] of shares) {
    if (left-- === 0) break;
    if (!weights.has(key)) weights.set(key, { text, weight: pseudoCount * share });
  }
}

/** An object by the way in which most events write it. */
function shareOf(forms: ReadonlyMap<string, number>, events: number): ObjectShare {
  const [[text]] = [...forms].sort(([, a], [, b]) => b - a) as [[string, number]];
  return { text, share: [...forms.values()].reduce((sum, count) => sum + count, 0) / events };
}
