export * from './config.ts';
export * from './corpus/index.ts';
export * from './errors.ts';
export * from './evaluation/index.ts';
export * from './graph/index.ts';
export * from './model.ts';
export * from './trainer/index.ts';
export * from './walk/index.ts';
