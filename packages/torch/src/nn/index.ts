export * from './attention.ts';
export * from './layers.ts';
export * from './lstm.ts';
export * from './module.ts';
