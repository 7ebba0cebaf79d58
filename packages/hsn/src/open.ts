import { UserError } from '@hidden-schema/base';
import { isRival, rivalNames } from './config/rivals.ts';
import { Run } from './run/run.ts';
import type { OpenedLanguage } from './tasks/language/open.ts';
import type { OpenedModel } from './tasks/synthetic/open.ts';
import type { OpenedReasoning } from './tasks/tuples/open.ts';
import type { BestWalk } from './walk/best.ts';

/** Reads sentences, or tuples, as the run they were trained on has them: the most probable walk of each. */
export interface WalkReader {
  /**
   * `cut` counts texts longer than the encoder reads; `known` those whose vectors the cache had, where `remember` asks for
   * it and the model reads texts as vectors.
   */
  read(
    texts: readonly string[],
    options?: { remember?: boolean },
  ): Promise<{ walks: BestWalk[]; cut: number; known?: number }>;
}

/** What every run has, whatever it was trained on. */
interface AnyRun {
  /** K and L. */
  symbols: number;
  length: number;
  /** What its data are labelled with: names of classes, or relations. */
  labels: readonly string[];
  texts: WalkReader;
}

export type SyntheticRun = OpenedModel & AnyRun & { kind: 'synthetic' };
export type LanguageRun = OpenedLanguage & AnyRun & { kind: 'language' };
export type ReasoningRun = OpenedReasoning & AnyRun & { kind: 'reasoning' };

/** A run of any kind at a checkpoint; free it with `model.free()`. */
export type OpenedRun = SyntheticRun | LanguageRun | ReasoningRun;

/** Opens a run, whatever it was trained on, at a checkpoint: `best`, `last` or a step; loads the code of its kind alone. */
export async function open(directory: string, options: { checkpoint?: string } = {}): Promise<OpenedRun> {
  const { config } = Run.open(directory);
  if (isRival(config)) throw withoutWalks(directory, config.model);
  const { model: kind } = config;
  if (kind === 'language') {
    const { openLanguage } = await import('./tasks/language/open.ts');
    const opened = await openLanguage(directory, options);
    return { kind, ...opened, ...sizesOf(opened) };
  }
  if (kind === 'reasoning') {
    const { openReasoning } = await import('./tasks/tuples/open.ts');
    const { TupleTexts } = await import('./tasks/tuples/texts.ts');
    const opened = await openReasoning(directory, options);
    const texts = new TupleTexts(opened);
    return { kind, ...opened, ...sizesOf(opened), labels: opened.relations, texts };
  }
  const { openSyntheticRun, SyntheticTexts } = await import('./tasks/synthetic/open.ts');
  const opened = openSyntheticRun(directory, options);
  const notes = [...opened.corpus.notes, ...opened.notes];
  const texts = new SyntheticTexts(opened.model, opened.corpus);
  return { kind, ...opened, ...sizesOf(opened), notes, labels: [], texts };
}

/** That a run has no walks: what there is to look at instead. */
function withoutWalks(directory: string, model: keyof typeof rivalNames): UserError {
  return new UserError(
    `${directory} is a run of ${rivalNames[model]}, which has no graph and no walks; it can do hsn eval, hsn generate (--like, --prior) and hsn interpolate`,
  );
}

const sizesOf = ({ model }: { model: { shape: { symbols: number; length: number } } }) => ({
  symbols: model.shape.symbols,
  length: model.shape.length,
});
