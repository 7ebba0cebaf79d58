import type { z } from 'zod';
import type { Analysis } from './analysis.ts';

export type { Analysis, Report } from './analysis.ts';

/** Every analysis, loaded when it is asked for. To add one: its file in this folder, and its line here. */
export const analyses = {
  /** What each symbol means: its words, texts, labels and neighbours. */
  symbols: () => import('./symbols.ts').then(({ symbols }) => symbols),
  /** What one symbol means, by its number or name. */
  meaning: () => import('./meaning.ts').then(({ meaning }) => meaning),
  /** The symbols merged into as many groups as asked for, a level each, by their vectors and links; the run stays as it is. */
  levels: () => import('./levels.ts').then(({ levels }) => levels),
  /** The symbols, walks and texts of the run's corpus that are nearest to a phrase. */
  find: () => import('./find.ts').then(({ find }) => find),
  /** Which symbols and links one group of texts has more of than the others, with intervals and corrected p-values. */
  compare: () => import('./compare.ts').then(({ compare }) => compare),
  /** Shares of symbols and links over time, with intervals and bursts. */
  time: () => import('./time.ts').then(({ time }) => time),
  /** Where the walks of each label go, over symbols and links, and how far labels diverge. */
  labels: () => import('./labels.ts').then(({ labels }) => labels),
  /** Which symbols and links predict the label, and how well in texts that were not seen; `by` is another column. */
  predict: () => import('./predict.ts').then(({ predict }) => predict),
  /** Which words of a text carry which symbol of its walk, by leaving each out in turn. */
  explain: () => import('./explain.ts').then(({ explain }) => explain),
  /** How often the first symbol of a text changes without the words that are said to carry it. */
  faithfulness: () => import('./faithfulness.ts').then(({ faithfulness }) => faithfulness),
  /** Which symbols the decoder attends to when it generates some words, and how far words differ in that. */
  attend: () => import('./attend.ts').then(({ attend }) => attend),
  /** Texts read into walks; the same text always has the same, and one without words an empty one. */
  encode: () => import('./encode.ts').then(({ encode }) => encode),
  /** Texts about a walk, or about the walk of another text. */
  generate: () => import('./generate.ts').then(({ generate }) => generate),
  /** The way from one text to another over the graph, each step of it written out. */
  interpolate: () => import('./interpolate.ts').then(({ interpolate }) => interpolate),
  /** All tables and figures of the run as one HTML page that needs nothing else. */
  report: () => import('./report.ts').then(({ report }) => report),
  /** Statistics of the inferred graph beside those of random graphs. */
  statistics: () => import('./statistics.ts').then(({ statistics }) => statistics),
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
