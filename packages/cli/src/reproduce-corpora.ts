import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/** Sentences, speeches and events: few, so that all is read in seconds. */
const sizes = { sentences: 1200, passages: 600, events: 300 };

/** Small corpora drawn into a folder, or found there: labelled sentences, speeches by decade, and tuples. */
export async function smallCorpora(folder: string): Promise<{ texts: string; tuples: string }> {
  const { readText, writeTextAtomic } = await import('@hidden-schema/base');
  const { WORD_DEFAULTS, writeWordsCorpus } = await import('@hidden-schema/hsn');
  mkdirSync(folder, { recursive: true });
  const words = path.join(folder, 'words');
  const speeches = path.join(folder, 'sotu.tsv');
  const tuples = path.join(folder, 'tuples.tsv');
  if (!existsSync(words)) writeWordsCorpus({ ...WORD_DEFAULTS, sentences: sizes.sentences }, words);
  if (!existsSync(speeches)) writeTextAtomic(speeches, await speechLines());
  if (!existsSync(tuples)) writeTextAtomic(tuples, tupleLines(readText(path.join(words, 'train.tsv'))));
  return { texts: `words=${words},sotu=${speeches}`, tuples };
}

/** decade<TAB>passage */
async function speechLines(): Promise<string> {
  const { tsvLine } = await import('@hidden-schema/base');
  const { drawPassages, readSpeeches, speechPassages } = await import('@hidden-schema/text');
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
