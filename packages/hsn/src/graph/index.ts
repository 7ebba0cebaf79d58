export * from './bernoulli.ts';
export * from './build.ts';
export * from './closed-form.ts';
export * from './likely.ts';
export * from './pairs.ts';
export * from './posterior.ts';
export * from './prior.ts';
