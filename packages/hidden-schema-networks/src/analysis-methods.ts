import type { OpenedRun } from '@hidden-schema/hsn';
import { askAnalysis, type EncodingOptions, RunSource, type SourceOptions } from '@hidden-schema/studies';
import {
  type Analysis,
  type AnalysisName,
  type AnalysisOptions,
  type AnalysisResult,
  analyses,
  type FirstOption,
  loadAnalysis,
} from '@hidden-schema/studies/analyses';
import type { z } from 'zod';
import { inOptions } from './option-names.ts';

/** Who is told how far an analysis is, and who may stop it. */
export type AnalysisWatching = Pick<EncodingOptions, 'signal' | 'onProgress'> &
  Pick<SourceOptions, 'onToken'>;

/** The method of an analysis: what it takes first, where there is such an option, and the others by their names. */
export type AnalysisMethod<N extends AnalysisName> = [FirstOption<N>] extends [never]
  ? (options?: AnalysisOptions<N> & AnalysisWatching) => Promise<AnalysisResult<N>>
  : (
      first: AnalysisOptions<N>[FirstOption<N> & keyof AnalysisOptions<N>],
      options?: Omit<AnalysisOptions<N>, FirstOption<N>> & AnalysisWatching,
    ) => Promise<AnalysisResult<N>>;

/** Analyses whose methods `Schema` has in a handier form; that of `symbols` is `describe`. */
type OwnMethod = 'symbols' | 'encode' | 'generate' | 'interpolate';

/** A method for every other analysis, under its name. */
export type AnalysisMethods = {
  [N in keyof typeof analyses as Exclude<N, OwnMethod>]: AnalysisMethod<N>;
};

/** Asks analyses of an open run. */
class Asking {
  readonly #opened: () => OpenedRun;

  constructor(opened: () => OpenedRun) {
    this.#opened = opened;
  }

  /**
   * Asks an analysis of your own, declared with `analysis` of hidden-schema-networks/studies.
   *
   * @example
   * const result = await schema.ask(mine, { top: 3 });
   */
  async ask<Options extends z.ZodObject, Result, First extends string>(
    analysis: Analysis<Options, Result, First>,
    options: z.input<Options> & AnalysisWatching,
  ): Promise<Result> {
    const { signal, onProgress, onToken, ...asked } = options as Record<string, unknown> & AnalysisWatching;
    const progress = onProgress && (() => onProgress);
    const source = new RunSource(this.#opened(), { signal, onToken, progress });
    try {
      return await inOptions(() => askAnalysis(analysis, source, asked));
    } finally {
      source.close();
    }
  }
}

for (const name of Object.keys(analyses) as AnalysisName[])
  Object.defineProperty(Asking.prototype, name, {
    configurable: true,
    writable: true,
    async value(this: Asking, ...given: unknown[]) {
      const analysis = await loadAnalysis(name);
      const first = analysis.first === undefined ? {} : { [analysis.first]: given.shift() };
      return this.ask(analysis, { ...(given[0] as object | undefined), ...first });
    },
  });

/** The base of `Schema`, with a method for each line of the table of analyses. */
export const Analysed = Asking as unknown as new (opened: () => OpenedRun) => Asking & AnalysisMethods;
