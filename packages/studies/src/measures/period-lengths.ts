/** Lengths of a period, shortest first. */
export const PERIODS = [
  'day',
  'week',
  'month',
  'quarter',
  'year',
  'lustrum',
  'decade',
  'quarter century',
  'century',
] as const;
export type PeriodLength = (typeof PERIODS)[number];
