export * from './curves.ts';
export * from './experiments.ts';
export * from './fit.ts';
export * from './report.ts';
export * from './table1.ts';
