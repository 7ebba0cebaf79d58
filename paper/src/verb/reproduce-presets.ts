import type { PresetName } from '../reproduction/presets/preset.ts';

/** What --settings names: a table's own settings, which it has unless told, or a preset. */
export async function settingsFlag<Own extends string>(
  table: string,
  own: Own,
  given: string = own,
): Promise<Own | PresetName> {
  const { UserError } = await import('@hidden-schema/base');
  // Version 0.2 called the paper's so.
  if (given === 'paper' || given === 'written') return 'paper';
  if (given === 'authors' || given === own) return given as Own | 'authors';
  throw new UserError(`${table} takes --settings ${own}, paper or authors, got "${given}"`);
}
