import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import type { LanguageRun } from '@hidden-schema/hsn/open';
import { corpusPlaces, rememberCorpus } from '@hidden-schema/hsn/run/corpus-places';
import type { EditRecord } from '@hidden-schema/hsn/run/edit-record';
import { editsIn } from '@hidden-schema/hsn/run/edits';
import { Run } from '@hidden-schema/hsn/run/run';
import { checkEditable, editSymbols, undoEdit as undoRun } from '@hidden-schema/hsn/tasks/language/edit';
import { splitChange } from '@hidden-schema/hsn/tasks/language/split';
import { textRecord } from '@hidden-schema/hsn/tasks/language/text-record';
import { textUpdate } from '@hidden-schema/hsn/tasks/language/update';
import { tellingTerms } from '../measures/document-terms.ts';
import { pmiWords } from '../measures/pmi-words.ts';
import { textWords } from '../measures/text-words.ts';
import { namesAfter, namesBefore, symbolNumber, symbolTitles } from '../symbols/names.ts';
import { encodedCorpus } from '../texts/encoded.ts';
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

interface EditOptions {
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
  /** The run's identity when the symbols' numbers were seen; what it is now unless given. */
  identity?: string;
}

/**
 * Makes one symbol of several, on disk: it takes their lowest number, points where all their texts do, and has all their
 * links. The last symbols move into the numbers that are free then; walks are read anew by whoever looks next.
 */
export async function mergeSymbols(
  directory: string,
  symbols: readonly number[],
  options: EditOptions = {},
): Promise<SymbolEdit> {
  const asked = [...new Set(symbols)].sort((a, b) => a - b);
  const { config, identity } = editable(directory);
  for (const symbol of asked) symbolNumber(String(symbol), config.symbols);
  if (asked.length < 2)
    throw new UserError(`merging takes at least two symbols, got ${asked.join(', ') || 'none'}`);
  const left = config.symbols - asked.length + 1;
  // Walks that may stay need no other symbol for each step.
  const fewest = config.walk.stays ? 2 : Math.max(2, config.length);
  if (left < fewest)
    throw new UserError(
      `${asked.length} of ${config.symbols} symbols as one would leave ${left}; a run needs at least ${fewest}`,
    );
  return edited(directory, { identity, ...options }, async (run) => {
    const texts = await firstCounts(run, options);
    const origins = mergedOrigins(run.symbols, asked);
    const what = `merged ${titlesOf(run, asked)} into ${asked[0]}`;
    return { what, origins, texts, changed: [asked[0]!] };
  });
}

/** Makes two symbols of one, on disk: the larger half keeps its number, the other takes the next free one. */
export async function splitSymbol(
  directory: string,
  symbol: number,
  options: EditOptions = {},
): Promise<SymbolEdit> {
  const { config, identity } = editable(directory);
  symbolNumber(String(symbol), config.symbols);
  return edited(directory, { identity, ...options }, async (run) => {
    const { signal } = options;
    const change = await splitChange(run, symbol, signal ? { signal } : {});
    const what = `split ${titlesOf(run, [symbol])} into ${symbol} and ${run.symbols}`;
    return { ...change, what, changed: [symbol, run.symbols] };
  });
}

/** What more texts did to a run. */
export interface RunUpdate extends SymbolEdit {
  /** Texts that were added, and how many of them the run had before. */
  added: number;
  repeated: number;
  /** Of the texts before, the share whose nearest symbol is still the same. */
  kept: number;
  /** New symbols, by number, with how many of the added texts are nearest to them and words that tell these from others. */
  themes: readonly { symbol: number; texts: number; words: readonly string[] }[];
}

