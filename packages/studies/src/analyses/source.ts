import { UserError } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn';
import type { z } from 'zod';
import { languageRun } from '../runs/opened.ts';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import { symbolTitles as titlesOf } from '../symbols/names.ts';
import { storedMeanings } from '../symbols/stored-meanings.ts';
import { type EncodedCorpus, encodedCorpus } from '../texts/encoded.ts';
import { type Analysis, type AnalysisSource, given, type Need } from './analysis.ts';
import type { SymbolTitle } from './compare-sheets.ts';
import { checkOptions } from './options.ts';

/** Who is told of progress, and who may stop the work. */
export interface SourceOptions {
  signal?: AbortSignal | undefined;
  progress?: AnalysisSource['progress'] | undefined;
  /** Told after each token that is written. */
  onToken?: (() => void) | undefined;
  /** Texts that are encoded and open already; whoever opened them closes them. */
  encoded?: EncodedCorpus;
}

/** A source over an open run: encodes texts when they are first asked for. Close it; the run stays open. */
export class RunSource implements AnalysisSource {
  readonly run: OpenedRun;
  readonly signal: AbortSignal;
  readonly progress: AnalysisSource['progress'];
  readonly writing: AnalysisSource['writing'];
  #opened: EncodedCorpus | undefined;
  #encoded: EncodedCorpus | undefined;

  constructor(run: OpenedRun, { signal, progress, onToken, encoded }: SourceOptions = {}) {
    this.#encoded = encoded;
    this.run = run;
    this.signal = signal ?? new AbortController().signal;
    this.progress = progress ?? (() => () => {});
    this.writing = { signal: this.signal, ...given('onToken', onToken) };
  }

  encoded = async (limit?: number): Promise<EncodedCorpus> => {
    if (this.#encoded) return this.#encoded;
    const { run, signal } = this;
    const onProgress = this.progress('read', 'sentences');
    this.#opened = await encodedCorpus(run, { limit, signal, onProgress });
    this.#encoded = this.#opened;
    return this.#opened;
  };

  close(): void {
    this.#opened?.close();
  }
}

/** Asks an analysis: checks options and what the run has, then computes. */
export async function askAnalysis<Options extends z.ZodObject, Result, First extends string>(
  analysis: Analysis<Options, Result, First>,
  source: AnalysisSource,
  options: unknown,
): Promise<Result> {
  const asked = checkOptions(analysis, options);
  for (const need of analysis.needs) checkNeed(need, source.run, analysis.name);
  return analysis.run(source, asked);
}

function checkNeed(need: Need, run: OpenedRun, name: string): void {
  if (need !== 'labels') languageRun(run, name, { writes: need === 'decoder' });
  else if (run.labels.length === 0)
    throw new UserError(
      `the sentences of ${run.run.directory} have no labels, so there is nothing to tell apart`,
    );
}

/** What the symbols mean; computed and stored where that was not done before. */
export async function meaningsOf(source: AnalysisSource, limit?: number): Promise<SymbolMeaning[]> {
  const { run, signal } = source;
  const encoded = await source.encoded(limit);
  return storedMeanings(run, { encoded, signal, onProgress: source.progress('attention', 'sentences') });
}

/** What symbols are called in tables: by their names, which their meanings give them. */
export async function symbolTitles(source: AnalysisSource): Promise<SymbolTitle> {
  await meaningsOf(source);
  return titlesOf(source.run.run);
}
