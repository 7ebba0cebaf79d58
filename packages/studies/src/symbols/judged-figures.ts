import type { OpenedRun } from '@hidden-schema/hsn/open';
import { refitSubsamples } from '@hidden-schema/hsn/tasks/language/refit';
import { npmiCoherence } from '../measures/coherence.ts';
import { rowsByWord } from '../measures/coherent-words.ts';
import { tellingTerms } from '../measures/document-terms.ts';
import { pmiWords } from '../measures/pmi-words.ts';
import { type SubsampleStability, subsampleStability } from '../measures/subsample-stability.ts';
import { oneSymbolEach } from '../measures/symbol-uses.ts';
import { type TextWords, textWords } from '../measures/text-words.ts';
import { referenceWindow } from '../measures/topic-figures.ts';
import type { WalkFit } from '../measures/walk-fit.ts';
import type { EncodedCorpus } from '../texts/encoded.ts';
import { type Judge, type JudgeOptions, judgedFit, sampledRows } from './judge.ts';
import type { SymbolMeaning } from './meaning.ts';

/** A run with its walks and the words of its symbols. */
export interface MeasuredRun {
  run: OpenedRun;
  encoded: EncodedCorpus;
  meanings: readonly SymbolMeaning[];
}

/** What an encoder that took no part says of a run. */
export interface JudgedFigures extends Pick<WalkFit, 'steps' | 'repeats' | 'unplaced'> {
  judge: string;
  /** Texts that it read, of so many. */
  texts: number;
  of: number;
  /** Fit of all steps but the first; different symbols of a text. */
  fit_later: number | null;
  symbols_per_text: number;
  /** Mean cosine of the vectors of a symbol's first ten words. */
  coherence: number | null;
}

export async function judgedFigures(
  { run, encoded, meanings }: MeasuredRun,
  judge: Judge,
  options: JudgeOptions = {},
): Promise<JudgedFigures> {
  const lists = firstWords(meanings);
  await refuseOwnEncoder(run, judge, [...new Set(lists.flat())]);
  const texts = Array.from(encoded.sentences(), ({ text }) => text);
  const judged = await judge.read(texts, options);
  const uses = { symbols: Int32Array.from(encoded.walks), length: encoded.length };
  const { later, symbolsPerText, ...fit } = judgedFit(judged, uses);
  return {
    judge: judge.name,
    texts: judged.rows.length,
    of: texts.length,
    ...fit,
    fit_later: later,
    symbols_per_text: symbolsPerText,
    coherence: (await judge.coherence(lists)).mean,
  };
}

async function refuseOwnEncoder(run: OpenedRun, judge: Judge, words: readonly string[]): Promise<void> {
  if (run.kind !== 'language' || words.length === 0) return;
  await judge.refuseOwn(words, rowsByWord(words, await run.texts.vectors(words)));
}

/** NPMI of symbols' first ten words in windows of ten words of another corpus. */
export function referenceNpmi(meanings: readonly SymbolMeaning[], reference: TextWords): number | null {
  return npmiCoherence(reference, firstWords(meanings), referenceWindow).mean;
}

const firstWords = (meanings: readonly SymbolMeaning[]): string[][] =>
  meanings.map(({ words }) => words.slice(0, 10).map(({ word }) => word));

/** Agreement of symbols that are found in random 80 % of the run's texts. */
export async function subsampleFigures(
  run: OpenedRun,
  subsamples: number,
  options: { signal?: AbortSignal } = {},
): Promise<SubsampleStability | undefined> {
  if (run.kind !== 'language') return undefined;
  const draw = (count: number) =>
    Array.from({ length: subsamples }, (_, at) => sampledRows(count, Math.floor(0.8 * count), at + 1));
  const found = await refitSubsamples(run, draw, options);
  if (!found) return undefined;
  return subsampleStability(
    found.samples.map(({ rows, symbols }) => {
      const matrix = tellingTerms(textWords(Array.from(rows, (row) => found.texts[row]!)));
      const ranked = pmiWords(matrix, oneSymbolEach(symbols), { symbols: run.symbols });
      return { rows, symbols, words: ranked.map((list) => list.map(({ word }) => word)) };
    }),
  );
}
