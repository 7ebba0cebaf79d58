export { type BestWalk, bestWalks } from './best-walks.ts';
export { type LanguageConfig, languageConfigSchema } from './config.ts';
export * from './evaluation.ts';
export { exportLanguage } from './export.ts';
export { LanguageNetwork } from './model.ts';
export { type OpenedLanguage, openLanguage, openLanguageCorpus } from './open.ts';
export {
  createLanguageRun,
  type PreparedLanguage,
  type PrepareOptions,
  prepareLanguage,
  type TextInput,
  textFingerprint,
  textInput,
  textRecord,
} from './prepare.ts';
export { type LanguageFigures, LanguageTask, languageFigures } from './task.ts';
export { expectedGraph, LanguageTexts, type WritingOptions } from './texts.ts';
export { LanguageTrainer } from './trainer.ts';
export { WALK_FORMATS, type WalkFormat, type WalkRow, type WalkSink, walkSink } from './walk-files.ts';
