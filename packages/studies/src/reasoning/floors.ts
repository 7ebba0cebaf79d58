import { textVectors, type Tuple, type TupleCorpus } from '@hidden-schema/hsn';
import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import { bleuWords, sentenceBleu } from '../evaluation/bleu.ts';
import { answerKey, distinctAnswers } from '../evaluation/recall.ts';
import { type Answered, mostAnswers, type Question, type Ranked } from './answers.ts';

/** What is answered without any model of language, from training tuples alone. */
export type Floor = 'constant' | 'nearest' | 'vote';

/** Nearest events that vote. */
const voters = 30;
/** Commonest objects of a relation among which its constant is looked for, and questions that it is tried on. */
const constants = 20;
const triedOn = 500;
/** Tokens of an event that its vector is made of. */
const longest = 64;
const atOnce = 500;

/** Training objects by relation and event, and the events as vectors. */
export class Floors {
  readonly #byRelation: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

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

  /**
   * Objects to rank for each question, so many at most: those that its relation has most often, for half of them, then
   * those of the nearest training events by their votes, then further common ones.
   */
  async pools(questions: readonly Question[], count: number): Promise<Ranked[]> {
    const neighbours = await this.#neighbours(questions);
    const common = new Map(
      [...this.#byRelation].map(([relation, events]) => [
        relation,
        voted([...events.values()]).slice(0, count),
      ]),
    );
    return questions.map((question, i) => {
      const own = common.get(question.relation) ?? [];
      const half = own.slice(0, Math.ceil(count / 2));
      return {
        ...question,
        objects: distinctAnswers([...half, ...voted(neighbours[i] ?? []), ...own], count),
      };
    });
  }

  /** nearest: objects of the nearest training events by the pretrained encoder, the nearest first. vote: the commonest. */
  async near(questions: readonly Question[]): Promise<Record<'nearest' | 'vote', Answered[]>> {
    const neighbours = await this.#neighbours(questions);
    const of = (rank: (lists: readonly (readonly string[])[]) => string[]) =>
      questions.map((question, i) => ({ ...question, answers: rank(neighbours[i]!).slice(0, mostAnswers) }));
    return { nearest: of((lists) => distinctAnswers(lists.flat(), mostAnswers)), vote: of(voted) };
  }

  /** For each question the objects of the nearest training events that have its relation. */
  async #neighbours(questions: readonly Question[]): Promise<(readonly (readonly string[])[])[]> {
    const trained = [...new Set([...this.#byRelation.values()].flatMap((events) => [...events.keys()]))];
    const asked = [...new Set(questions.map(({ head }) => head))];
    const opened = await openPretrainedEncoder();
    const [known, fresh] = [
      await textVectors(trained, opened, { longest }),
      await textVectors(asked, opened, { longest }),
    ];
    const place = new Map(trained.map((event, at) => [event, at]));
    const placeAsked = new Map(asked.map((event, at) => [event, at]));
    const out = new Array<readonly (readonly string[])[]>(questions.length);
    for (const [relation, events] of this.#byRelation) {
      const names = [...events.keys()];
      const own = questions.flatMap((question, i) => (question.relation === relation ? [i] : []));
      const [rows, columns] = [
        own.map((i) => placeAsked.get(questions[i]!.head)!),
        names.map((name) => place.get(name)!),
      ];
      const nearest = nearestOf(picked(fresh, rows), picked(known, columns), voters);
      for (const [n, i] of own.entries()) out[i] = nearest[n]!.map((at) => events.get(names[at]!)!);
    }
    opened.encoder.free();
    known.free();
    fresh.free();
    return out;
  }
}

const picked = (vectors: Tensor, rows: readonly number[]): Tensor =>
  scope(() => vectors.indexSelect(0, Tensor.fromArray(Int32Array.from(rows), [rows.length])));

/** The rows of unit vectors `of` that are nearest to each of `to`; frees both. */
function nearestOf(to: Tensor, of: Tensor, count: number): number[][] {
  const out: number[][] = [];
  const most = Math.min(count, of.dim(0));
  for (let first = 0; first < to.dim(0); first += atOnce) {
    const some = Math.min(atOnce, to.dim(0) - first);
    const flat = scope(() =>
      noGrad(() => to.narrow(0, first, some).matmul(of.transpose(0, 1)).topk(most, 1).indices.toNumbers()),
    );
    for (let n = 0; n < some; n++) out.push(flat.slice(n * most, (n + 1) * most));
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

/** Objects by how many events have them; of equal ones that of the nearer event. */
function voted(lists: readonly (readonly string[])[]): string[] {
  const votes = new Map<string, { text: string; count: number }>();
  for (const objects of lists)
    for (const text of distinctAnswers(objects, objects.length)) {
      const known = votes.get(answerKey(text));
      if (known) known.count++;
      else votes.set(answerKey(text), { text, count: 1 });
    }
  return [...votes.values()].sort((a, b) => b.count - a.count).map(({ text }) => text);
}

function constantsOf(events: ReadonlyMap<string, readonly string[]>): string[] {
  const lists = [...events.values()];
  if (lists.length === 0) return [];
  const common = voted(lists).slice(0, constants);
  const step = Math.max(1, Math.floor(lists.length / triedOn));
  const tried = lists.filter((_, i) => i % step === 0).map((objects) => objects.map(bleuWords));
  const score = (text: string) =>
    tried.reduce((sum, others) => sum + sentenceBleu(bleuWords(text), others, { smoothing: 'method1' }), 0);
  const scores = new Map(common.map((text) => [text, score(text)]));
  const best = common.reduce((a, b) => (scores.get(b)! > scores.get(a)! ? b : a));
  return [best, ...common.filter((text) => text !== best)].slice(0, mostAnswers);
}
