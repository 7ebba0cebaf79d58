/**
 * How far automatic scores of topics follow people: Spearman's ρ with their ratings, and with how often they found a word
 * that was put among the topic's own.
 *
 *     node --import tsx bench/human-ratings.ts ratings.json --judge FOLDER --reference-corpus FILE
 *
 * ratings.json: corpus → model → { topics: words of each, metrics: a list of a value a topic for each score }. The two
 * flags add our own measures: cosine of words by an encoder, and NPMI in windows of ten words of other texts.
 */
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { formatTable, reasonOf, UserError } from '@hidden-schema/base';
import {
  embeddingCoherence,
  Judge,
  npmiCoherence,
  readReference,
  referenceWindow,
} from '@hidden-schema/studies';
import { z } from 'zod';
import { spearman } from './rank-correlation.ts';

const modelSchema = z.object({
  topics: z.array(z.array(z.string())),
  metrics: z.record(z.string(), z.array(z.unknown())),
});
const ratingsSchema = z.record(z.string(), z.record(z.string(), modelSchema));
type Ratings = z.output<typeof ratingsSchema>;

const people = ['ratings_scores_avg', 'intrusion_scores_avg'] as const;

/** A value a topic of a corpus, by score; null where there is none. */
type Scores = Map<string, (number | null)[]>;

/** Our own scores of topics, by name. */
export type OwnScores = Record<string, (topics: string[][]) => Promise<readonly (number | null)[]>>;

/** Of each corpus all its topics; a score in the other corpus has one name in both. */
export async function topicScores(ratings: Ratings, own: OwnScores): Promise<Map<string, Scores>> {
  const corpora = Object.keys(ratings);
  const found = new Map<string, Scores>();
  for (const [corpus, models] of Object.entries(ratings)) {
    const scores: Scores = new Map();
    const add = (name: string, values: readonly unknown[]) =>
      scores.set(name, [
        ...(scores.get(name) ?? []),
        ...values.map((value) => (typeof value === 'number' ? value : null)),
      ]);
    for (const { topics, metrics } of Object.values(models)) {
      for (const [name, values] of Object.entries(metrics))
        if (!Array.isArray(values[0]))
          add(
            corpora.reduce((text, one) => text.replace(`_${one}`, ' elsewhere'), name),
            values,
          );
      for (const [name, score] of Object.entries(own)) add(name, await score(topics));
    }
    found.set(corpus, scores);
  }
  return found;
}

interface Correlation {
  rho: number | null;
  topics: number;
}

/** A score against what people said, over the topics that have both. */
function correlation(corpora: readonly Scores[], score: string, said: string): Correlation {
  const pairs = corpora.flatMap((scores) => {
    const [a, b] = [scores.get(score) ?? [], scores.get(said) ?? []];
    return a.flatMap((value, at) => {
      const other = b[at];
      return a.length !== b.length || value === null || typeof other !== 'number'
        ? []
        : [[value, other] as const];
    });
  });
  const rho = spearman(
    pairs.map(([value]) => value),
    pairs.map(([, other]) => other),
  );
  return { rho, topics: pairs.length };
}

/** A row a score: ρ with both of what people said, in each corpus and over all topics. */
export function ratingTable(found: ReadonlyMap<string, Scores>): string {
  const groups = [...[...found].map(([name, scores]) => [name, [scores]] as const)];
  const all = [...groups, ['all', [...found.values()]] as const];
  const names = new Set([...found.values()].flatMap((scores) => [...scores.keys()]));
  const columns = [
    { title: 'score' },
    ...people.flatMap((said) =>
      all.map(([name]) => ({ title: `${said.split('_')[0]}, ${name}`, align: 'right' as const })),
    ),
    { title: 'topics', align: 'right' as const },
  ];
  const rows = [...names].flatMap((score) => {
    const cells = people.flatMap((said) => all.map(([, scores]) => correlation(scores, score, said)));
    const topics = cells[all.length - 1]!.topics;
    return topics === 0
      ? []
      : [[score, ...cells.map(({ rho }) => (rho === null ? '–' : rho.toFixed(3))), `${topics}`]];
  });
  return formatTable(columns, rows, 'markdown');
}

/** The same scores on the topics that `score` has a value of: a score that is missing for the worst looks better. */
export function whereKnown(found: ReadonlyMap<string, Scores>, score: string): Map<string, Scores> {
  return new Map(
    [...found].map(([corpus, scores]) => {
      const known = scores.get(score) ?? [];
      const kept = [...scores].flatMap(([name, values]) =>
        values.length === known.length ? [[name, values.filter((_, at) => known[at] !== null)] as const] : [],
      );
      return [corpus, new Map(kept)];
    }),
  );
}

/** Cosine of words by an encoder: as they are, and less their mean, which all words of some encoders have much of. */
async function judgeScores(judge: Judge, ratings: Ratings): Promise<OwnScores> {
  const lists = Object.values(ratings).flatMap((models) =>
    Object.values(models).flatMap(({ topics }) => topics.map((topic) => topic.slice(0, 10))),
  );
  const words = [...new Set(lists.flat())];
  const vectorOf = await judge.words(words);
  const mean = words
    .map((word) => vectorOf(word)!)
    .reduce(
      (sum, vector) => sum.map((x, i) => x + vector[i]! / words.length),
      new Float64Array(vectorOf(words[0]!)!.length),
    );
  const centred = (word: string) => Float64Array.from(vectorOf(word)!, (x, i) => x - mean[i]!);
  return {
    'ours: cosine by the judge': async (topics) => embeddingCoherence(topics, vectorOf).topics,
    'the same, less the mean of all words': async (topics) => embeddingCoherence(topics, centred).topics,
  };
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { judge: { type: 'string' }, 'reference-corpus': { type: 'string' } },
    allowPositionals: true,
  });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1)
    throw new UserError('expected one file: ratings.json, topics with what people said of them');
  const ratings = ratingsSchema.parse(JSON.parse(fs.readFileSync(file, 'utf8')));
  const judge = values.judge === undefined ? undefined : await Judge.open(values.judge);
  const reference = values['reference-corpus'];
  const words = reference === undefined ? undefined : await readReference(reference);
  const found = await topicScores(ratings, {
    ...(judge ? await judgeScores(judge, ratings) : {}),
    ...(words
      ? {
          'ours: NPMI in the reference corpus': async (topics) =>
            npmiCoherence(words, topics, referenceWindow).topics,
        }
      : {}),
  });
  judge?.free();
  process.stdout.write(`${ratingTable(found)}\n`);
  const partial = 'c_npmi_10 elsewhere_full';
  if (found.values().next().value?.has(partial))
    process.stdout.write(
      `On the topics alone that have ${partial}:\n\n${ratingTable(whereKnown(found, partial))}`,
    );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  main().catch((error: unknown) => {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exitCode = 1;
  });
