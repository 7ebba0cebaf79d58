import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { type CorpusReport, emptyReport } from '@hidden-schema/text/corpus-report';
import { CsvAssembler } from '@hidden-schema/text/csv';
import { fileLines } from '@hidden-schema/text/lines';
import { type BadUtf8Policy, TEXT_DEFAULTS, TEXT_SPLITS, type TextSplit } from '@hidden-schema/text/settings';
import type { BadRow, Tuple } from './tuples.ts';

/** A file of tuples; `split` is what its name says, if it says one. */
export interface TupleSource {
  file: string;
  name: string;
  format: 'tsv' | 'csv';
  split: TextSplit | null;
}

/** What a row of a file gives: tuples, a fault, or nothing for a blank line. */
export interface TupleRow {
  /** File and line. */
  where: string;
  tuples: Tuple[];
  /** The split that a column names. */
  split?: TextSplit;
  bad: BadRow[];
  blank: boolean;
}

const splitNames: readonly (readonly [RegExp, TextSplit])[] = [
  [/(^|[^a-z])(train|trn)/, 'train'],
  [/(^|[^a-z])(dev|valid|val)/, 'valid'],
  [/(^|[^a-z])(test|tst)/, 'test'],
];

function splitOf(name: string): TextSplit | null {
  return splitNames.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? null;
}

const known = new Set(['.tsv', '.csv', '.txt']);
const formatOf = (name: string): 'tsv' | 'csv' => (/\.csv$/i.test(name) ? 'csv' : 'tsv');

/** The files of a corpus of tuples: one file, or those of a folder that are named after splits. */
export function findTuples(input: string): TupleSource[] {
  const stats = fs.statSync(input, { throwIfNoEntry: false });
  if (!stats) throw new UserError(`${input} does not exist; expected a file or a folder of tuples`);
  if (!stats.isDirectory()) {
    const name = path.basename(input);
    return [{ file: input, name, format: formatOf(name), split: null }];
  }
  const names = fs.readdirSync(input).filter((name) => known.has(path.extname(name).toLowerCase()));
  const sources = names.sort().flatMap((name): TupleSource[] => {
    const split = splitOf(name);
    return split ? [{ file: path.join(input, name), name, format: formatOf(name), split }] : [];
  });
  sources.sort((a, b) => TEXT_SPLITS.indexOf(a.split!) - TEXT_SPLITS.indexOf(b.split!));
  if (!sources.some(({ split }) => split === 'train'))
    throw new UserError(
      `${input} holds no tuples for training: expected train.tsv (head<TAB>relation<TAB>tail) or v4_atomic_trn.csv, or name one file`,
    );
  return sources;
}

/** The rows of a file, each with its tuples or what is wrong with it. */
export function* tupleRows(source: TupleSource, onBadUtf8: BadUtf8Policy): Generator<TupleRow, CorpusReport> {
  const report = emptyReport(onBadUtf8);
  const lines = { from: source.file, name: source.name, longestLine: TEXT_DEFAULTS.longestLine };
  if (source.format === 'csv') yield* atomicRows(source.name, lines, report);
  else yield* tsvRows(source.name, lines, report);
  return report;
}

type Lines = Parameters<typeof fileLines>[0];

/** `head<TAB>relation<TAB>tail`, as in ATOMIC-2020; further columns are passed over. */
function* tsvRows(name: string, source: Lines, report: CorpusReport): Generator<TupleRow> {
  for (const { text, number, skip, cut } of fileLines(source, report)) {
    if (skip) continue;
    const where = `${name}:${number}`;
    if (text.trim() === '') yield { where, tuples: [], bad: [], blank: true };
    else if (cut) yield faulty(where, 'is longer than a line may be');
    else {
      const fields = text.split('\t').map((field) => field.trim());
      if (number === 1 && isHeader(fields)) continue;
      yield tsvRow(fields, where);
    }
  }
}

const isHeader = ([head = '', relation = '']: readonly string[]): boolean =>
  /^(head|event|subject)(_event)?$/i.test(head) && /^rel(ation)?$/i.test(relation);

function tsvRow(fields: readonly string[], where: string): TupleRow {
  if (fields.length < 3)
    return faulty(
      where,
      `has ${fields.length} ${fields.length === 1 ? 'column' : 'columns'}; expected head<TAB>relation<TAB>tail`,
    );
  const [head, relation, object] = fields as [string, string, string];
  const missing = (['head', 'relation', 'object'] as const).find((_, at) => fields[at] === '');
  if (missing) return faulty(where, `has an empty ${missing}`);
  return { where, tuples: [{ head, relation, object }], bad: [], blank: false };
}

const faulty = (where: string, reason: string): TupleRow => ({
  where,
  tuples: [],
  bad: [{ where, reason }],
  blank: false,
});

/** The CSV of ATOMIC or Event2Mind: an event a row, a JSON list of objects in the column of each relation. */
function* atomicRows(name: string, source: Lines, report: CorpusReport): Generator<TupleRow> {
  const records = new CsvAssembler(name, source.longestLine);
  let header: string[] | undefined;
  for (const piece of fileLines(source, report)) {
    const record = records.take(piece);
    if (!record) continue;
    const { fields, line, skip, cut } = record;
    const where = `${name}:${line}`;
    if (!header) header = atomicHeader(fields, name);
    else if (skip) continue;
    else if (fields.length === 1 && fields[0]!.trim() === '')
      yield { where, tuples: [], bad: [], blank: true };
    else if (cut) yield faulty(where, 'is longer than a row may be');
    else if (fields.length !== header.length)
      yield faulty(where, `has ${fields.length} fields where the header has ${header.length}`);
    else yield atomicRow(header, fields, where);
  }
  records.finish();
}

/** Columns that hold no objects, in small letters: ATOMIC's own, and Event2Mind's source and sentiments. */
const plain = new Set(['event', 'prefix', 'split', '', 'source', 'xsent', 'osent']);
const isPlain = (column: string): boolean => plain.has(column.toLowerCase());
const placeOf = (header: readonly string[], name: string): number =>
  header.findIndex((column) => column.toLowerCase() === name);

function atomicHeader(fields: string[], name: string): string[] {
  const names = fields.map((field) => field.trim());
  if (placeOf(names, 'event') >= 0 && names.some((column) => !isPlain(column))) return names;
  throw new UserError(
    `${name}: expected the columns of ATOMIC (event, oEffect, …, split), got ${names.slice(0, 12).join(', ')}; tuples with tabs between go into a .tsv file`,
  );
}

function atomicRow(header: readonly string[], fields: readonly string[], where: string): TupleRow {
  const head = fields[placeOf(header, 'event')]!.trim();
  if (head === '') return faulty(where, 'has an empty event');
  const row: TupleRow = { where, tuples: [], bad: [], blank: false };
  for (const [at, relation] of header.entries()) {
    if (isPlain(relation)) continue;
    const objects = listOf(fields[at]!);
    if (!objects) row.bad.push({ where, reason: `has no JSON list of texts under ${relation}` });
    for (const object of objects ?? []) {
      if (object.trim() === '') row.bad.push({ where, reason: `has an empty object under ${relation}` });
      else row.tuples.push({ head, relation, object: object.trim() });
    }
  }
  const split = splitOf(fields[placeOf(header, 'split')] ?? '');
  return split ? { ...row, split } : row;
}

function listOf(text: string): string[] | undefined {
  if (text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    const fine = Array.isArray(value) && value.every((item) => typeof item === 'string');
    return fine ? (value as string[]) : undefined;
  } catch {
    return undefined;
  }
}
