import { rememberedVectors } from '@hidden-schema/hsn/discovery/vectors/text-vectors';
import type { Tuple, TupleCorpus } from '@hidden-schema/hsn/tasks/tuples/tuples';
import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers/pretrained';
import { answerKey, distinctAnswers } from '../measures/recall.ts';
import { type Answered, mostAnswers, type Question, type Ranked } from './answers.ts';
import { byExpectedBleu, type Weighed } from './liked-first.ts';
import { addShares, commonestFirst, type ObjectShare } from './neighbourhood.ts';
import { picked } from './object-classifier.ts';

/** What is answered without any model of language, from training tuples alone. */
export type Floor = 'constant' | 'nearest' | 'vote' | 'kernel';

/** Nearest events that vote. */
const votingEvents = 30;
/**
 * Nearest events that speak for the kernel, each by exp(−(c_1 − c) / `width`) of its cosine c; what all events of the
 * relation say counts as much as `pseudoCount` of them. Chosen on valid events of ATOMIC.
 */
const neighbours = 200;
const width = 0.1;
const pseudoCount = 10;
/** Of the neighbours, those that the kernel's first answer is tried on. */
const maxNeighbours = 60;
/** Commonest objects of a relation among which its constant is looked for, and questions that it is tried on. */
const constants = 20;
const triedOn = 500;
/** Tokens of an event that its vector is made of. */
const longest = 64;
const atOnce = 500;

/** Training objects by relation and event, and the events as vectors. */
export class Floors {
  readonly #byRelation: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  readonly #near = new WeakMap<readonly Question[], Promise<Near[][]>>();

  constructor({ table, splits }: TupleCorpus) {
    this.#byRelation = objectsOf(Array.from(splits.train, (row) => table.tuple(row)));
  }

