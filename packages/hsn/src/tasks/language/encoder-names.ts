import { DEFAULT_ENCODER } from '@hidden-schema/transformers/default-encoder';

/** The folder of a run that has its own encoder. */
export const ENCODER_FOLDER = 'encoder';

/** Whether a name stands for an encoder that is distilled from another one and fitted to the corpus. */
export const isFast = (name: string): boolean => name === 'fast' || name.startsWith('fast:');

/** The encoder that `fast` is distilled from: the default one, or that named after the colon. */
export const teacherOf = (name: string): string =>
  name === 'fast' ? DEFAULT_ENCODER : name.slice('fast:'.length);
