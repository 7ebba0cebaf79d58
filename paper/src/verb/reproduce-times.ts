import type { Reproduced } from './reproduce.ts';
import { corpusOf, different, ofRuns } from './reproduce-notes.ts';

/** Texts that the mean of words is taken of, at most. */
const counted = 1000;

/** Table 8: the seconds that runs recorded. */
export async function trainingTimes(runs: readonly string[]): Promise<Reproduced> {
  const { UserError } = await import('@hidden-schema/base');
  const { runCorpus } = await import('@hidden-schema/studies/texts/run-corpus');
  const { wordsOf } = await import('@hidden-schema/studies/texts/words');
  const { timesSheet } = await import('../reproduction/table8.ts');
  const all = await ofRuns(runs, async (opened, { directory, signal }) => {
    const { seconds, step } = opened.run.record as { seconds?: number; step?: number };
    if (seconds === undefined)
      throw new UserError(
        `${directory} has not recorded how long it trained; finish it with hsn train --resume`,
      );
    const corpus = await runCorpus(opened, { signal });
    const texts = Math.min(counted, corpus.counts.train);
    let words = 0;
    for (let n = 0; n < texts; n++) words += wordsOf(corpus.sentence('train', n).text).length;
    corpus.close();
    return {
      corpus: corpusOf(opened),
      model: `HSN(${opened.symbols}, ${opened.length})`,
      seconds,
      steps: step ?? 0,
      sentences: corpus.counts.train,
      words: words / texts,
      parameters: opened.model.parameters().reduce((sum, { size }) => sum + size, 0),
    };
  });
  return {
    name: 'table8',
    title: 'Table 8: training times',
    data: all,
    sheets: [timesSheet(all)],
    text: different,
  };
}
