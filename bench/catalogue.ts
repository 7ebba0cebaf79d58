import type { Bench } from './measure.ts';

interface Entry {
  load(): Promise<Bench>;
  /** Minutes of a run of all, at its usual budget; 0 where it runs by name alone. */
  readonly minutes: number;
  /** Seconds below which it cannot say anything. */
  readonly least: number;
}

/**
 * Every benchmark by the name that runs it, those that answer the list of goals first: where time is short, the last are
 * left out. A new one is a module with `run` and a line here.
 */
export const benches: Readonly<Record<string, Entry>> = {
  start: { load: () => import('./start.ts'), minutes: 1.5, least: 15 },
  engine: { load: () => import('./engine.ts'), minutes: 4, least: 15 },
  encoding: { load: () => import('./encoding.ts'), minutes: 3.5, least: 20 },
  picture: { load: () => import('./picture.ts'), minutes: 5, least: 30 },
  language: { load: () => import('./language.ts'), minutes: 7, least: 40 },
  many: { load: () => import('./many.ts'), minutes: 4, least: 20 },
  decoder: { load: () => import('./decoder.ts'), minutes: 2, least: 15 },
  growth: { load: () => import('./growth.ts'), minutes: 3, least: 10 },
  distributed: { load: () => import('./distributed.ts'), minutes: 1.5, least: 10 },
  peak: { load: () => import('./peak.ts'), minutes: 0.7, least: 8 },
  walk: { load: () => import('./walk.ts'), minutes: 2.5, least: 10 },
  generation: { load: () => import('./generation.ts'), minutes: 2.5, least: 15 },
  checkpoints: { load: () => import('./checkpoints.ts'), minutes: 1, least: 25 },
  load: { load: () => import('./load.ts'), minutes: 0.7, least: 30 },
  frames: { load: () => import('./frames.ts'), minutes: 0.8, least: 30 },
  prebuilt: { load: () => import('./prebuilt.ts'), minutes: 0, least: 0 },
  versions: { load: () => import('./versions.ts'), minutes: 0, least: 0 },
  scaling: { load: () => import('./scaling.ts'), minutes: 0, least: 0 },
  streamed: { load: () => import('./streamed.ts'), minutes: 0, least: 0 },
  sentences: { load: () => import('./sentences.ts'), minutes: 0.8, least: 30 },
};
