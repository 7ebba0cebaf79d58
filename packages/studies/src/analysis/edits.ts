import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import {
  checkEditable,
  type EditRecord,
  editSymbols,
  editsIn,
  type LanguageRun,
  Run,
  splitChange,
  textUpdate,
  undoEdit as undoRun,
} from '@hidden-schema/hsn';
import { tellingTerms } from '../measures/document-terms.ts';
import { pmiWords } from '../measures/pmi-words.ts';
import { textWords } from '../measures/text-words.ts';
import { type EncodingOptions, encodedCorpus } from './encoded.ts';
import { carryBack, namesAfter, symbolNames, symbolNumber, symbolTitle } from './names.ts';
import { openRun } from './opened.ts';

/** What an edit of a run's symbols did. */
export interface SymbolEdit {
  /** In a line. */
  what: string;
  /** K now. */
  symbols: number;
  /** Symbols, by their numbers now, that were made or changed. */
  changed: readonly number[];
  /** Symbols that have another number now though nothing else changed: [before, now]. */
  renumbered: readonly (readonly [number, number])[];
  /** Edits that can be undone, this one included. */
  undoable: number;
}

type Watch = Pick<EncodingOptions, 'signal' | 'onProgress'>;

/**
 * Makes one symbol of several, on disk: it takes their lowest number, points where all their texts do, and has all their
 * links. The last symbols move into the numbers that are free then; walks are read anew by whoever looks next.
 */
export async function mergeSymbols(
  directory: string,
  symbols: readonly number[],
  options: Watch = {},
): Promise<SymbolEdit> {
  const asked = [...new Set(symbols)].sort((a, b) => a - b);
  const { config } = editable(directory);
  for (const symbol of asked) symbolNumber(String(symbol), config.symbols);
  if (asked.length < 2)
    throw new UserError(`merging takes at least two symbols, got ${asked.join(', ') || 'none'}`);
  const left = config.symbols - asked.length + 1;
  const fewest = Math.max(2, config.length);
  if (left < fewest)
    throw new UserError(
      `${asked.length} of ${config.symbols} symbols as one would leave ${left}; walks of ${config.length} steps need at least ${fewest}`,
    );
  return opened(directory, async (run) => {
    const texts = await firstCounts(run, options);
    const origins = mergedOrigins(config.symbols, asked);
    const titles = titlesOf(directory, asked);
    const what = `merged ${titles} into ${asked[0]}`;
    return edited(directory, { what, origins, texts }, new Set([asked[0]!]));
  });
}

/** Makes two symbols of one, on disk: the larger half keeps its number, the other takes the next free one. */
export async function splitSymbol(
  directory: string,
  symbol: number,
  options: Watch = {},
): Promise<SymbolEdit> {
  const { config } = editable(directory);
  symbolNumber(String(symbol), config.symbols);
  return opened(directory, async (run) => {
    const { signal } = options;
    const change = await splitChange(run, symbol, signal ? { signal } : {});
    const what = `split ${titlesOf(directory, [symbol])} into ${symbol} and ${config.symbols}`;
    return edited(directory, { ...change, what }, new Set([symbol, config.symbols]));
  });
}

/** What more texts did to a run. */
export interface RunUpdate extends SymbolEdit {
  /** Texts that were added. */
  added: number;
  /** Of the texts before, the share whose nearest symbol is still the same. */
  kept: number;
  /** New symbols, by number, with how many of the added texts are nearest to them and words that tell these from others. */
  themes: readonly { symbol: number; texts: number; words: readonly string[] }[];
}

/** Adds a file of texts to a run: symbols keep numbers and names, a theme that is new gets a symbol of its own. */
export async function updateRun(
  directory: string,
  more: string,
  options: Watch & { onNote?: (text: string) => void } = {},
): Promise<RunUpdate> {
  editable(directory);
  return opened(directory, async (run) => {
    const { editing, added, kept, themes, others } = await textUpdate(run, more, options);
    const words = themeWords([others, ...themes.map(({ texts }) => texts)]).slice(1);
    const what = `added ${added} texts from ${path.basename(more)}`;
    const edit = await edited(directory, { ...editing, what }, new Set(themes.map(({ symbol }) => symbol)));
    const told = themes.map(({ symbol, texts }, i) => ({ symbol, texts: texts.length, words: words[i]! }));
    return { ...edit, added, kept, themes: told };
  });
}

