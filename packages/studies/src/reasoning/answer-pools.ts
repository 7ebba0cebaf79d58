import { UserError } from '@hidden-schema/base';
import { readObjects, scoreWithoutWalks, scoreWithWalks } from '@hidden-schema/hsn/path/judged';
import { openTrainedWalks, type Reasoner } from '@hidden-schema/hsn/path/reasoner';
import { tupleFrames } from '@hidden-schema/hsn/tasks/tuples/build';
import { searchObjects } from '@hidden-schema/hsn/tasks/tuples/object-search';
import { type OpenedReasoning, prefixTable } from '@hidden-schema/hsn/tasks/tuples/open';
import type { TupleTokens } from '@hidden-schema/hsn/tasks/tuples/tokens';
import { eventVectors } from '@hidden-schema/hsn/tasks/tuples/trained-walks';
import type { WalkPath } from '@hidden-schema/hsn/tasks/tuples/walk-path';
import { answerKey, distinctAnswers } from '../evaluation/recall.ts';
import type { Question } from './answers.ts';
import { type NearEvent, Neighbourhood, type ObjectShare } from './neighbourhood.ts';
import { type Classified, ObjectClassifier } from './object-classifier.ts';

/**
 * What speaks for an object, as log-probabilities: near events' objects; the relation's objects; a linear classifier of
 * events' vectors; objects of near events that share steps of the walk; the counted path to the object's walk, and a network's; the decoder from that walk; COMET without
 * walks.
 */
export const answerParts = [
  'near',
  'common',
  'classified',
  'shared',
  'counted',
  'learned',
  'writer',
  'comet',
] as const;
export type AnswerPart = (typeof answerParts)[number];

/** An object that may answer a question, with what each part says of it. */
export interface PooledObject {
  object: string;
  scores: Partial<Record<AnswerPart, number>>;
  /** The walk that the object is read into. */
  walk: number[];
}

/** A question with the objects that may answer it. */
export interface AnswerPool extends Question {
  objects: PooledObject[];
  near: NearEvent[];
  /** The first half of the question's walk. */
  first: readonly number[];
}

/** Objects of a pool: those of near events, and those that decoders write. */
const POOLED = 80;
const WRITTEN_WALKS = 3;
const WRITTEN_WORDS = 5;
/** What all events of a relation say counts as so many of the near ones. */
const PSEUDO_COUNT = 10;
/** The least that a path or a decoder says of an object: a step without a link has no probability. */
const LEAST = -25;

/** Collects the objects that may answer questions, and what each part says of them. */
export class AnswerPools {
  readonly reasoner: Reasoner;
  readonly #learned: WalkPath | undefined;
  readonly #comet: OpenedReasoning | undefined;
  readonly #neighbourhood: Neighbourhood;
  readonly #classifier: ObjectClassifier;

  /** `reasoner` has the counted path; `learned` is a network's path on the same walks. */
  constructor(reasoner: Reasoner, { learned, comet }: { learned?: WalkPath; comet?: OpenedReasoning } = {}) {
    this.reasoner = reasoner;
    this.#learned = learned;
    this.#comet = comet;
    const { opened, relations } = reasoner;
    const trained = openTrainedWalks(opened);
    if (!trained)
      throw new UserError(
        `${opened.run.directory} has not counted its training walks yet; count them with: hsn reason train --part path --run ${opened.run.directory} --set path.kind=counts`,
      );
    this.#neighbourhood = new Neighbourhood(trained, relations.length);
    this.#classifier = new ObjectClassifier(trained);
  }

