import type { ColumnSettings } from './columns.ts';
import type { TextFormat, TextSettings } from './settings.ts';

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
