import { UserError } from '@hidden-schema/base';
import { findColumns } from './columns.ts';
import type { CorpusReport } from './corpus-report.ts';
import { ParquetThread, type Waiting } from './parquet-thread.ts';
import type { ParquetPiece } from './parquet-worker.ts';
import { type RecordSettings, typedRecord } from './record-source.ts';
import type { TextRecord } from './settings.ts';
import { firstBadByte } from './utf8.ts';

export interface ParquetFile extends Waiting {
  file: string;
  onBytes?: (count: number) => void;
}

/** Rows of a Parquet file, the columns wanted of one row group at a time, read by a thread that can be stopped. */
export async function* parquetRecords(
  source: ParquetFile,
  settings: RecordSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  const thread = ParquetThread.take();
  try {
    const header = await thread.ask({ file: source.file, longestText: settings.longestLine }, source);
    if (!('names' in header)) return;
    const { text, label } = findColumns(header.names, settings, source.name);
    const columns = [
      ...new Set([text, ...(label === undefined ? [] : [label]), ...(settings.further ?? [])]),
    ];
    const labelAt = label === undefined ? -1 : columns.indexOf(label);
    const further = settings.further?.map((name) => columns.indexOf(name));
    const place: Place = { name: source.name, columns, labelAt, further, before: 0 };
    let answer = await thread.ask({ columns }, source);
    for (; 'piece' in answer; answer = await thread.ask('next', source)) {
      const { piece } = answer;
      yield* pieceRecords(piece, place, report);
      place.before += piece.rows.length;
      source.onBytes?.(piece.bytes);
    }
  } finally {
    await thread.release();
  }
}

/** Where rows stand: in which columns of which file, after how many others. */
interface Place {
  name: string;
  columns: readonly string[];
  /** Number of the label's column, which may be that of the text; -1 without labels. */
  labelAt: number;
  /** Those of the further columns, where some are wanted. */
  further: number[] | undefined;
  before: number;
}

function* pieceRecords(
  { rows, cut }: ParquetPiece,
  place: Place,
  report: CorpusReport,
): Generator<TextRecord> {
  const short = new Set(cut);
  for (const [at, row] of rows.entries()) {
    const line = place.before + at + 1;
    const where = `${place.name}:${line}`;
    report.lines++;
    const decoded = decodeRow(row, place.columns, where, report);
    if (!decoded) continue;
    const label = place.labelAt < 0 ? undefined : decoded[place.labelAt];
    const values = place.further?.map((column) => decoded[column]);
    yield {
      ...typedRecord({ text: decoded[0], label, values }, place.columns[0]!, where, line),
      cut: short.has(at),
    };
  }
}

/** Bytes that are not UTF-8 as text by the policy; nothing where the row is to be left out. */
function decodeRow(
  row: readonly unknown[],
  columns: readonly string[],
  where: string,
  report: CorpusReport,
): unknown[] | undefined {
  let bad = false;
  const decoded = row.map((value, at) => {
    if (!(value instanceof Uint8Array)) return value;
    bad = true;
    const bytes = Buffer.from(value);
    if (report.badUtf8.policy !== 'error') return bytes.toString('utf8');
    const first = firstBadByte(bytes);
    throw new UserError(
      `${where}:${first + 1} is not valid UTF-8 in column "${columns[at]}" (byte 0x${bytes[first]!.toString(16).padStart(2, '0')}); mend the file, or choose --on-bad-utf8 replace or skip`,
    );
  });
  if (bad) report.badUtf8.lines++;
  return bad && report.badUtf8.policy === 'skip' ? undefined : decoded;
}
