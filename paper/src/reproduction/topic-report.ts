import { formatTable, meanSd } from '@hidden-schema/base/tables';
import { type Sheet, type SheetCell, sheetText } from '@hidden-schema/studies/drawing/sheets';
import { comparedModels, type WordScore } from './topic-fits.ts';
import type { TopicResult, TopicRow } from './topics.ts';

type Figure = Exclude<keyof TopicRow, 'model' | 'words' | 'seed' | 'fit_steps'>;

interface FigureColumn {
  title: string;
  figure: Figure;
  digits: number;
}

/** Of texts, of walks, and of words; coherence in the texts themselves, which hardly follows people, comes last. */
const figures: readonly FigureColumn[] = [
  { title: 'fit', figure: 'fit', digits: 3 },
  { title: 'later', figure: 'fit_later', digits: 3 },
  { title: 'symbols', figure: 'symbols_per_text', digits: 2 },
  { title: 'NMI', figure: 'nmi', digits: 3 },
  { title: 'AMI', figure: 'ami', digits: 3 },
  { title: 'purity', figure: 'purity', digits: 3 },
  { title: 'reader', figure: 'reader', digits: 3 },
  { title: 'weighed', figure: 'reader_weighed', digits: 3 },
  { title: 'stability', figure: 'stability', digits: 3 },
  { title: 'sub NMI', figure: 'subsample_nmi', digits: 3 },
  { title: 'sub ARI', figure: 'subsample_ari', digits: 3 },
  { title: 'sub words', figure: 'subsample_words', digits: 3 },
  { title: 'own walk', figure: 'toldApart', digits: 3 },
  { title: 'on links', figure: 'linked', digits: 3 },
  { title: 'coherence', figure: 'judge_coherence', digits: 3 },
  { title: 'NPMI elsewhere', figure: 'npmi_reference', digits: 3 },
  { title: 'diversity', figure: 'diversity', digits: 3 },
  { title: 'NPMI', figure: 'npmi', digits: 3 },
  { title: 'C_v', figure: 'cv', digits: 3 },
  { title: 'topics', figure: 'topics', digits: 0 },
  { title: 's', figure: 'seconds', digits: 1 },
];

const scores: readonly WordScore[] = ['PMI', 'c-TF-IDF', 'own'];

/** The table of all corpora; a column only where some model has the figure. */
export function topicSheet(results: readonly TopicResult[]): Sheet {
  const measured = results.flatMap((result) => result.rows);
  const shown = figures.filter(({ figure }) => measured.some((row) => row[figure] !== undefined));
  const columns = [
    ...['corpus', 'model', 'words'].map((title) => ({ title })),
    ...shown.map(({ title, digits }) => ({ title, digits, align: 'right' as const })),
  ];
  const rows = results.flatMap(({ corpus, rows: all }) =>
    comparedModels(true).flatMap((model) =>
      scores.flatMap((score) => {
        const own = all.filter((row) => row.model === model && row.words === score);
        if (own.length === 0) return [];
        const cells = shown.map(({ figure }): SheetCell => meanSd(own.flatMap((row) => row[figure] ?? [])));
        return [[corpus, model, score, ...cells]];
      }),
    ),
  );
  return { name: 'topics', title: 'Symbols beside topics', columns, rows };
}

/** Symbols that are shown of each corpus. */
const mostShown = 20;

/** Table, what its columns mean, and the commonest symbols of the first seed, as Markdown. */
export function topicText(results: readonly TopicResult[]): string {
  const parts = [sheetText(topicSheet(results), 'markdown'), topicCaption];
  for (const { corpus, texts, judge, judged_texts } of results)
    if (judge)
      parts.push(
        `${corpus}: fit and coherence by ${judge}, of ${judged_texts === texts ? 'all' : judged_texts} of ${texts} texts.\n`,
      );
  for (const { corpus, note } of results) if (note) parts.push(`${corpus}: ${note}.\n`);
  for (const { corpus, symbols } of results) {
    const rows = symbols
      .slice(0, mostShown)
      .map(({ name, words, share }) => [name, words.join(' '), `${(100 * share).toFixed(1)} %`]);
    const columns = [{ title: 'symbol' }, { title: 'words' }, { title: 'texts', align: 'right' as const }];
    const which = symbols.length > mostShown ? `The ${mostShown} commonest symbols` : 'The symbols';
    parts.push(`${which} of ${corpus}, first seed:\n`, formatTable(columns, rows, 'markdown'));
  }
  return parts.join('\n');
}

const topicCaption = `All models see the same texts, and both scores rank the words of all of them: PMI, p(w,k)·ln(p(w,k)/(p(w)p(k))) by texts that
have the word, repeats given up that cost least until 85 % of all words are different; c-TF-IDF;
"own" are those that models rank themselves: HSN by the vectors of its encoder as well, where there is a judge. Figures of words are of the first ten.
Fit: share of the other symbols that fit a text worse than its first, by an encoder that took no part (chance is 0.5);
later: the same of all later steps that name a new symbol; symbols: different ones of a text.
NMI, AMI and purity compare first symbols with labels, reader is the share of labels that a linear reader of the walk gets
right on folds it has not seen (weighed: where it knows how much of the text each symbol tells), stability the AMI of first symbols between seeds.
Sub NMI, ARI and words: agreement of fits to random 80 % of the texts, on the texts that both have and on the words of matched symbols.
Own walk: texts whose walk no other different text has; on links: steps along links with p > ½.
Coherence: mean cosine of words by the encoder that took no part. NPMI elsewhere: in windows of ten words of another corpus;
NPMI (by texts) and C_v (windows of 110 words): in the texts themselves, which follows people least. s: seconds after the vectors.
Mean ± sd over seeds.
`;
