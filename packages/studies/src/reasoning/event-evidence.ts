import { scope } from '@hidden-schema/torch';
import { answerKey } from '../measures/recall.ts';
import type { EventMemory } from './event-memory.ts';
import { ExpectedBleu } from './expected-bleu.ts';
import { addShares, type NearEvent, Neighbourhood, type ObjectShare } from './neighbourhood.ts';
import { type Classified, ObjectClassifier, picked } from './object-classifier.ts';

/** Objects of near events and of the relation that are weighed for a question, at most. */
const MAX_OBJECTS = 80;
/** The objects of all events of a relation count as those of so many near ones. */
const PSEUDO_COUNT = 10;
/** The share of a relation's events that an object without a training event is given. */
const UNSEEN_SHARE = 1e-4;

/** log-probabilities of an object by near events, by all events of the relation, and by the classifier. */
export interface EventScores {
  near: number;
  common: number;
  classified: number;
}

/** What known events say of a question. */
export interface Evidence {
  near: NearEvent[];
  /** Different objects of near events and of the relation, those with most weight first. */
  objects: string[];
  scores(object: string): EventScores;
}

/** What training events say of objects, by their vectors alone; no network is asked. */
export class EventEvidence {
  readonly #memory: EventMemory;
  readonly #neighbourhood: Neighbourhood;
  readonly #classifier: ObjectClassifier;
  readonly #expected = new Map<number, ExpectedBleu>();

  constructor(memory: EventMemory, relations: number) {
    this.#memory = memory;
    this.#neighbourhood = new Neighbourhood(memory.known, relations);
    this.#classifier = new ObjectClassifier(memory.known);
  }

  async of(questions: readonly { head: string; relation: number }[]): Promise<Evidence[]> {
    const vectors = await this.#memory.vectors(questions.map(({ head }) => head));
    const near = this.#neighbourhood.near(vectors, questions);
    const classified = this.#classifier.of(
      vectors,
      questions.map(({ relation }) => relation),
    );
    vectors.free();
    return questions.map(({ relation }, i) =>
      evidenceOf(near[i]!, this.#neighbourhood.shares(relation), classified[i]!),
    );
  }

  /** For each question the BLEU-2 that texts are foreseen to have as its answers; 0 by a relation that no event has. */
  async expected(
    questions: readonly { head: string; relation: number }[],
    texts: readonly (readonly string[])[],
  ): Promise<ReadonlyMap<string, number>[]> {
    const vectors = await this.#memory.vectors(questions.map(({ head }) => head));
    const out = texts.map((some) => new Map(some.map((text) => [text, 0])));
    for (const relation of new Set(questions.map((question) => question.relation))) {
      const expected = this.#expectedOf(relation);
      if (!expected) continue;
      const rows = [...questions.keys()].filter((row) => questions[row]!.relation === relation);
      const own = rows.map((row) => texts[row]!);
      const found = scope(() => expected.of(picked(vectors, rows), own));
      for (const [at, row] of rows.entries())
        out[row] = new Map(own[at]!.map((text, i) => [text, found[at]![i]!]));
    }
    vectors.free();
    return out;
  }

  #expectedOf(relation: number): ExpectedBleu | undefined {
    const regression = this.#classifier.regression(relation);
    const known = this.#expected.get(relation);
    if (known || !regression) return known;
    const objects = regression.events.map((event) => this.#neighbourhood.objects(event, relation));
    const made = new ExpectedBleu(regression, objects);
    this.#expected.set(relation, made);
    return made;
  }
}

function evidenceOf(
  near: NearEvent[],
  shares: ReadonlyMap<string, ObjectShare>,
  classified: Classified,
): Evidence {
  const weights = new Map<string, { text: string; weight: number }>();
  let total = PSEUDO_COUNT;
  for (const { objects, weight } of near) {
    total += weight;
    for (const text of objects) {
      const known = weights.get(answerKey(text));
      if (known) known.weight += weight;
      else weights.set(answerKey(text), { text, weight });
    }
  }
  addShares(weights, shares, { pseudoCount: PSEUDO_COUNT, most: MAX_OBJECTS });
  const objects = [...weights.values()]
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_OBJECTS)
    .map(({ text }) => shares.get(answerKey(text))?.text ?? text);
  return {
    near,
    objects,
    scores(object) {
      const key = answerKey(object);
      const share = Math.max(UNSEEN_SHARE, shares.get(key)?.share ?? 0);
      return {
        near: Math.log(
          (weights.get(key)?.weight ?? PSEUDO_COUNT * (shares.get(key)?.share ?? UNSEEN_SHARE)) / total,
        ),
        common: Math.log(share),
        // An object without a column is as probable for every event.
        classified: classified(key) ?? Math.log(share),
      };
    },
  };
}
