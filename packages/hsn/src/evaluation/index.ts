export * from './graph-statistics.ts';
export * from './ranking.ts';
export * from './recovery.ts';
export * from './synthetic.ts';
