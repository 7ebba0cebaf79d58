import type { Reproduced, ReproduceFlags } from './reproduce.ts';

/** Of the names whose result is tables, figures and a text. */
export async function reproduced(name: string, flags: ReproduceFlags): Promise<Reproduced> {
  if (name === 'table1') return (await import('./reproduce-table1.ts')).reproduceTable1(flags);
  if (name === 'table2') return (await import('./reproduce-table2.ts')).reproduceTable2(flags);
  return (await import('./reproduce-language.ts')).reproduceLanguage(name, flags);
}
