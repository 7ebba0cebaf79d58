import { isUtf8 } from 'node:buffer';
import { asyncBufferFromFile, type FileMetaData, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { firstBadByte } from '../corpus/lines.ts';
import { UserError } from '../errors.ts';
import { findColumns } from './columns.ts';
import { tableRecord } from './records.ts';
import type { CorpusReport } from './report.ts';
import type { TextRecord, TextSettings } from './settings.ts';

/** Rows of a Parquet file, two columns of one row group at a time. */
export async function* parquetRecords(
  source: { file: string; name: string; onBytes?: (count: number) => void },
  settings: TextSettings,
  report: CorpusReport,
): AsyncGenerator<TextRecord> {
  const { file, metadata } = await open(source.file, source.name);
  const names = topLevelColumns(metadata);
  const { text, label } = findColumns(names, settings, source.name);
  const columns = label === undefined || label === text ? [text] : [text, label];
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await readGroup(source.name, () =>
      // Strings are kept as bytes here, so that the policy for bad UTF-8 decides and not the decoder.
      parquetReadObjects({
        file,
        metadata,
        columns,
        rowStart,
        rowEnd,
        parsers: { stringFromBytes: (bytes: Uint8Array) => bytes },
      }),
    );
    for (const [i, row] of rows.entries()) {
      const number = rowStart + i + 1;
      const decoded = decodeRow(row, columns, `${source.name}:${number}`, report);
      report.lines++;
      if (decoded) yield tableRecord(decoded, names, settings, `${source.name}:${number}`, number);
    }
    source.onBytes?.(Number(group.total_byte_size));
    rowStart = rowEnd;
  }
}

async function open(file: string, name: string) {
  try {
    const buffer = await asyncBufferFromFile(file);
    return { file: buffer, metadata: await parquetMetadataAsync(buffer) };
  } catch (error) {
    throw new UserError(`${name} is not a Parquet file that can be read: ${(error as Error).message}`);
  }
}

async function readGroup<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const { message } = error as Error;
    const hint = /compress|codec/i.test(message) ? '; write it with snappy or no compression' : '';
    throw new UserError(`${name} cannot be read: ${message.split('\n')[0]}${hint}`);
  }
}

/** Children of the root, by its count of them and theirs. */
function topLevelColumns({ schema }: FileMetaData): string[] {
  const names: string[] = [];
  const end = (at: number): number => {
    let next = at + 1;
    for (let child = 0; child < (schema[at]?.num_children ?? 0); child++) next = end(next);
    return next;
  };
  for (let at = 1; at < schema.length; at = end(at)) names.push(schema[at]!.name);
  return names;
}

/** Bytes of the given columns as text by the policy; nothing where the row is to be left out. */
function decodeRow(
  row: Record<string, unknown>,
  columns: readonly string[],
  where: string,
  report: CorpusReport,
): Record<string, unknown> | undefined {
  const out: Record<string, unknown> = {};
  let bad = false;
  for (const column of columns) {
    const value = row[column];
    out[column] = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
    if (!(value instanceof Uint8Array) || isUtf8(value)) continue;
    bad = true;
    if (report.badUtf8.policy !== 'error') continue;
    const at = firstBadByte(Buffer.from(value));
    throw new UserError(
      `${where}:${at + 1} is not valid UTF-8 in column "${column}" (byte 0x${value[at]!.toString(16).padStart(2, '0')}); mend the file, or choose --on-bad-utf8 replace or skip`,
    );
  }
  if (bad) report.badUtf8.lines++;
  return bad && report.badUtf8.policy === 'skip' ? undefined : out;
}
