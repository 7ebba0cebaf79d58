import { UserError } from '@hidden-schema/base';
import {
  type CandidateOptions,
  NONE,
  type OpenedReasoning,
  type Prefix,
  prefixesOf,
  type Reasoner,
  type TupleCorpus,
  type TupleTokens,
  TupleWalks,
  tupleFrames,
  writeObjects,
} from '@hidden-schema/hsn';
import { type BertScore, type BertScorer, meanScore, rescaled } from '../evaluation/bert-score.ts';
import { bleuWords, corpusBleu, sentenceBleu } from '../evaluation/bleu.ts';
import { distinctN, novelty } from '../evaluation/diversity.ts';

/** An object that a model wrote for (s, r), with all objects that the corpus has for it. */
export interface GeneratedObject {
  head: string;
  relation: string;
  object: string;
  references: readonly string[];
}

/** What Table 3 measures, and how varied and new the objects are. */
export interface ObjectFigures {
  objects: number;
  /** Mean over relations of sentence BLEU-2 (NLTK's method 1), as COMET's program computes it. */
  bleu2: number;
  bleu2_by_relation: Record<string, number>;
  /** BLEU-2 of all objects as one corpus, without smoothing. */
  bleu2_corpus: number;
  /** F1 of the best reference, as it is and rescaled by the baseline of unrelated objects. */
  bert_score: number;
  bert_score_rescaled: number;
  distinct_1: number;
  distinct_2: number;
  /** Shares of generated tuples and of generated objects that train does not have. */
  novel_tuples: number;
  novel_objects: number;
}

/** Prefixes of which more than this share of references say "none" are left out of COMET's BLEU. */
const mostlyNone = 1 / 3;

/** BLEU-2 as COMET's program has it: all references of a prefix, those that mostly say "none" left out. */
export function cometBleu(generated: readonly GeneratedObject[]): Record<string, number> {
  const sums = new Map<string, [number, number]>();
  for (const { relation, object, references } of generated) {
    const none = references.filter((reference) => reference.toLowerCase() === NONE).length;
    if (none / references.length > mostlyNone) continue;
    const score = sentenceBleu(bleuWords(object), references.map(bleuWords), { smoothing: 'method1' });
    const [sum, count] = sums.get(relation) ?? [0, 0];
    sums.set(relation, [sum + score, count + 1]);
  }
  return Object.fromEntries([...sums].map(([relation, [sum, count]]) => [relation, sum / count]));
}

/** Figures of generated objects; `scorer` and its `baseline` are shared by the models that are compared. */
export async function objectFigures(
  generated: readonly GeneratedObject[],
  corpus: TupleCorpus,
  { scorer, baseline }: { scorer: BertScorer; baseline: BertScore },
): Promise<ObjectFigures> {
  if (generated.length === 0) throw new UserError('no objects were generated, so there is nothing to score');
  const byRelation = cometBleu(generated);
  const words = generated.map(({ object }) => bleuWords(object));
  const references = generated.map((one) => one.references.map(bleuWords));
  const scores = await scorer.score(
    generated.map(({ object }) => object),
    generated.map((one) => one.references),
  );
  const mean = meanScore(scores);
  const values = Object.values(byRelation);
  return {
    objects: generated.length,
    bleu2: values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length),
    bleu2_by_relation: byRelation,
    bleu2_corpus: corpusBleu(words, references),
    bert_score: mean.f1,
    bert_score_rescaled: rescaled(mean, baseline).f1,
    distinct_1: distinctN(words, 1),
    distinct_2: distinctN(words, 2),
    ...novelties(generated, corpus),
  };
}

function novelties(generated: readonly GeneratedObject[], { table, splits }: TupleCorpus) {
  const [tuples, objects] = [new Set<string>(), new Set<string>()];
  const key = (head: string, relation: string, object: string) =>
    `${head}\t${relation}\t${object.toLowerCase()}`;
  for (const row of splits.train) {
    const { head, relation, object } = table.tuple(row);
    tuples.add(key(head, relation, object));
    objects.add(object.toLowerCase());
  }
  return {
    novel_tuples: novelty(
      generated.map(({ head, relation, object }) => key(head, relation, object)),
      tuples,
    ),
    novel_objects: novelty(
      generated.map(({ object }) => object.toLowerCase()),
      objects,
    ),
  };
}

/** The test split's (s, r), at most so many, spread evenly over it. */
export function testPrefixes({ table, splits }: TupleCorpus, limit?: number): Prefix[] {
  const all = prefixesOf(table, splits.test);
  if (limit === undefined || all.length <= limit) return all;
  return Array.from({ length: limit }, (_, i) => all[Math.floor((i * all.length) / limit)]!);
}

const generatedFor = ({ head, relation, references }: Prefix, object: string): GeneratedObject => ({
  head,
  relation,
  object,
  references,
});

/** HSN (posterior): each tuple's object is read into a walk and written again. */
export async function reconstructedObjects(
  { model, tokenizers }: OpenedReasoning,
  tokens: TupleTokens,
  prefixes: readonly Prefix[],
): Promise<GeneratedObject[]> {
  const walks = new TupleWalks(model, tokens);
  try {
    const jobs = prefixes.flatMap((prefix) => prefix.rows.map((row) => ({ prefix, row })));
    const read = walks.whole(
      Int32Array.from(jobs, ({ row }) => row),
      'best',
    );
    const prompts = jobs.map(({ row }, i) => ({ prompt: tokens.prompt(row), walk: read[i]! }));
    const frame = tupleFrames(tokenizers).decoder;
    const written = await writeObjects(model, { tokenizer: tokenizers.decoder, frame }, prompts);
    return jobs.map(({ prefix }, i) => generatedFor(prefix, written[i]!.text));
  } finally {
    walks.free();
  }
}

/** HSN-AR: the object of the best walk that the path model goes on with, for each (s, r). */
export async function reasonedObjects(
  reasoner: Reasoner,
  tokens: TupleTokens,
  prefixes: readonly Prefix[],
  options: CandidateOptions = { how: 'greedy' },
): Promise<GeneratedObject[]> {
  const rows = Int32Array.from(prefixes, ({ row }) => row);
  const found = await reasoner.continued(tokens, rows, options);
  return prefixes.map((prefix, i) => generatedFor(prefix, found[i]![0]!.object));
}

/** COMET: the most probable object after (s, r), token after token. */
export async function cometObjects(
  { model, tokenizers, config }: OpenedReasoning,
  tokens: TupleTokens,
  prefixes: readonly Prefix[],
): Promise<GeneratedObject[]> {
  if (!config.baseline)
    throw new UserError('this run has symbols; expected COMET, trained with --part comet');
  const prompts = prefixes.map(({ row }) => ({ prompt: tokens.prompt(row) }));
  const frame = tupleFrames(tokenizers).decoder;
  const written = await writeObjects(model, { tokenizer: tokenizers.decoder, frame }, prompts);
  return prefixes.map((prefix, i) => generatedFor(prefix, written[i]!.text));
}
