import { UserError } from '@hidden-schema/base';
import {
  type Adjacency,
  type LanguageNetwork,
  type LanguageTexts,
  type OpenedLanguage,
  type OpenedModel,
  openLanguage,
  openModel,
  Run,
  type SyntheticCorpus,
  type SyntheticNetwork,
  type Tokenizers,
} from '@hidden-schema/hsn';

/** What every analysis needs to know of a run. */
interface AnyRun {
  run: Run;
  /** The checkpoint that was opened. */
  step: number;
  /** K and L. */
  symbols: number;
  length: number;
  labels: readonly string[];
  notes: readonly string[];
}

export interface SyntheticRun extends AnyRun {
  kind: 'synthetic';
  model: SyntheticNetwork;
  corpus: SyntheticCorpus;
}

export interface LanguageRun extends AnyRun {
  kind: 'language';
  model: LanguageNetwork;
  texts: LanguageTexts;
  tokenizers: Tokenizers;
  opened: OpenedLanguage;
}

/** A run opened to be looked at, of either kind. */
export type AnalysedRun = SyntheticRun | LanguageRun;

/** Opens a run of either kind at a checkpoint; free it with `run.model.free()`. */
export async function openRun(directory: string, given: { checkpoint?: string } = {}): Promise<AnalysedRun> {
  const { config } = Run.open(directory);
  if (config.model === 'synthetic') return runOf(openModel(directory, given));
  if (config.baseline)
    throw new UserError(`${directory} is a baseline without symbols, so there is nothing to analyse`);
  return runOf(await openLanguage(directory, given));
}

/** The same for what is open already. */
export function runOf(opened: OpenedModel | OpenedLanguage): AnalysedRun {
  const { run, step, notes } = opened;
  if ('tokenizers' in opened) {
    const { model, texts, tokenizers, labels, config } = opened;
    const { symbols, length } = config;
    return { kind: 'language', run, step, symbols, length, labels, notes, model, texts, tokenizers, opened };
  }
  const { model, corpus } = opened;
  const { symbols, length } = model.shape;
  const all = [...corpus.notes, ...notes];
  return { kind: 'synthetic', run, step, symbols, length, labels: [], notes: all, model, corpus };
}

/** The run as one of texts; others cannot write. */
export function languageRun(run: AnalysedRun, verb: string): LanguageRun {
  if (run.kind === 'language') return run;
  throw new UserError(
    `${run.run.directory} is the run of a synthetic language; ${verb} takes a language model`,
  );
}

/** The graph of links at least as probable as `threshold`, from probabilities [K, K]. */
export function mostLikelyLinks(probabilities: Float64Array, symbols: number, threshold = 0.5): Adjacency {
  return { nodes: symbols, data: Uint8Array.from(probabilities, (p) => (p >= threshold ? 1 : 0)) };
}