  /**
   * Constant: the objects that the relation has most often, first that of the twenty commonest which has the highest mean
   * BLEU-2 against training events' own objects. It says the same to every event.
   */
  constant(questions: readonly Question[]): Answered[] {
    const known = new Map<string, string[]>();
    return questions.map((question) => {
      const { relation } = question;
      if (!known.has(relation)) known.set(relation, constantsOf(this.#byRelation.get(relation) ?? new Map()));
      return { ...question, answers: known.get(relation)! };
    });
  }

  /** Objects to rank for each question, so many at most: the first of the kernel's, in its order. */
  async pools(questions: readonly Question[], count: number): Promise<Ranked[]> {
    const neighbours = await this.#neighbours(questions);
    const shares = this.#shares();
    return questions.map((question, i) => ({
      ...question,
      objects: weighed(spoken(neighbours[i] ?? []), shares.get(question.relation) ?? new Map(), count),
    }));
  }

  /**
   * nearest: objects of the nearest training events by the pretrained encoder, the nearest first. vote: the commonest.
   * kernel: the commonest where near events count more, backed off to the relation's; the first by mean BLEU-2 as constants.
   */
  async near(questions: readonly Question[]): Promise<Record<'nearest' | 'vote' | 'kernel', Answered[]>> {
    const neighbours = await this.#neighbours(questions);
    const shares = this.#shares();
    const of = (rank: (near: readonly Near[], relation: string) => string[]) =>
      questions.map((question, i) => {
        const answers = rank(neighbours[i] ?? [], question.relation).slice(0, mostAnswers);
        return { ...question, answers };
      });
    return {
      nearest: of((near) =>
        distinctAnswers(
          near.flatMap(({ objects }) => objects),
          mostAnswers,
        ),
      ),
      vote: of((near) => voted(near.slice(0, votingEvents).map(({ objects }) => objects))),
      kernel: of((near, relation) => {
        const speaking = spoken(near);
        const ranked = weighed(speaking, shares.get(relation) ?? new Map(), constants);
        return byExpectedBleu(ranked, speaking.slice(0, maxNeighbours));
      }),
    };
  }

  #shares(): Map<string, Shares> {
    return new Map([...this.#byRelation].map(([relation, events]) => [relation, sharesOf(events)]));
  }

  /** For each question the nearest training events that have its relation; looked for once for the same questions. */
  #neighbours(questions: readonly Question[]): Promise<Near[][]> {
    const known = this.#near.get(questions) ?? this.#lookAround(questions);
    this.#near.set(questions, known);
    return known;
  }

  async #lookAround(questions: readonly Question[]): Promise<Near[][]> {
    const trained = [...new Set([...this.#byRelation.values()].flatMap((events) => [...events.keys()]))];
    const asked = [...new Set(questions.map(({ head }) => head))];
    const opened = await openPretrainedEncoder();
    const [known, fresh] = [
      await rememberedVectors(trained, opened, { longest }),
      await rememberedVectors(asked, opened, { longest }),
    ];
    const place = new Map(trained.map((event, at) => [event, at]));
    const placeAsked = new Map(asked.map((event, at) => [event, at]));
    const out = new Array<Near[]>(questions.length);
    for (const [relation, events] of this.#byRelation) {
      const names = [...events.keys()];
      const own = questions.flatMap((question, i) => (question.relation === relation ? [i] : []));
      const [rows, columns] = [
        own.map((i) => placeAsked.get(questions[i]!.head)!),
        names.map((name) => place.get(name)!),
      ];
      const nearest = nearestOf(
        scope(() => picked(fresh, rows)),
        scope(() => picked(known, columns)),
        neighbours,
      );
      for (const [n, i] of own.entries())
        out[i] = nearest[n]!.map(({ at, cosine }) => ({ objects: events.get(names[at]!)!, cosine }));
    }
    opened.encoder.free();
    known.free();
    fresh.free();
    return out;
  }
}

/** The rows of unit vectors `of` that are nearest to each of `to`; frees both. */
function nearestOf(to: Tensor, of: Tensor, count: number): { at: number; cosine: number }[][] {
  const out: { at: number; cosine: number }[][] = [];
  const most = Math.min(count, of.dim(0));
  for (let first = 0; first < to.dim(0); first += atOnce) {
    const some = Math.min(atOnce, to.dim(0) - first);
    const [places, cosines] = scope(() =>
      noGrad(() => {
        const { indices, values } = to.narrow(0, first, some).matmul(of.transpose(0, 1)).topk(most, 1);
        return [indices.toNumbers(), values.toNumbers()] as const;
      }),
    );
    for (let n = 0; n < some; n++)
      out.push(
        Array.from({ length: most }, (_, i) => ({
          at: places[n * most + i]!,
          cosine: cosines[n * most + i]!,
        })),
      );
  }
  to.free();
  of.free();
  return out;
}

function objectsOf(tuples: readonly Tuple[]): Map<string, Map<string, string[]>> {
  const byRelation = new Map<string, Map<string, string[]>>();
  for (const { head, relation, object } of tuples) {
    const events = byRelation.get(relation) ?? new Map<string, string[]>();
    byRelation.set(relation, events);
    const objects = events.get(head);
    if (objects) objects.push(object);
    else events.set(head, [object]);
  }
  return byRelation;
}

/** A training event near to a question's: its objects by the relation, and how near it is. */
interface Near {
  objects: readonly string[];
  cosine: number;
}

type Shares = ReadonlyMap<string, ObjectShare>;

function sharesOf(events: ReadonlyMap<string, readonly string[]>): Shares {
  const counts = countsOf([...events.values()].map((objects) => ({ objects, weight: 1 })));
  return commonestFirst(
    [...counts].map(([key, { text, weight }]) => [key, { text, share: weight / events.size }]),
  );
}

/** How much weight speaks for each object; each event once for each of its objects. */
function countsOf(lists: readonly Weighed[]): Map<string, { text: string; weight: number }> {
  const counts = new Map<string, { text: string; weight: number }>();
  for (const { objects, weight } of lists)
    for (const text of distinctAnswers(objects, objects.length)) {
      const known = counts.get(answerKey(text));
      if (known) known.weight += weight;
      else counts.set(answerKey(text), { text, weight });
    }
  return counts;
}

/** What near events say, each by how near it is. */
function spoken(near: readonly Near[]): Weighed[] {
  const best = near[0]?.cosine ?? 0;
  return near.map(({ objects, cosine }) => ({ objects, weight: Math.exp((cosine - best) / width) }));
}

/** So many objects by the weight of near events and of the relation's shares. */
function weighed(speaking: readonly Weighed[], shares: Shares, most: number): string[] {
  const counts = countsOf(speaking);
  addShares(counts, shares, { pseudoCount, most });
  return byWeight(counts).slice(0, most);
}

/** Objects by how many events have them; of equal ones that of the nearer event. */
const voted = (lists: readonly (readonly string[])[]): string[] =>
  byWeight(countsOf(lists.map((objects) => ({ objects, weight: 1 }))));

const byWeight = (counts: ReadonlyMap<string, { text: string; weight: number }>): string[] =>
  [...counts.values()].sort((a, b) => b.weight - a.weight).map(({ text }) => text);

function constantsOf(events: ReadonlyMap<string, readonly string[]>): string[] {
  const lists = [...events.values()];
  const step = Math.max(1, Math.floor(lists.length / triedOn));
  const tried = lists.filter((_, i) => i % step === 0).map((objects) => ({ objects, weight: 1 }));
  return byExpectedBleu(voted(lists).slice(0, constants), tried).slice(0, mostAnswers);
}
