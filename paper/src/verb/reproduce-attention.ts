import { encodedOf, progressOf } from '@hidden-schema/cli/analysis';
import { say } from '@hidden-schema/cli/terminal';
import { attentionTable } from '../reproduction/language-tables.ts';
import type { Reproduced, ReproduceFlags } from './reproduce.ts';
import { different, ofRuns, readAtMost, titleOf } from './reproduce-notes.ts';

/** Table 7 and Figures 7 to 10, of every run. */
export async function attentionTables(runs: readonly string[], flags: ReproduceFlags): Promise<Reproduced> {
  const { languageRun } = await import('@hidden-schema/studies/runs/opened');
  const { studyAttention } = await import('@hidden-schema/studies/symbols/attention');
  const { drawAttention } = await import('@hidden-schema/studies/analyses/figures');
  const { symbolNames } = await import('@hidden-schema/studies/symbols/names');
  const all = await ofRuns(runs, async (opened, { directory, suffix, signal }) => {
    const run = languageRun(opened, 'table7');
    const encoded = await encodedOf(run, readAtMost(flags.quick), signal);
    try {
      const words = flags.words?.split(',') ?? (await defaultWords(encoded));
      const { onProgress, done } = await progressOf('attention', 'sentences');
      const study = await studyAttention(run, encoded, words, { signal, onProgress });
      done();
      const table = attentionTable(study, titleOf(run));
      const drawn = drawAttention(study, symbolNames(opened.run));
      return {
        sheet: { ...table, name: `${table.name}${suffix}` },
        figures: drawn.map((figure) => ({ ...figure, name: `${figure.name}${suffix}` })),
        counts: study.words.map(({ word, occurrences }) => `${word} ${occurrences}`).join(', '),
        data: { run: directory, ...study },
      };
    } finally {
      encoded.close();
    }
  });
  const [first, ...others] = all.map(({ data }) => data);
  return {
    name: 'table7',
    title: 'Table 7 and Figures 7 to 10: which symbols words attend to',
    data: others.length === 0 ? first : [first, ...others],
    sheets: all.map(({ sheet }) => sheet),
    figures: all.flatMap(({ figures }) => figures),
    text: `KL in nats for each head, averaged over the heads of a layer; one count is spread over all symbols first, since the paper does not say how it treats symbols that a word never attends to. Words occur ${all.map(({ counts }) => counts).join('; ')} times. The paper's model is HSN(100, 5) on Yelp with 12 layers of 12 heads. ${different}`,
  };
}

type Encoded = Awaited<ReturnType<typeof encodedOf>>;

/** The paper's words where the corpus has them; else three frequent ones, which say nothing of sentiment. */
async function defaultWords(encoded: Encoded): Promise<string[]> {
  const { publishedAttention } = await import('../reproduction/published.ts');
  const { wordsOf } = await import('@hidden-schema/studies/texts/words');
  const counts = new Map<string, number>();
  for (let n = 0; n < Math.min(encoded.count, 2000); n++)
    for (const { word } of wordsOf(encoded.sentence(n).text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  if (publishedAttention.words.every((word) => counts.has(word))) return [...publishedAttention.words];
  const ranked = [...counts].sort((a, b) => b[1] - a[1]).map(([word]) => word);
  const chosen = ranked.filter((word) => word.length > 3).slice(0, 3);
  say(`this corpus has not all of good, bad and great; compared are ${chosen.join(', ')}\n`);
  return chosen;
}
