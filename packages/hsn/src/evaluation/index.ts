export * from './figures.ts';
export * from './graph-statistics.ts';
export * from './layout.ts';
export * from './ranking.ts';
export * from './recovery.ts';
export * from './showcase.ts';
export * from './synthetic.ts';
export * from './tables.ts';
