import type { z } from 'zod';
import type { Analysis } from './analysis.ts';

export type { Analysis, Report } from './analysis.ts';
export { optionForms } from './option-forms.ts';

/** Every analysis, loaded when it is asked for. To add one: its file in this folder, and its line here. */
export const analyses = {
  /** Which symbols and links one group of texts has more of than the others, with intervals and corrected p-values. */
  compare: () => import('./compare.ts').then(({ compare }) => compare),
} as const;

/** The name of an analysis. */
export type AnalysisName = keyof typeof analyses;
type Declared<N extends AnalysisName> = Awaited<ReturnType<(typeof analyses)[N]>>;
/** The options of an analysis, as callers give them. */
export type AnalysisOptions<N extends AnalysisName> = z.input<Declared<N>['options']>;
/** What an analysis gives. */
export type AnalysisResult<N extends AnalysisName> =
  Declared<N> extends Analysis<infer _, infer R, infer __> ? R : never;
/** The option that a method takes first, `never` where there is none. */
export type FirstOption<N extends AnalysisName> =
  Declared<N> extends Analysis<infer _, infer __, infer F> ? F : never;

/** An analysis by its name. */
export const loadAnalysis = (name: AnalysisName): Promise<Analysis> =>
  // Names and options are checked where they are given; here every analysis is alike.
  analyses[name]() as unknown as Promise<Analysis>;
