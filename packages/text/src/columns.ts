import { UserError } from '@hidden-schema/base';
import type { TextSettings } from './settings.ts';

/** Which columns of a table hold text and label; label is absent where the table has none. */
export interface Columns {
  text: string;
  label: string | undefined;
}

/** How columns are found: those of the settings, and further ones. */
export type ColumnSettings = Pick<TextSettings, 'textColumn' | 'timeColumn'> & {
  /** Null where the table has no labels, whatever its columns are called. */
  labelColumn?: string | null;
  /** Columns whose values are wanted too, by name. */
  further?: readonly string[];
};

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
