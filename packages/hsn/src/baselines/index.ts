export * from './baum-welch.ts';
export * from './counting.ts';
export * from './links.ts';
export * from './lstm.ts';
