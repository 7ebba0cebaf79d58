import type { LanguageEvaluationOptions, LanguageFigures, SyntheticEvaluation } from '@hidden-schema/hsn';
import type { EncodingOptions, TableFormat } from '@hidden-schema/studies';
import type { AnalysisOptions } from '@hidden-schema/studies/analyses';
import type { AnalysisWatching } from './analysis-methods.ts';

/** Which of a run's models is opened. */
export interface OpenOptions {
  /** `best` (the default), `last`, or a step. */
  checkpoint?: 'best' | 'last' | number;
  /**
   * Where the run's corpus is, if it was moved or the run came from elsewhere; a list where files were added to it. Taken
   * where its content is that which the run was trained on, and remembered.
   */
  corpus?: string | readonly string[];
}

/** How much is evaluated. */
export interface EvaluateOptions extends LanguageEvaluationOptions {
  /** Another corpus than the run was trained on: a file or a folder. */
  corpus?: string;
  /** Aborting ends the reading of the corpus. */
  signal?: AbortSignal;
}

/** How much is found, and among which texts. */
export type FindOptions = Omit<AnalysisOptions<'find'>, 'phrase'> & AnalysisWatching;
/** Which groups of texts are compared. */
export type CompareOptions = AnalysisOptions<'compare'> & AnalysisWatching;
/** Where dates are, and how long periods. */
export type TimeOptions = AnalysisOptions<'time'> & AnalysisWatching;

/** How a table is written. */
export interface ExportOptions extends EncodingOptions {
  /** By the file's ending unless given. */
  format?: TableFormat;
  /** Share of the texts that is marked as unsure; 0.05 unless given. */
  unsure?: number;
  /** Texts: further columns of the corpus' table. */
  columns?: readonly string[];
}

/** The figures of a model of texts, or of a synthetic language. */
export type Figures = LanguageFigures | SyntheticEvaluation;
