import { UserError } from '@hidden-schema/base';
import type { OpenedRun } from '@hidden-schema/hsn';
import type { z } from 'zod';
import { type EncodedCorpus, encodedCorpus } from '../analysis/encoded.ts';
import type { SymbolMeaning } from '../analysis/meaning.ts';
import { symbolNames, symbolTitle } from '../analysis/names.ts';
import { storedMeanings } from '../analysis/stored-meanings.ts';
import type { SymbolTitle } from '../comparison/group-sheets.ts';
import type { Analysis, AnalysisSource, Need } from './analysis.ts';
import { given } from './analysis.ts';
import { type OptionForm, optionForms } from './option-forms.ts';

/** Who is told of progress, and who may stop the work. */
export interface SourceOptions {
  signal?: AbortSignal;
  progress?: AnalysisSource['progress'];
  /** Texts that are encoded and open already; whoever opened them closes them. */
  encoded?: EncodedCorpus;
}

/** A source over an open run: encodes texts when they are first asked for. Close it; the run stays open. */
export class RunSource implements AnalysisSource {
  readonly run: OpenedRun;
  readonly signal: AbortSignal;
  readonly progress: AnalysisSource['progress'];
  #opened: EncodedCorpus | undefined;
  #encoded: EncodedCorpus | undefined;

  constructor(run: OpenedRun, { signal, progress, encoded }: SourceOptions = {}) {
    this.#encoded = encoded;
    this.run = run;
    this.signal = signal ?? new AbortController().signal;
    this.progress = progress ?? (() => () => {});
  }

  encoded = async (limit?: number): Promise<EncodedCorpus> => {
    if (this.#encoded) return this.#encoded;
    const { run, signal } = this;
    const onProgress = this.progress('read', 'sentences');
    this.#opened = await encodedCorpus(run, { ...given('limit', limit), signal, onProgress });
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

/** Options with their defaults; wrong ones are refused in a line. */
export function checkOptions<Options extends z.ZodObject>(
  analysis: Pick<Analysis<Options>, 'name' | 'options' | 'flags'>,
  options: unknown,
): z.output<Options> {
  const asked = analysis.options.safeParse(options);
  if (asked.success) return asked.data;
  throw optionFault(analysis as unknown as Analysis, options, asked.error);
}

/** The first wrong option in a line; flags are named, and a caller without flags translates. */
function optionFault(analysis: Analysis, options: unknown, error: z.ZodError): UserError {
  const [issue] = error.issues;
  const forms = optionForms(analysis);
  const named = issue!.code === 'unrecognized_keys' ? issue!.keys[0]! : String(issue!.path[0] ?? '');
  const form = forms.find(({ option }) => option === named);
  if (!form) {
    const known = forms.map(({ option }) => option).join(', ');
    return new UserError(`${analysis.name} has no option ${named || 'of this form'}; it has ${known}`);
  }
  return new UserError(wrongValue(form, (options as Record<string, unknown>)[named]));
}

/** What a flag takes, and what came. */
export const wrongValue = ({ flag, takes }: OptionForm, value: unknown): string =>
  `--${flag} takes ${takes}, got ${Array.isArray(value) ? value.join() : value}`;

const kinds = { synthetic: 'a synthetic language', reasoning: 'tuples' };

function checkNeed(need: Need, run: OpenedRun, name: string): void {
  const { directory } = run.run;
  if (need === 'labels' && run.labels.length === 0)
    throw new UserError(`the sentences of ${directory} have no labels, so there is nothing to tell apart`);
  if (need === 'labels') return;
  const taken = need === 'decoder' ? 'language model' : 'run of texts';
  if (run.kind !== 'language')
    throw new UserError(`${directory} is the run of ${kinds[run.kind]}; ${name} takes a ${taken}`);
  if (need === 'decoder') run.texts.checkWrites();
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
  const names = symbolNames(source.run.run);
  return (symbol) => symbolTitle(symbol, names);
}
