import type { LanguageEvaluationOptions, LanguageFigures, SyntheticEvaluation } from '@hidden-schema/hsn';
import type { EncodingOptions, PeriodLength, TableFormat } from '@hidden-schema/studies';

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

/** A text read into its walk. */
export interface EncodedText {
  /** As it was given. */
  text: string;
  /** The most probable walk on the expected graph, as numbers of symbols. [L] */
  walk: number[];
  /** The probability of each symbol given the one before. [L] */
  steps: number[];
  /** Of the whole walk given the text: the product of its steps. */
  probability: number;
}

/** How much is evaluated. */
export interface EvaluateOptions extends LanguageEvaluationOptions {
  /** Another corpus than the run was trained on: a file or a folder. */
  corpus?: string;
  /** Aborting ends the reading of the corpus. */
  signal?: AbortSignal;
}

/** How much is found, and among which texts. */
export interface FindOptions extends EncodingOptions {
  /** How many symbols, walks and texts; 5 unless given. */
  top?: number;
}

/** Which groups of texts are compared. */
export interface CompareOptions extends EncodingOptions {
  /** A column of the corpus' table; the labels unless given. */
  by?: string;
  /** Two groups to compare with each other; without them each is compared with the rest. */
  groups?: readonly [string, string];
}

/** Where dates are, and how long periods. */
export interface TimeOptions extends EncodingOptions {
  /** The column with the dates; the one that training was told of unless given. */
  column?: string;
  /** How long periods are; by how many texts and years there are unless given. */
  period?: PeriodLength;
}

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