/** Adds a file of texts to a run: symbols keep numbers and names, a theme that is new gets a symbol of its own. */
export async function updateRun(
  directory: string,
  more: string,
  options: EditOptions & { onNote?: (text: string) => void } = {},
): Promise<RunUpdate> {
  editable(directory);
  const { identity, ...reading } = options;
  let found: Pick<RunUpdate, 'added' | 'repeated' | 'kept' | 'themes'> | undefined;
  let places: readonly string[] = [];
  const edit = await edited(directory, options, async (run) => {
    const { editing, added, repeated, kept, themes, others } = await textUpdate(run, more, reading);
    const { stopWords = [] } = textRecord(run.run).record.settings;
    const words = themeWords([others, ...themes.map(({ texts }) => texts)], new Set(stopWords)).slice(1);
    const summary = themes.map(({ symbol, texts }, i) => ({ symbol, texts: texts.length, words: words[i]! }));
    found = { added, repeated, kept, themes: summary };
    places = [...corpusPlaces(run.run), path.resolve(more)];
    const what = `added ${added} texts from ${path.basename(more)}`;
    return { ...editing, what, changed: themes.map(({ symbol }) => symbol) };
  });
  rememberCorpus(Run.open(directory), places);
  return { ...edit, ...found! };
}

const shownWords = 6;

/** Words that tell each of several lists of texts from the others. */
function themeWords(lists: readonly (readonly string[])[], stopWords: ReadonlySet<string>): string[][] {
  const matrix = tellingTerms(textWords(lists.flat()), stopWords);
  const symbols = Int32Array.from(lists.flatMap((texts, i) => texts.map(() => i)));
  const uses = { symbols, length: 1, weights: Array.from(symbols, () => 1) };
  const ranked = pmiWords(matrix, uses, { symbols: lists.length, words: shownWords });
  return ranked.map((list) => list.map(({ word }) => word));
}

/** Takes the last edit back; names that people gave since stay with the symbols that are the same before and after. */
export async function undoEdit(
  directory: string,
  options: Pick<EditOptions, 'identity'> = {},
): Promise<{ undone: string; symbols: number; undoable: number }> {
  const { what } = await undoRun(directory, ({ files }, edit) => namesBefore(files, edit), options.identity);
  return { undone: what, symbols: editable(directory).config.symbols, undoable: runEdits(directory).length };
}

/** Edits of a run that can be undone, the oldest first. */
export function runEdits(directory: string): EditRecord[] {
  return editsIn(Run.open(directory).files);
}

/** Of a run whose symbols can be edited. */
function editable(directory: string) {
  const run = Run.open(directory);
  checkEditable(run);
  if (run.config.model !== 'language') throw new UserError(`${directory} is no run of texts`);
  return { config: run.config, identity: run.identity };
}

type Change = Omit<Awaited<ReturnType<Parameters<typeof editSymbols>[1]>>, 'files'> & {
  /** Symbols, by their numbers afterwards, that are made or changed. */
  changed: readonly number[];
};

/** Edits a run by what `compute` finds in it; from before it is read until all is written nobody else does. */
async function edited(
  directory: string,
  { identity }: Pick<EditOptions, 'identity'>,
  compute: (run: LanguageRun) => Promise<Change>,
): Promise<SymbolEdit> {
  let change: Change | undefined;
  const { what, origins } = await editSymbols(
    directory,
    async ({ files }) => {
      const run = (await openRun(directory)) as LanguageRun;
      try {
        const { changed, ...editing } = await compute(run);
        change = { ...editing, changed };
        const names = () => ({ 'names.json': namesAfter(files, editing.origins, new Set(changed)) });
        return { ...editing, files: names };
      } finally {
        run.model.free();
      }
    },
    identity,
  );
  const { changed } = change!;
  const renumbered = origins.flatMap((from, now): [number, number][] =>
    from.length === 1 && from[0] !== now && !changed.includes(now) ? [[from[0]!, now]] : [],
  );
  return { what, symbols: origins.length, changed, renumbered, undoable: runEdits(directory).length };
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
async function firstCounts(run: LanguageRun, { signal, onProgress }: EditOptions): Promise<Float64Array> {
  using encoded = await encodedCorpus(run, { signal, onProgress });
  const counts = new Float64Array(run.symbols);
  for (let n = 0; n < encoded.count; n++) counts[encoded.walk(n)[0]!]!++;
  return counts;
}

const titlesOf = ({ run }: LanguageRun, symbols: readonly number[]): string =>
  symbols.map(symbolTitles(run)).join(' and ');
