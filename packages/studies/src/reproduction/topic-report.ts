import { formatTable, meanSd } from '@hidden-schema/base';
import { type Sheet, type SheetCell, sheetText } from '../evaluation/sheets.ts';
import { comparedModels, type TopicResult, type TopicRow, type WordScore } from './topics.ts';

type Figure = Exclude<keyof TopicRow, 'model' | 'words' | 'seed'>;

interface FigureColumn {
  title: string;
  figure: Figure;
  digits: number;
  ofLabels?: boolean;
}

const figures: readonly FigureColumn[] = [
  { title: 'NPMI', figure: 'npmi', digits: 3 },
  { title: 'C_v', figure: 'cv', digits: 3 },
  { title: 'diversity', figure: 'diversity', digits: 3 },
  { title: 'NMI', figure: 'nmi', digits: 3, ofLabels: true },
  { title: 'AMI', figure: 'ami', digits: 3, ofLabels: true },
  { title: 'purity', figure: 'purity', digits: 3, ofLabels: true },
  { title: 'reader', figure: 'reader', digits: 3, ofLabels: true },
  { title: 'weighed', figure: 'reader_weighed', digits: 3, ofLabels: true },
  { title: 'stability', figure: 'stability', digits: 3 },
  { title: 'own walk', figure: 'toldApart', digits: 3 },
  { title: 'on links', figure: 'linked', digits: 3 },
  { title: 's', figure: 'seconds', digits: 1 },
];

const scores: readonly WordScore[] = ['PMI', 'c-TF-IDF', 'own'];

/** The table of all corpora; columns of labels only where a corpus has some. */
function topicSheet(results: readonly TopicResult[]): Sheet {
  const labelled = results.some(({ labels }) => labels > 0);
  const shown = figures.filter(({ ofLabels }) => labelled || !ofLabels);
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
"own" are those that topic models rank themselves. NPMI (by texts), C_v (windows of 110 words) and diversity are of ten words.
NMI, AMI and purity compare first symbols with labels, reader is the share of labels that a linear reader of the walk gets
right on folds it has not seen (weighed: where it knows how much of the text each symbol tells), stability the AMI of first symbols between seeds. Own walk: texts whose walk no other
different text has; on links: steps along links with p > ½; s: seconds after the vectors. Mean ± sd over seeds.
`;
