export { type LanguageConfig, languageConfigSchema } from './config.ts';
export * from './evaluation.ts';
export { exportLanguage } from './export.ts';
export type { LanguageKind, LanguageNetwork, ReadTexts } from './network.ts';
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
export { LanguageTexts, type WritingOptions } from './texts.ts';
export { LanguageTraining } from './training.ts';
export { WALK_FORMATS, type WalkFormat, type WalkRow, type WalkSink, walkSink } from './walk-files.ts';
