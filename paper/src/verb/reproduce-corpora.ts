import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { say } from '@hidden-schema/cli/terminal';

/** Sentences, speeches and events: few, so that all is read in seconds. */
const sizes = { sentences: 1200, passages: 600, events: 300 };

/** Small corpora of texts, drawn into a folder or found there: labelled sentences, and speeches where they are installed. */
export async function smallTexts(folder: string): Promise<string> {
  const { UserError, writeFileAtomic } = await import('@hidden-schema/base');
  const words = await wordsIn(folder);
  const speeches = path.join(folder, 'sotu.tsv');
  try {
    if (!existsSync(speeches)) writeFileAtomic(speeches, await speechLines());
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    say(`${error.message}: drawn sentences alone\n`);
    return `words=${words}`;
  }
  return `words=${words},sotu=${speeches}`;
}

/** Tuples made from such sentences. */
export async function smallTuples(folder: string): Promise<string> {
  const { readText, writeFileAtomic } = await import('@hidden-schema/base');
  const tuples = path.join(folder, 'tuples.tsv');
  const words = await wordsIn(folder);
  if (!existsSync(tuples)) writeFileAtomic(tuples, tupleLines(readText(path.join(words, 'train.tsv'))));
  return tuples;
}

async function wordsIn(folder: string): Promise<string> {
  const { WORD_DEFAULTS, writeWordsCorpus } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/words');
  const words = path.join(folder, 'words');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(words)) writeWordsCorpus({ ...WORD_DEFAULTS, sentences: sizes.sentences }, words);
  return words;
}

/** decade<TAB>passage */
async function speechLines(): Promise<string> {
  const { tsvLine } = await import('@hidden-schema/base');
  const { drawPassages, readSpeeches, speechPassages } = await import('@hidden-schema/text/speeches');
  const passages = drawPassages(speechPassages(readSpeeches()), sizes.passages, 1);
  return passages.map(({ year, text }) => tsvLine([`${Math.floor(year / 10)}0s`, text])).join('');
}

const relations = ['xEffect', 'xWant'];

/** Tuples in ATOMIC's form out of drawn sentences: what came before, and what happened after it. */
function tupleLines(sentences: string): string {
  const lines = sentences
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, sizes.events);
  return lines
    .flatMap((line) => {
      const clauses = line
        .slice(line.indexOf('\t') + 1)
        .replace(/\.$/, '')
        .split(/, | and /);
      const [first, second, ...later] = clauses;
      return relations.flatMap((relation, at) =>
        later[at] === undefined ? [] : [`${first}, ${second}\t${relation}\t${later[at]}\n`],
      );
    })
    .join('');
}
