import { Run } from '@hidden-schema/hsn';
import { LanguageAnswers } from './language-answers.ts';
import { ReasoningAnswers } from './reasoning-answers.ts';
import { SyntheticAnswers } from './synthetic-answers.ts';
import type { TaskHandlers } from './tasks.ts';

/** What answers for a run, by its kind of model; `say` is told what takes time. */
export function answersOf(directory: string, say: (text: string) => void): TaskHandlers {
  const { model } = Run.open(directory).config;
  if (model === 'reasoning') return new ReasoningAnswers(directory, say);
  return model === 'language' ? new LanguageAnswers(directory, say) : new SyntheticAnswers(directory);
}
