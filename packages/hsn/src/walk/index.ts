export * from './aggregate.ts';
export * from './chain.ts';
export * from './gumbel.ts';
export * from './mean-field.ts';
export * from './prior.ts';
export * from './smoothing.ts';
export * from './transition.ts';
