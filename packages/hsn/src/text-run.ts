import type { LanguageConfig } from './config/language.ts';
import { isRival, type RivalConfig } from './config/rivals.ts';
import { languageConfig, type RunConfig } from './config/settings.ts';
import type { RivalFigures } from './rivals/evaluation.ts';
import type { PreparedRival } from './rivals/task.ts';
import type { Run } from './run/run.ts';
import { type PreparedLanguage, prepareLanguage } from './tasks/language/prepare.ts';
import type { PrepareOptions, TextInput } from './tasks/language/prepare-texts.ts';
import { type LanguageFigures, LanguageTask } from './tasks/language/task.ts';
import { createLanguageRun } from './tasks/language/text-record.ts';
import type { Replicas } from './train/replicas.ts';
import type { Task } from './train/task.ts';

/** The settings of a model of texts: a Hidden Schema Network, or one it is compared with. */
export type TextRunConfig = LanguageConfig | RivalConfig;

/** A model of texts, ready for a run: what training asks of it, whichever it is. */
export type PreparedRun = (PreparedLanguage | PreparedRival) & {
  task(replicas?: Replicas): Task<LanguageFigures | RivalFigures>;
  create(directory: string, options?: { force?: boolean }): Run;
};

/** The settings, where they are those of a model of texts; refused otherwise. */
export const textRunConfig = (config: RunConfig, what?: string): TextRunConfig =>
  isRival(config) ? config : languageConfig(config, what);

/** Reads and tokenises a corpus and makes the model that the settings name. */
export async function prepareTextRun(
  config: TextRunConfig,
  source: TextInput,
  options: PrepareOptions = {},
): Promise<PreparedRun> {
  if (isRival(config)) {
    // Trainings of the network itself do without them.
    const { prepareRival, RivalTask } = await import('./rivals/task.ts');
    const prepared = await prepareRival(config, source, options);
    return {
      ...prepared,
      task: (replicas) => new RivalTask(prepared, replicas),
      create: (directory, how) => createLanguageRun(directory, prepared, how),
    };
  }
  const prepared = await prepareLanguage(config, source, options);
  return {
    ...prepared,
    task: (replicas) => new LanguageTask(prepared, replicas),
    create: (directory, how) => createLanguageRun(directory, prepared, how),
  };
}
