import { type JsonValue, UserError } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { corpusColumn, openLanguageCorpus } from '@hidden-schema/hsn/tasks/language/open';
import { textRecord } from '@hidden-schema/hsn/tasks/language/text-record';
import { parseDates } from '@hidden-schema/text/dates';
import type { LabelledWalks } from '../measures/label-maps.ts';
import type { EncodedCorpus } from './encoded.ts';
import { storeIfWritable } from './encoded-writer.ts';
import { encodedRows } from './run-corpus.ts';

/** 1, that of 0.2.0, was joined by row numbers and held to no content. */
const FORMAT = 2;
const FILE = 'analysis/columns.json';

/** `analysis/columns.json`: what was read of the corpus' table beside texts and labels. */
interface StoredColumns {
  format: number;
  /** The run's identity. */
  created: string;
  /** Sentences it was read for. */
  count: number;
  /** [name][sentence] */
  columns: Record<string, Cell[]>;
}

/** A cell's value, null where it is empty, and where it stands. */
type Cell = readonly [value: string | null, where: string];

/** The column with dates that a run was told of when it was trained. */
export function timeColumnOf(opened: OpenedRun): string | undefined {
  return opened.kind === 'language' ? textRecord(opened.run).record.settings.timeColumn : undefined;
}

/**
 * What the encoded sentences have in a column of their corpus' table, as text; null where a cell is empty. Read from the
 * corpus once, joined by content, then kept with the run.
 */
export async function textColumn(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  name: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<(string | null)[]> {
  return (await cellsOf(opened, encoded, name, options)).map(([value]) => value);
}

/** Dates of the encoded sentences as UTC milliseconds, NaN where there is none; by the run's own column unless named. */
export async function textTimes(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  options: { column?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<{ column: string; times: Float64Array }> {
  const column = options.column ?? timeColumnOf(opened);
  if (column === undefined)
    throw new UserError(
      `which column has the dates? name it with --time-column, here or when training ${opened.run.directory}`,
    );
  const cells = await cellsOf(opened, encoded, column, options);
  const written = cells.map(([value, where]) => ({ value: value ?? undefined, where }));
  return { column, times: parseDates(written) };
}

/** The encoded sentences grouped by their labels, or by the values of another column. */
export async function walksBy(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  options: { column?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<LabelledWalks> {
  const { column } = options;
  if (column === undefined || column === 'label') {
    if (encoded.labels.length > 0 || column === undefined) return encoded;
  }
  const values = await textColumn(opened, encoded, column!, options);
  const labels = [...new Set(values.filter((value) => value !== null))].sort();
  const place = new Map(labels.map((label, at) => [label, at]));
  const labelOf = Int32Array.from(values, (value) => (value === null ? -1 : place.get(value)!));
  const { walks, weights, symbols, length } = encoded;
  return { walks, weights, symbols, length, labels, labelOf };
}

async function cellsOf(
  opened: OpenedRun,
  encoded: EncodedCorpus,
  name: string,
  { signal }: { signal?: AbortSignal | undefined },
): Promise<readonly Cell[]> {
  if (opened.kind !== 'language')
    throw new UserError(
      `${opened.run.directory} is no run of texts, so its corpus has no column ${JSON.stringify(name)}`,
    );
  const stored = readStored(opened, encoded.count);
  const known = stored.columns;
  if (Object.hasOwn(known, name)) return known[name]!;
  const watch = signal ? { signal } : {};
  const corpus = await openLanguageCorpus(opened, watch);
  try {
    const values = await corpusColumn(opened, corpus, name, watch);
    const cells = Array.from(encodedRows(encoded, corpus), (row): Cell => {
      const { value, where } = values[row]!;
      return [value ?? null, where];
    });
    const all: StoredColumns = { ...stored, columns: { ...known, [name]: cells } };
    storeIfWritable(opened.run, FILE, all as unknown as JsonValue);
    return cells;
  } finally {
    corpus.close();
  }
}

function readStored(opened: OpenedRun, count: number): StoredColumns {
  const created = opened.run.identity;
  const stored = opened.run.files.readIfWhole<StoredColumns>(FILE);
  if (stored?.format === FORMAT && stored.created === created && stored.count === count) return stored;
  return { format: FORMAT, created, count, columns: {} };
}
