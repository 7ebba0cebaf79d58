export * from './batch.ts';
export * from './trainer.ts';
