export * from './experiments.ts';
export * from './report.ts';
export * from './table1.ts';
