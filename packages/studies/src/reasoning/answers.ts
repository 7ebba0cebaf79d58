import { UserError } from '@hidden-schema/base';
import { tupleFrames } from '@hidden-schema/hsn/tasks/tuples/build';
import { searchObjects } from '@hidden-schema/hsn/tasks/tuples/object-search';
import { type OpenedReasoning, prefixTable } from '@hidden-schema/hsn/tasks/tuples/open';
import {
  type ReadObjects,
  scoreWithoutWalks,
  scoreWithWalks,
} from '@hidden-schema/hsn/tasks/tuples/path/judged';
import type { CandidateOptions, Reasoner } from '@hidden-schema/hsn/tasks/tuples/path/reasoner';
import type { TupleTokens } from '@hidden-schema/hsn/tasks/tuples/tokens';
import { TupleWalks } from '@hidden-schema/hsn/tasks/tuples/walks';
import { distinctAnswers } from '../measures/recall.ts';
import { byExpectedBleu } from './liked-first.ts';

/** (s, r) of an event that was not trained on, with all objects that the corpus has for it. */
export interface Question {
  head: string;
  relation: string;
  references: readonly string[];
}

/** A question with training objects of its relation that are ranked. */
export interface Ranked extends Question {
  objects: readonly string[];
}

/** A question with a model's different answers, the best first. */
export interface Answered extends Question {
  answers: readonly string[];
}

/**
 * How answers are looked for, on all sides alike: symbol and token one after the other, a beam, draws, or ranking
 * so many training objects of the relation, the same ones for every model.
 */
export interface Search {
  how: 'greedy' | 'beam' | 'sample' | 'rank';
  count: number;
}

/** A search that writes its answers. */
export type WritingSearch = Search & { how: Exclude<Search['how'], 'rank'> };

/** Answers that are kept of a question. */
export const mostAnswers = 10;

const names: Record<Search['how'], (count: number) => string> = {
  greedy: () => 'greedy',
  beam: (count) => `beam of ${count}`,
  sample: (count) => `${count} drawn`,
  rank: (count) => `best of ${count}`,
};
export const searchName = ({ how, count }: Search): string => names[how](count);

/** greedy, beam5, sample10, rank50 … */
export function readSearch(text: string): Search {
  const [, how, count] = /^(greedy|(?:beam|sample|rank)(?=\d))(\d{0,3})$/.exec(text) ?? [];
  if (how === undefined || (how === 'greedy') !== (count === '') || count === '0')
    throw new UserError(
      `a search is greedy, or beam, sample or rank with a number, such as beam5; got ${text}`,
    );
  return { how: how as Search['how'], count: how === 'greedy' ? 1 : Number(count) };
}

const answered = (questions: readonly Question[], found: readonly (readonly string[])[]): Answered[] =>
  questions.map((question, i) => ({ ...question, answers: distinctAnswers(found[i]!, mostAnswers) }));

const textsOf = (written: readonly (readonly { text: string }[])[]): string[][] =>
  written.map((some) => some.map(({ text }) => text));

const everyRow = (questions: readonly Question[]): Int32Array => Int32Array.from(questions.keys());

/** Questions as a model's tokens, a row each, with the first reference as its object. */
function questionTokens(opened: OpenedReasoning, questions: readonly Question[]): Promise<TupleTokens> {
  return prefixTable(
    opened,
    questions.map(({ head, relation, references }) => ({ head, relation, object: references[0]! })),
  );
}

/** HSN (posterior): the first reference is read into a walk and written again. An upper bound: it has seen the answer. */
export async function reconstructedAnswers(
  opened: OpenedReasoning,
  questions: readonly Question[],
): Promise<Answered[]> {
  const { model, tokenizers } = opened;
  const tokens = await questionTokens(opened, questions);
  const walks = new TupleWalks(model, tokens);
  try {
    const read = walks.whole(everyRow(questions), 'best');
    const prompts = questions.map((_, row) => ({ prompt: tokens.prompt(row), walk: read[row]! }));
    const writer = { tokenizer: tokenizers.decoder, frame: tupleFrames(tokenizers).decoder };
    const written = await searchObjects(model, writer, prompts, { how: 'greedy' });
    return answered(questions, textsOf(written));
  } finally {
    walks.free();
  }
}

/**
 * Walks and words by one search. Several words of one walk differ more than the words of several walks: a beam of N goes
 * over √N walks with N texts each, and each of N drawn walks draws its words.
 */
function walksAndWords({ how, count }: WritingSearch): CandidateOptions {
  if (how === 'greedy') return { how };
  if (how === 'sample') return { how, count, words: { how } };
  return { how, count: Math.ceil(Math.sqrt(count)), words: { how, count } };
}

/** HSN-AR: second halves and an object or several from each, by the probability of both. */
export async function reasonedAnswers(
  reasoner: Reasoner,
  questions: readonly Question[],
  search: WritingSearch,
): Promise<Answered[]> {
  const tokens = await questionTokens(reasoner.opened, questions);
  const found = await reasoner.continued(tokens, everyRow(questions), walksAndWords(search));
  return answered(
    questions,
    found.map((some) => some.map(({ object }) => object)),
  );
}

/** A decoder that is given (s, r) alone: COMET's, or that of a network with its walks taken away. */
export async function plainAnswers(
  opened: OpenedReasoning,
  questions: readonly Question[],
  search: WritingSearch,
): Promise<Answered[]> {
  const { model, tokenizers, config } = opened;
  const tokens = await questionTokens(opened, questions);
  const prompts = questions.map((_, row) => ({ prompt: tokens.prompt(row) }));
  const writer = { tokenizer: tokenizers.decoder, frame: tupleFrames(tokenizers).decoder };
  const written = await searchObjects(model, writer, prompts, { ...search, seed: config.seed });
  return answered(questions, textsOf(written));
}

/** Ranked objects whose expected BLEU-2 is looked at, and those that it is looked at against. */
const firstOf = 20;
const against = 40;

/**
 * Objects by a model's probability, first the one that has the highest mean BLEU-2 against what the model expects: its
 * probabilities over the objects of the question. Floors choose their first answer alike.
 */
export function expectedFirst(
  questions: readonly Question[],
  found: readonly (readonly { object: string; score: number }[])[],
): Answered[] {
  return answered(
    questions,
    found.map((some) => {
      const lists = some
        .slice(0, against)
        .map(({ object, score }) => ({ objects: [object], weight: Math.exp(score - some[0]!.score) }));
      const tried = some.slice(0, firstOf).map(({ object }) => object);
      return byExpectedBleu(tried, lists);
    }),
  );
}

/** HSN-AR: given objects, by the probability of their own walks and of the object after them. */
export const rankedByWalks = (
  reasoner: Reasoner,
  read: ReadObjects,
  questions: readonly Ranked[],
): Answered[] => expectedFirst(questions, scoreWithWalks(reasoner.path, read));

/** The same by a decoder that is given (s, r) alone. */
export const rankedPlainly = async (
  opened: OpenedReasoning,
  questions: readonly Ranked[],
): Promise<Answered[]> => expectedFirst(questions, await scoreWithoutWalks(opened, questions));