const shownWords = 6;

/** Words that tell each of several lists of texts from the others. */
function themeWords(lists: readonly (readonly string[])[]): string[][] {
  const matrix = tellingTerms(textWords(lists.flat()));
  const symbols = Int32Array.from(lists.flatMap((texts, i) => texts.map(() => i)));
  const uses = { symbols, length: 1, weights: Array.from(symbols, () => 1) };
  const ranked = pmiWords(matrix, uses, { symbols: lists.length, words: shownWords });
  return ranked.map((list) => list.map(({ word }) => word));
}

/** Takes the last edit back; names that people gave since stay with the symbols that are the same before and after. */
export function undoEdit(directory: string): { undone: string; symbols: number; undoable: number } {
  if (runEdits(directory).length === 0)
    throw new UserError(`${directory} has no edit to undo: nothing was merged, split or updated`);
  const { what } = undoRun(directory, (before, { origins }: EditRecord) =>
    carryBack(before, directory, origins),
  );
  return { undone: what, symbols: editable(directory).config.symbols, undoable: runEdits(directory).length };
}

/** Edits of a run that can be undone, the oldest first. */
export function runEdits(directory: string): EditRecord[] {
  return editsIn(Run.open(directory).directory);
}

/** Of a run whose symbols can be edited. */
function editable(directory: string) {
  const run = Run.open(directory);
  checkEditable(run);
  if (run.config.model !== 'language') throw new UserError(`${directory} is no run of texts`);
  return { config: run.config };
}

async function opened<T>(directory: string, body: (run: LanguageRun) => Promise<T>): Promise<T> {
  const run = await openRun(directory);
  try {
    return await body(run as LanguageRun);
  } finally {
    run.model.free();
  }
}

async function edited(
  directory: string,
  editing: Omit<Parameters<typeof editSymbols>[1], 'files'>,
  changed: ReadonlySet<number>,
): Promise<SymbolEdit> {
  const { origins, what } = editing;
  await editSymbols(directory, {
    ...editing,
    files: { 'names.json': namesAfter(directory, origins, changed) },
  });
  const renumbered = origins.flatMap((from, now): [number, number][] =>
    from.length === 1 && from[0] !== now && !changed.has(now) ? [[from[0]!, now]] : [],
  );
  const undoable = runEdits(directory).length;
  return { what, symbols: origins.length, changed: [...changed], renumbered, undoable };
}

/** The lowest takes all; the last symbols fill the holes, so that few numbers change. */
function mergedOrigins(symbols: number, merged: readonly number[]): number[][] {
  const [kept, ...gone] = merged;
  const left = symbols - gone.length;
  const origins = Array.from({ length: left }, (_, k) => (k === kept ? [...merged] : [k]));
  const movers = Array.from({ length: gone.length }, (_, i) => left + i).filter((k) => !gone.includes(k));
  for (const hole of gone.filter((k) => k < left)) origins[hole] = [movers.shift()!];
  return origins;
}

/** Texts of the run's corpus that begin with each symbol. */
async function firstCounts(run: LanguageRun, options: Watch): Promise<Float64Array> {
  const encoded = await encodedCorpus(run, options);
  try {
    const counts = new Float64Array(run.symbols);
    for (let n = 0; n < encoded.count; n++) counts[encoded.walk(n)[0]!]!++;
    return counts;
  } finally {
    encoded.close();
  }
}

function titlesOf(directory: string, symbols: readonly number[]): string {
  const names = symbolNames(directory);
  return symbols.map((symbol) => symbolTitle(symbol, names)).join(' and ');
}
