import { UserError } from '@hidden-schema/base';
import { NONE } from '@hidden-schema/hsn/tasks/tuples/relations';
import type { TupleCorpus } from '@hidden-schema/hsn/tasks/tuples/tuples';
import { type BertScore, type BertScorer, meanScore, rescaled } from '../measures/bert-score.ts';
import { bleuWords, corpusBleu, sentenceBleu } from '../measures/bleu.ts';
import { distinctN, novelty } from '../measures/diversity.ts';
import { recallAt } from '../measures/recall.ts';
import { rougeL, rougeWords } from '../measures/rouge.ts';
import { type Answered, mostAnswers } from './answers.ts';

/** What answers are worth. Those of one text (BLEU, ROUGE, BERTScore, distinct, new) are of each question's first answer. */
export interface AnswerFigures {
  questions: number;
  /** Mean over relations of sentence BLEU-2 (NLTK's method 1), as COMET's program computes it. */
  bleu2: number;
  bleu2_by_relation: Record<string, number>;
  /** BLEU-1 to 4: mean over questions of sentence BLEU (method 1), and of all as one corpus, without smoothing. */
  bleu_sentence: number[];
  /** Mean of sentence BLEU-2 (method 1) of words without punctuation, as recall compares texts. */
  bleu2_words: number;
  bleu_corpus: number[];
  /** F1 of the best reference. */
  rouge_l: number;
  /** F1 of the best reference, as it is and rescaled by the baseline of unrelated objects. */
  bert_score: number;
  bert_score_rescaled: number;
  distinct_1: number;
  distinct_2: number;
  /** Shares of first answers, as tuples and as objects, that train does not have; absent where train is not known. */
  novel_tuples?: number;
  novel_objects?: number;
  /** Different answers a question, at most ten; references among them; and how near the nearest of them comes to each reference. */
  answers: number;
  recall_10: number;
  bert_recall_10: number;
}

/** The measures that models are compared by, question by question. */
export const comparedMeasures = ['bleu2', 'recall_10', 'bert_score'] as const;
export type QuestionScores = Record<(typeof comparedMeasures)[number], number[]>;

/** What scoring needs beside answers; shared by the models that are compared. */
export interface Scoring {
  /** Training tuples, for figures of novelty. */
  corpus?: TupleCorpus;
  scorer: BertScorer;
  baseline: BertScore;
}

const isNone = (text: string): boolean => text.trim().toLowerCase() === NONE;

/** Without references and answers that say "none", and without questions that have no other. */
export function withoutNone(answered: readonly Answered[]): Answered[] {
  return answered.flatMap((one) => {
    const references = one.references.filter((reference) => !isNone(reference));
    const answers = one.answers.filter((answer) => !isNone(answer));
    return references.length > 0 ? [{ ...one, references, answers }] : [];
  });
}

/** Figures of a model's answers, and the scores of each question. */
export async function answerFigures(
  answered: readonly Answered[],
  { corpus, scorer, baseline }: Scoring,
): Promise<{ figures: AnswerFigures; scores: QuestionScores }> {
  if (answered.length === 0) throw new UserError('nothing was asked, so there is nothing to score');
  const first = answered.map(({ answers }) => answers[0] ?? '');
  const words = first.map(bleuWords);
  const references = answered.map((one) => one.references.map(bleuWords));
  const sentences = orders.map((n) =>
    words.map((own, i) => sentenceBleu(own, references[i]!, { n, smoothing: 'method1' })),
  );
  const bert = await scorer.score(
    first,
    answered.map((one) => one.references),
  );
  const recalls = answered.map((one) => recallAt(mostAnswers, one.answers, one.references));
  const byRelation = relationMeans(answered, sentences[1]!);
  const figures = {
    questions: answered.length,
    bleu2: mean(Object.values(byRelation)),
    bleu2_by_relation: byRelation,
    bleu_sentence: sentences.map(mean),
    bleu2_words: mean(answered.map(plainBleu2)),
    bleu_corpus: orders.map((n) => corpusBleu(words, references, { n })),
    rouge_l: mean(first.map((text, i) => rougeL(text, answered[i]!.references))),
    bert_score: meanScore(bert).f1,
    bert_score_rescaled: rescaled(meanScore(bert), baseline).f1,
    distinct_1: distinctN(words, 1),
    distinct_2: distinctN(words, 2),
    ...(corpus ? novelties(answered, corpus) : {}),
    answers: mean(answered.map(({ answers }) => answers.length)),
    recall_10: mean(recalls),
    bert_recall_10: await bertRecall(answered, scorer),
  };
  const scores = { bleu2: sentences[1]!, recall_10: recalls, bert_score: bert.map(({ f1 }) => f1) };
  return { figures, scores };
}

