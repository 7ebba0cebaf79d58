import { UserError } from '@hidden-schema/base';
import type { LineSource } from './lines.ts';
import type { TextFormat, TextRecord, TextSettings } from './settings.ts';

/** Which columns of a table hold text and label; label is absent where the table has none. */
export interface Columns {
  text: string;
  label: string | undefined;
}

/** How columns are found: those of the settings, and further ones. */
export interface ColumnSettings {
  textColumn?: string | undefined;
  timeColumn?: string | undefined;
  /** Null where the table has no labels, whatever its columns are called. */
  labelColumn?: string | null | undefined;
  /** Columns whose values are wanted too, by name. */
  further?: readonly string[] | undefined;
}

/** Finds the columns by name; a missing one is named with those that are there. */
export function findColumns(
  names: readonly string[],
  { textColumn = 'text', labelColumn, timeColumn, further = [] }: ColumnSettings,
  where: string,
): Columns {
  for (const [choose, wanted] of [
    ['choose one with --text-column', textColumn],
    ['choose one with --label-column', labelColumn],
    ['choose one with --time-column', timeColumn],
    ...further.map((name) => ['choose one of them', name] as const),
  ] as const) {
    if (wanted === undefined || wanted === null || names.includes(wanted)) continue;
    const shown = names.slice(0, 12).map((name) => JSON.stringify(name.slice(0, 40)));
    const there = `${shown.join(', ')}${names.length > 12 ? ', …' : ''}`;
    throw new UserError(
      `${where} has no column ${JSON.stringify(wanted)}; its columns are ${there || 'none'}: ${choose}`,
    );
  }
  if (labelColumn === null) return { text: textColumn, label: undefined };
  return { text: textColumn, label: labelColumn ?? (names.includes('label') ? 'label' : undefined) };
}

/** A value that names something, such as a label or a date, as text; null and absent are none. */
export function namingText(value: unknown, where: string, what: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  throw new UserError(
    `${where} has a ${what} that is ${describe(value)}; expected text, a number or a truth value`,
  );
}

export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The value of a column of a JSON object: of the key, or along a path of keys such as `content.body`. */
export function valueAt(row: object, column: string): unknown {
  if (Object.hasOwn(row, column)) return (row as Record<string, unknown>)[column];
  let value: unknown = row;
  for (const key of column.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** How records are read, with the further columns that are wanted of them. */
export type RecordSettings = TextSettings & Pick<ColumnSettings, 'further'>;

/** A file of records, and how its columns are found where it is a table. */
export interface RecordSource extends LineSource {
  layout: TableLayout;
}

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

/** How the rows of a CSV or TSV file become texts. */
export interface TableLayout {
  delimiter: string;
  /** RFC 4180: a field between quotation marks may hold delimiters and line ends. */
  quoted: boolean;
  /** Whether the first row names the columns; else their names are their numbers from 1. */
  header: boolean;
  /** No columns at all: what stands before the first delimiter is the label, and the rest of the line the text. */
  pair: boolean;
  /** Lines before the first row, such as Excel's `sep=;`. */
  skipped: number;
  /** Which columns are text and label; null for no label. By the settings and the default names where undefined. */
  text?: string;
  label?: string | null;
}

/** Whether columns are named by the settings: a TSV without is label and text, as long as nothing else is found in it. */
const namesColumns = ({ textColumn, labelColumn, timeColumn }: ColumnSettings): boolean =>
  textColumn !== undefined || labelColumn !== undefined || timeColumn !== undefined;

/** The layout that a format has by itself: what runs of 0.2.0 read their tables by. */
export function declaredLayout(format: TextFormat, settings: TextSettings): TableLayout {
  const tabs = format === 'tsv';
  const header = !tabs || namesColumns(settings);
  return { delimiter: tabs ? '\t' : ',', quoted: !tabs, header, pair: tabs && !header, skipped: 0 };
}

/** Names of the columns of a row: those that it has as a header, or numbers. */
export const columnNames = (row: readonly string[], { header }: Pick<TableLayout, 'header'>): string[] =>
  row.map((cell, at) => (header ? cell.trim() : String(at + 1)));
