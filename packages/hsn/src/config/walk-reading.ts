import type { LanguageConfig } from './language.ts';

/** Whether walks are read by pursuit; a baseline has none. */
export const usesPursuit = (config: Pick<LanguageConfig, 'baseline' | 'encoder'>): boolean =>
  !config.baseline && config.encoder.walks === 'pursuit';
