import fs from 'node:fs';
import path from 'node:path';
import { tsvLine, UserError } from '@hidden-schema/base';
import { readLines } from '@hidden-schema/text/field-lines';
import { TEXT_SPLITS, type TextSplit } from '@hidden-schema/text/settings';
import { writeCorpusFolder, writeText } from './synthetic/corpus/folder.ts';
import { readTuples } from './tuples/read-tuples.ts';

/** Texts of the paper in the forms that people have them. */
type PaperTexts = 'ptb' | 'yahoo' | 'yelp';
export type PaperCorpus = PaperTexts | 'atomic';

type Counts = Readonly<Record<TextSplit, number>>;

/** Sentences, documents and tuples as appendices F.1 and H.1 count them; those of tuples in thousands. */
const published: Readonly<Record<PaperCorpus, Counts>> = {
  ptb: { train: 38_219, valid: 5527, test: 5462 },
  yahoo: { train: 100_000, valid: 10_000, test: 10_000 },
  yelp: { train: 100_000, valid: 10_000, test: 10_000 },
  atomic: { train: 710_000, valid: 80_000, test: 87_000 },
};

/** What a conversion wrote, and how that differs from the paper. */
export interface PaperCorpusReport {
  counts: Counts;
  labels: number;
  notes: string[];
}

interface Row {
  label?: string;
  text: string;
}

const LAYOUT = new Set(TEXT_SPLITS.flatMap((split) => [`${split}.txt`, `${split}.tsv`]));

/** Writes train, valid and test of a corpus of the paper as "hsn train" and "hsn reason train" read them. */
export function convertPaperCorpus(
  name: PaperCorpus,
  source: string,
  directory: string,
  { force = false } = {},
): PaperCorpusReport {
  const { rows, notes } = name === 'atomic' ? tuplesOf(source) : textsOf(name, source);
  const labelled =
    name === 'atomic' || TEXT_SPLITS.every((split) => rows[split].every((row) => row.label !== undefined));
  // Where not every line has a label, what looked like one is the text's first word.
  const whole = ({ label, text }: Row) => (label === undefined ? text : `${label} ${text}`);
  const line = (row: Row) => (labelled ? tsvLine([row.label!, ...row.text.split('\t')]) : `${whole(row)}\n`);
  writeCorpusFolder(directory, LAYOUT, force, (folder) => {
    for (const split of TEXT_SPLITS)
      writeText(path.join(folder, `${split}.${labelled ? 'tsv' : 'txt'}`), rows[split].map(line).join(''));
  });
  const counts = { train: rows.train.length, valid: rows.valid.length, test: rows.test.length };
  const labels =
    name !== 'atomic' && labelled
      ? new Set(TEXT_SPLITS.flatMap((split) => rows[split].map((row) => row.label))).size
      : 0;
  return { counts, labels, notes: [...notes, ...difference(name, counts)] };
}

type Rows = Record<TextSplit, Row[]>;

/** Where counts are not the paper's; of tuples, which it gives in thousands, by more than half of one. */
function difference(name: PaperCorpus, counts: Counts): string[] {
  const near = name === 'atomic' ? 500 : 0;
  const paper = published[name];
  const list = (of: Counts) => TEXT_SPLITS.map((split) => of[split]).join(' / ');
  if (TEXT_SPLITS.every((split) => Math.abs(counts[split] - paper[split]) <= near)) return [];
  return [`the paper has ${list(paper)} for train, valid and test; these are ${list(counts)}`];
}

function tuplesOf(source: string): { rows: Rows; notes: string[] } {
  const { table, splits, report } = readTuples(source);
  const of = (split: TextSplit): Row[] =>
    Array.from(splits[split], (row) => {
      const { head, relation, object } = table.tuple(row);
      return { label: head, text: `${relation}\t${object}` };
    });
  const notes = [
    ...(report.malformed > 0 ? [`${report.malformed} rows held no tuple`] : []),
    ...(report.overlapping > 0
      ? [`${report.overlapping} tuples of events that stand in a later split too were left out`]
      : []),
  ];
  return { rows: { train: of('train'), valid: of('valid'), test: of('test') }, notes };
}

/** `train.txt`, `ptb.train.txt`, `yahoo.valid.txt`, `data.test.txt`, `yelp-dev.tsv` … */
const fileName =
  /^(?:[a-z0-9]+[._-])?(train|valid|validation|val|dev|test)(?:[._-]data)?\.(?:txt|tsv|text|data)$/i;
const splitOf: Readonly<Record<string, TextSplit>> = {
  ...{ train: 'train', valid: 'valid', validation: 'valid', val: 'valid', dev: 'valid', test: 'test' },
};

function textsOf(name: PaperTexts, source: string): { rows: Rows; notes: string[] } {
  const files = splitFiles(source);
  const rows = { train: [], valid: [], test: [] } as Rows;
  for (const [split, file] of files)
    readLines(file, (line) => {
      rows[split].push(rowOf(line));
    });
  return name === 'ptb' ? recut(rows) : { rows, notes: [] };
}

function splitFiles(source: string): Map<TextSplit, string> {
  if (!fs.statSync(source, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError(`${source} is not a folder; expected one with files for train, valid and test`);
  const found = new Map<TextSplit, string>();
  for (const name of fs.readdirSync(source).sort()) {
    const split = splitOf[fileName.exec(name)?.[1]?.toLowerCase() ?? ''];
    if (split === undefined) continue;
    const other = found.get(split);
    if (other)
      throw new UserError(
        `${source} has ${path.basename(other)} and ${name} for ${split}; expected one of them`,
      );
    found.set(split, path.join(source, name));
  }
  const missing = TEXT_SPLITS.find((split) => !found.has(split));
  if (missing)
    throw new UserError(
      `${source} has no file for ${missing}; expected train.txt, valid.txt and test.txt, or such as ptb.train.txt or yahoo.valid.txt`,
    );
  return found;
}

/** A text alone, or after a label and a tab, as some have it; a label is a short word or number. */
function rowOf(line: string): Row {
  const [, label, text] = /^([^\s]{1,40})\t(.*\S)\s*$/.exec(line) ?? [];
  return label === undefined ? { text: clean(line) } : { label, text: clean(text!) };
}

const clean = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** Lines of the files that most people have (Mikolov's), which end their training set after section 20. */
const mikolov: Counts = { train: 42_068, valid: 3370, test: 3761 };
/** Where sections 0 to 18 and 19 to 21 end in them; the paper counts 7 sentences more in the first. */
const sections: Counts = { train: 38_212, valid: 5527, test: 5460 };

/** The same sentences in the paper's sections, where the files are cut as Mikolov's. */
function recut(rows: Rows): { rows: Rows; notes: string[] } {
  if (!TEXT_SPLITS.every((split) => rows[split].length === mikolov[split])) return { rows, notes: [] };
  const all = TEXT_SPLITS.flatMap((split) => rows[split]);
  const [first, second] = [sections.train, sections.train + sections.valid];
  const cut = { train: all.slice(0, first), valid: all.slice(first, second), test: all.slice(second) };
  return { rows: cut, notes: ['cut again after sections 18 and 21, as the paper has it'] };
}
