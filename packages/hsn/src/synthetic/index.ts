export * from './batch.ts';
export * from './network.ts';
export * from './open.ts';
export * from './task.ts';
export * from './training.ts';
