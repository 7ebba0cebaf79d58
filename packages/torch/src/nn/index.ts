export * from './attention.ts';
export * from './layers.ts';
export * from './layers.ts';
