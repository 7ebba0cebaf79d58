import { jsonRecords } from './json-records.ts';
import { textLines } from './lines.ts';
import type { RecordReader } from './record-source.ts';
import type { TextRecord } from './settings.ts';
import { tableRecords } from './table-records.ts';

/** One sentence a line. */
async function* plainRecords(
  ...[source, _settings, report]: Parameters<RecordReader>
): AsyncGenerator<TextRecord> {
  for await (const lines of textLines(source, report))
    for (const { text, number, cut, skip } of lines)
      if (!skip) yield { text, label: undefined, line: number, cut };
}

export const lineReaders: Record<'text' | 'tsv' | 'csv' | 'jsonl' | 'json', RecordReader> = {
  text: plainRecords,
  tsv: tableRecords,
  csv: tableRecords,
  jsonl: jsonRecords,
  json: jsonRecords,
};
