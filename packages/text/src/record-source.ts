import { UserError } from '@hidden-schema/base';
import { type ColumnSettings, describe, namingText } from './columns.ts';
import type { CorpusReport } from './corpus-report.ts';
import type { LineSource } from './lines.ts';
import type { TextRecord, TextSettings } from './settings.ts';
import type { TableLayout } from './table-layout.ts';

/** How records are read, with the further columns that are wanted of them. */
export type RecordSettings = TextSettings & Pick<ColumnSettings, 'further'>;

/** A file of records, and how its columns are found where it is a table. */
export interface RecordSource extends LineSource {
  layout: TableLayout;
}

export type RecordReader = (
  source: RecordSource,
  settings: RecordSettings,
  report: CorpusReport,
) => AsyncGenerator<TextRecord>;

/** A row of a table whose values carry their types. */
export function typedRecord(
  values: { text: unknown; label: unknown; values?: readonly unknown[] | undefined },
  column: string,
  where: string,
  line: number,
): TextRecord {
  const text = values.text ?? '';
  if (typeof text !== 'string')
    throw new UserError(`${where} has a "${column}" that is ${describe(text)}; expected text`);
  const label = namingText(values.label, where, 'label');
  if (!values.values) return { text, label, line };
  return { text, label, line, values: values.values.map((value) => namingText(value, where, 'value')) };
}