const orders = [1, 2, 3, 4];

const plainBleu2 = ({ answers, references }: Answered): number =>
  sentenceBleu(rougeWords(answers[0] ?? ''), references.map(rougeWords), { smoothing: 'method1' });

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** Questions of which more than this share of references say "none" are left out of COMET's BLEU. */
const mostlyNone = 1 / 3;

/** BLEU-2 as COMET's program has it: a mean for each relation, questions that mostly say "none" left out. */
function relationMeans(answered: readonly Answered[], scores: readonly number[]): Record<string, number> {
  const byRelation = new Map<string, number[]>();
  for (const [i, { relation, references }] of answered.entries()) {
    if (references.filter(isNone).length / references.length > mostlyNone) continue;
    byRelation.set(relation, [...(byRelation.get(relation) ?? []), scores[i]!]);
  }
  return Object.fromEntries([...byRelation].map(([relation, all]) => [relation, mean(all)]));
}

/** For each reference BERTScore's F1 of the answer that comes nearest; the mean over references, then over questions. */
async function bertRecall(answered: readonly Answered[], scorer: BertScorer): Promise<number> {
  const jobs = answered.flatMap(({ references, answers }, of) =>
    answers.length === 0 ? [] : [...new Set(references)].map((reference) => ({ of, reference, answers })),
  );
  const scores = await scorer.score(
    jobs.map(({ reference }) => reference),
    jobs.map(({ answers }) => answers),
  );
  const sums = answered.map(({ references }) => ({ sum: 0, count: new Set(references).size }));
  for (const [i, { of }] of jobs.entries()) sums[of]!.sum += scores[i]!.f1;
  return mean(sums.map(({ sum, count }) => sum / count));
}

const trained = new WeakMap<TupleCorpus, { tuples: Set<string>; objects: Set<string> }>();

const tupleKey = (head: string, relation: string, object: string): string =>
  `${head}\t${relation}\t${object.toLowerCase()}`;

/** Training tuples and objects, made once for all models that are compared. */
function trainedOf(corpus: TupleCorpus): { tuples: Set<string>; objects: Set<string> } {
  const known = trained.get(corpus);
  if (known) return known;
  const [tuples, objects] = [new Set<string>(), new Set<string>()];
  for (const row of corpus.splits.train) {
    const { head, relation, object } = corpus.table.tuple(row);
    tuples.add(tupleKey(head, relation, object));
    objects.add(object.toLowerCase());
  }
  trained.set(corpus, { tuples, objects });
  return { tuples, objects };
}

function novelties(answered: readonly Answered[], corpus: TupleCorpus) {
  const { tuples, objects } = trainedOf(corpus);
  const first = answered.map(({ head, relation, answers }) => ({ head, relation, object: answers[0] ?? '' }));
  return {
    novel_tuples: novelty(
      first.map(({ head, relation, object }) => tupleKey(head, relation, object)),
      tuples,
    ),
    novel_objects: novelty(
      first.map(({ object }) => object.toLowerCase()),
      objects,
    ),
  };
}
