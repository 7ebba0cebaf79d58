import { UserError } from '@hidden-schema/base';
import type { TextSettings } from './settings.ts';

/** Which columns of a table hold text and label; label is absent where the table has none. */
export interface Columns {
  text: string;
  label: string | undefined;
}

/** Finds the columns by name; a missing one is named with those that are there. */
export function findColumns(
  names: readonly string[],
  { textColumn = 'text', labelColumn }: Pick<TextSettings, 'textColumn' | 'labelColumn'>,
  where: string,
): Columns {
  for (const [flag, wanted] of [
    ['--text-column', textColumn],
    ['--label-column', labelColumn],
  ] as const) {
    if (wanted === undefined || names.includes(wanted)) continue;
    const shown = names.slice(0, 12).map((name) => JSON.stringify(name.slice(0, 40)));
    const there = `${shown.join(', ')}${names.length > 12 ? ', …' : ''}`;
    throw new UserError(
      `${where} has no column ${JSON.stringify(wanted)}; its columns are ${there || 'none'}: choose one with ${flag}`,
    );
  }
  return { text: textColumn, label: labelColumn ?? (names.includes('label') ? 'label' : undefined) };
}

/** A label's value as text; null and absent are no label. */
export function labelText(value: unknown, where: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  throw new UserError(
    `${where} has a label that is ${describe(value)}; expected text, a number or a truth value`,
  );
}

export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