  async of(questions: readonly Question[]): Promise<AnswerPool[]> {
    const { opened, walks } = this.reasoner;
    const tuples = questions.map(({ head, relation }) => ({ head, relation, object: '' }));
    const tokens = await prefixTable(opened, tuples);
    const rows = Int32Array.from(questions.keys());
    const relations = questions.map(({ relation }) => this.reasoner.relations.indexOf(relation));
    const { near, classified } = this.#around(tokens, rows, relations);
    const written = await this.#written(questions, tokens, rows);
    const asked = questions.map(({ head, relation }, i) => {
      const objects = distinctAnswers(
        [...this.#spoken(near[i]!, relations[i]!), ...written[i]!],
        POOLED + written[i]!.length,
      );
      return { head, relation, objects };
    });
    const read = await readObjects(opened, asked);
    const judged = scoreWithWalks(this.reasoner.path, read);
    const learned = this.#learned && scoreWithWalks(this.#learned, read);
    const plain = this.#comet && (await scoreWithoutWalks(this.#comet, asked));
    return questions.map((question, i) => {
      const first = judged[i]![0]?.walk.slice(0, walks.half) ?? [];
      const told = { shares: this.#neighbourhood.shares(relations[i]!), classified: classified[i]! };
      const countsFor = spokenBy(near[i]!, first, told);
      const byComet = new Map((plain?.[i] ?? []).map(({ object, score }) => [object, score]));
      const byNetwork = new Map((learned?.[i] ?? []).map((one) => [one.object, one.walkLogProb]));
      const objects = judged[i]!.map(({ object, walk, walkLogProb, objectLogProb }) => {
        const [network, comet] = [byNetwork.get(object), byComet.get(object)];
        const scores = {
          ...countsFor(object),
          counted: Math.max(LEAST, walkLogProb),
          writer: objectLogProb,
          ...(network === undefined ? {} : { learned: Math.max(LEAST, network) }),
          ...(comet === undefined ? {} : { comet }),
        };
        return { object, walk, scores };
      });
      return { ...question, objects, near: near[i]!, first };
    });
  }

  /** What the vectors of the questions' events tell: the near training events, and the classifier's objects. */
  #around(tokens: TupleTokens, rows: Int32Array, relations: readonly number[]) {
    const { table } = tokens;
    const asked = Array.from(rows, (row, i) => ({
      head: table.heads[table.head[row]!]!,
      relation: relations[i]!,
    }));
    const vectors = eventVectors(this.reasoner.walks, tokens, rows);
    const near = this.#neighbourhood.near(vectors, asked);
    const classified = this.#classifier.of(vectors, relations);
    vectors.free();
    return { near, classified };
  }

  /** Objects of near events and of the relation, those with most weight first. */
  #spoken(near: readonly NearEvent[], relation: number): string[] {
    const weights = new Map<string, { text: string; weight: number }>();
    const add = (text: string, key: string, weight: number) => {
      const known = weights.get(key);
      if (known) known.weight += weight;
      else weights.set(key, { text, weight });
    };
    for (const { objects, weight } of near) for (const text of objects) add(text, answerKey(text), weight);
    for (const [key, { text, share }] of this.#neighbourhood.shares(relation))
      add(text, key, PSEUDO_COUNT * share);
    return [...weights.values()]
      .sort((a, b) => b.weight - a.weight)
      .slice(0, POOLED)
      .map(({ text }) => text);
  }

  /** What the decoder writes from likely paths, and COMET without. */
  async #written(questions: readonly Question[], tokens: TupleTokens, rows: Int32Array): Promise<string[][]> {
    const words = { how: 'beam', count: WRITTEN_WORDS } as const;
    const found = await this.reasoner.continued(tokens, rows, { how: 'beam', count: WRITTEN_WALKS, words });
    const comet = this.#comet;
    if (!comet) return found.map((some) => some.map(({ object }) => object));
    const own = await prefixTable(
      comet,
      questions.map(({ head, relation }) => ({ head, relation, object: '' })),
    );
    const writer = { tokenizer: comet.tokenizers.decoder, frame: tupleFrames(comet.tokenizers).decoder };
    const prompts = questions.map((_, row) => ({ prompt: own.prompt(row) }));
    const plain = await searchObjects(comet.model, writer, prompts, {
      how: 'beam',
      count: WRITTEN_WALKS * WRITTEN_WORDS,
    });
    return found.map((some, i) => [
      ...some.map(({ object }) => object),
      ...plain[i]!.map(({ text }) => text),
    ]);
  }
}

/** Steps at which two first halves have the same symbol, as a share of them. */
export const sharedSteps = (a: readonly number[], b: readonly number[]): number =>
  a.filter((symbol, i) => b[i] === symbol).length / Math.max(1, a.length);

/** log-probabilities of objects by what events and their vectors tell: near ones, all, the classifier, shared steps. */
function spokenBy(
  near: readonly NearEvent[],
  first: readonly number[],
  { shares, classified }: { shares: ReadonlyMap<string, ObjectShare>; classified: Classified },
) {
  const [all, along] = [new Map<string, number>(), new Map<string, number>()];
  let [sum, sumAlong] = [0, 0];
  for (const { objects, weight, first: other } of near) {
    const shared = weight * sharedSteps(first, other);
    sum += weight;
    sumAlong += shared;
    for (const text of objects) {
      const key = answerKey(text);
      all.set(key, (all.get(key) ?? 0) + weight);
      along.set(key, (along.get(key) ?? 0) + shared);
    }
  }
  // An object that no training event has counts as one that every ten thousandth has.
  const unseen = 1e-4;
  return (object: string) => {
    const key = answerKey(object);
    const share = Math.max(unseen, shares.get(key)?.share ?? 0);
    const log = (weight: number, total: number) =>
      Math.log((weight + PSEUDO_COUNT * share) / (total + PSEUDO_COUNT));
    return {
      near: log(all.get(key) ?? 0, sum),
      common: Math.log(share),
      // An object that is not told apart is as probable for every event.
      classified: classified(key) ?? Math.log(share),
      shared: log(along.get(key) ?? 0, sumAlong),
    };
  };
}
