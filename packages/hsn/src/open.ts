import { Run } from './run/run.ts';
import { type OpenedLanguage, openLanguage } from './tasks/language/open.ts';
import { type OpenedModel, openModel } from './tasks/synthetic/open.ts';
import { SyntheticTexts } from './tasks/synthetic/texts.ts';
import { type OpenedReasoning, openReasoning } from './tasks/tuples/open.ts';
import { TupleTexts } from './tasks/tuples/texts.ts';
import type { BestWalk } from './walk/index.ts';

/** Reads sentences, or tuples, as the run they were trained on has them: the most probable walk of each. */
export interface WalkReader {
  /** `cut` counts texts longer than the encoder reads. */
  read(texts: readonly string[]): Promise<{ walks: BestWalk[]; cut: number }>;
}

/** A run of any kind at a checkpoint; free it with `model.free()`. */
export type OpenedRun =
  | (OpenedModel & { kind: 'synthetic'; texts: WalkReader })
  | (OpenedLanguage & { kind: 'language' })
  | (OpenedReasoning & { kind: 'reasoning'; texts: WalkReader });

/** Opens a run, whatever it was trained on, at a checkpoint: `best`, `last` or a step. */
export async function open(directory: string, given: { checkpoint?: string } = {}): Promise<OpenedRun> {
  const { model: kind } = Run.open(directory).config;
  if (kind === 'language') return { kind, ...(await openLanguage(directory, given)) };
  if (kind === 'reasoning') {
    const opened = await openReasoning(directory, given);
    return { kind, ...opened, texts: new TupleTexts(opened) };
  }
  const opened = openModel(directory, given);
  return { kind, ...opened, texts: new SyntheticTexts(opened.model, opened.corpus) };
}
