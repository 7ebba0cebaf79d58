import type { OpenedRun } from '@hidden-schema/hsn';
import type { WritingOptions } from '@hidden-schema/hsn/tasks/language/texts';
import { z } from 'zod';
import type { NamedFigure } from '../drawing/results.ts';
import type { Sheet } from '../drawing/sheets.ts';
import type { EncodedCorpus } from '../texts/encoded.ts';

// Declarations are loaded for every help text: modules that compute are imported inside `run` and `tables`.

/** What a run must have for an analysis: texts (not tuples or a synthetic language), labels, or a trained decoder. */
export type Need = 'texts' | 'labels' | 'decoder';

/** An open run as an analysis reads it. */
export interface AnalysisSource {
  run: OpenedRun;
  /** The run's texts with their walks, `limit` at most; encoded now where they are not stored. The source closes them. */
  encoded(limit?: number): Promise<EncodedCorpus>;
  signal: AbortSignal;
  /** What goes with every writing of texts: when to stop, and who is told of each token. */
  writing: Pick<WritingOptions, 'signal' | 'onToken'>;
  /** Begins a stage whose work is counted in `unit`; what it returns is called with how much is done. */
  progress(stage: string, unit: string): (done: number, total: number) => void;
}

/** A result for people: tables, a sentence or two, and figures. */
export interface Report {
  /** Of the JSON file; the analysis' own name unless given. */
  name?: string;
  /** All tables, each of which becomes a CSV file. */
  sheets: readonly Sheet[];
  /** Those that are printed; all unless given. */
  shown?: readonly Sheet[];
  /** Printed after the tables. */
  text?: string;
  /** Printed before the tables, line by line as it is. */
  tree?: string;
  figures?: readonly NamedFigure[];
}

/** How the command line spells an option. */
export interface Flag {
  /** Of its value in the help. */
  value?: string;
  /** Of the flag, where the option's own name does not serve. */
  name?: string;
  /** What it takes, for the message about a wrong value; by its type unless given. */
  takes?: string;
  /** How the help writes it where it has no flag and stands after the run: `<phrase...>`, `[text]`. */
  argument?: string;
  /** Its verb reads it in a way of its own, as from a file. */
  own?: boolean;
}

/** An analysis of a run that changes nothing. The library, command line, HTTP API and MCP tools are made from it. */
export interface Analysis<
  Options extends z.ZodObject = z.ZodObject,
  Result = unknown,
  First extends string = string,
> {
  /** Of its endpoint, its tool and its method. */
  name: string;
  /** Of its verb on the command line; the same unless given. */
  verb?: string;
  /** One line for lists. */
  summary: string;
  /** One sentence for its own help. */
  description: string;
  needs: readonly Need[];
  options: Options;
  flags?: { readonly [K in keyof z.input<Options>]?: Flag };
  /** The option that the method takes first, before the others. */
  first?: First;
  /** Whether the command line writes tables and figures into the run's folder `figures`. */
  files: boolean;
  run(source: AnalysisSource, options: z.output<Options>): Promise<Result>;
  tables(result: Result, source: AnalysisSource): Promise<Report>;
  /** For results that may lie in the run: the same from its files, without opening its model; nothing where they do not. */
  atHand?: {
    read(
      run: { directory: string; checkpoint: string },
      options: z.output<Options>,
    ): Promise<Result | undefined>;
    tables(result: Result): Promise<Report>;
  };
  /** Commands, each with what it shows. */
  examples: readonly (readonly [command: string, shows: string])[];
  /** What is computed, and by which methods. */
  notes: string;
}

/** Declares an analysis; its types follow from its options and from what `run` returns. */
export const analysis = <Options extends z.ZodObject, Result, First extends string = never>(
  declared: Analysis<Options, Result, First>,
): Analysis<Options, Result, First> => declared;

/** The option of every analysis that reads the run's texts. */
export const limit = z
  .int()
  .min(1)
  .optional()
  .describe(
    'sentences whose walks are read, those of the test split first (default: 5000, or what is stored)',
  );

/** The option of analyses that group texts. */
export const by = z.string().default('label').describe("label, or a column of the corpus' table");

/** `{ [name]: value }` where there is a value: optional properties are left out rather than undefined. */
export const given = <K extends string, T>(name: K, value: T | undefined): { [P in K]?: T } =>
  (value === undefined ? {} : { [name]: value }) as { [P in K]?: T };
