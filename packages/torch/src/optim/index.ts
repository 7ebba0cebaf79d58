export * from './adam.ts';
export * from './clip.ts';
export * from './schedule.ts';
