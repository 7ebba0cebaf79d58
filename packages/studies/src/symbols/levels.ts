import { plainText, UserError } from '@hidden-schema/base';
import { groupsAt, type Joining, joinSymbols } from '@hidden-schema/hsn/discovery/hierarchy';
import { linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { noGrad, scope } from '@hidden-schema/torch';
import type { Sheet } from '../drawing/sheets.ts';
import { nameSymbols, partsFromNames } from '../measures/symbol-names.ts';
import type { SymbolMeaning } from './meaning.ts';
import { namedSymbols, titleOf } from './names.ts';
import { storedMeanings } from './stored-meanings.ts';

/** Symbols that count as one at a level. */
export interface SymbolGroup {
  /** Its number at its level, from 0. */
  group: number;
  symbols: number[];
  /** That of its only symbol, or of the one in it that people named, or of its words. */
  name: string;
  words: string[];
  /** Share of texts that begin with one of its symbols. */
  share: number;
  /** Its group at the next coarser level that was asked for. */
  parent: number | null;
}

/** All groups of one level. */
export interface SymbolLevel {
  count: number;
  /** The largest first. */
  groups: SymbolGroup[];
}

/** A run's symbols merged into ever fewer groups, each level within the one before. */
export interface SymbolLevels {
  /** K. */
  symbols: number;
  /** The coarsest first. */
  levels: SymbolLevel[];
  /** All joinings, from K groups to one. */
  joinings: Joining[];
}

export interface LevelOptions {
  /** Reads what symbols mean, where the caller has it; else it is what is stored, or worked out. */
  meanings?: () => Promise<readonly SymbolMeaning[]>;
  signal?: AbortSignal;
}

/** Words of a group. */
const groupWords = 8;
/** Shares of texts count as if there were so many. */
const texts = 10_000;

/**
 * The symbols of a run at coarser levels: joined by their vectors and links, without training. Symbols that people named
 * (or planted as seeds) stay in different groups for as long as a level has enough of them.
 */
export async function symbolLevels(
  run: OpenedRun,
  counts: readonly number[],
  options: LevelOptions = {},
): Promise<SymbolLevels> {
  const overlaps = overlapsOf(run);
  const asked = checkCounts(counts, run.symbols);
  const { signal } = options;
  const meanings = await (options.meanings?.() ?? storedMeanings(run, signal ? { signal } : {}));
  const named = namedSymbols(run.run);
  const joinings = joinSymbols({
    overlaps,
    links: linkProbabilities(run.model),
    texts: meanings.map(({ usageByPosition }) => usageByPosition[0]! * texts),
    apart: new Set(named.keys()),
  });
  const levels: SymbolLevel[] = [];
  for (const count of asked) {
    const parts = groupsAt(joinings, run.symbols, count);
    levels.push({ count, groups: groupsOf(parts, { meanings, named, above: levels.at(-1) }) });
  }
  return { symbols: run.symbols, levels, joinings };
}

/** e_i·e_j of a run whose symbols are vectors in the space of its texts. [K, K] */
function overlapsOf(run: OpenedRun): Float64Array {
  if (run.kind !== 'language' || run.model.encoder.reads !== 'points')
    throw new UserError(
      `${run.run.directory} has no symbols that were discovered as vectors, so they have no levels; discover some with: hsn train --stage discover`,
    );
  const { symbols } = run.model;
  return noGrad(() =>
    scope(() => {
      const rows = symbols.rows();
      const unit = rows.div(rows.mul(rows).sum(1, true).sqrt().clamp(1e-12));
      return Float64Array.from(unit.matmul(unit.transpose(0, 1)).toNumbers());
    }),
  );
}

function checkCounts(counts: readonly number[], symbols: number): number[] {
  const strange = counts.find((count) => !Number.isInteger(count) || count < 1 || count > symbols);
  if (strange !== undefined || counts.length === 0)
    throw new UserError(`levels are numbers of groups from 1 to ${symbols}, got ${strange ?? 'none'}`);
  return [...new Set(counts)].sort((a, b) => a - b);
}

interface GroupFacts {
  meanings: readonly SymbolMeaning[];
  /** Names that people gave. */
  named: ReadonlyMap<number, string>;
  /** The level above. */
  above: SymbolLevel | undefined;
}

function groupsOf(parts: readonly number[][], { meanings, named, above }: GroupFacts): SymbolGroup[] {
  const shareOf = (symbols: readonly number[]) =>
    symbols.reduce((sum, symbol) => sum + meanings[symbol]!.usageByPosition[0]!, 0);
  const sorted = parts.toSorted((a, b) => shareOf(b) - shareOf(a) || a[0]! - b[0]!);
  const ranked = sorted.map((symbols) => jointWords(symbols.map((symbol) => meanings[symbol]!)));
  const found = nameSymbols(
    ranked.map((list) => list.map(({ word }) => word)),
    partsFromNames(meanings.flatMap(({ name }) => name ?? [])),
  );
  return sorted.map((symbols, group) => {
    const own = symbols.flatMap((symbol) => named.get(symbol) ?? []);
    const only = symbols.length === 1 ? meanings[symbols[0]!]!.name : null;
    return {
      group,
      symbols,
      name: own.length > 0 ? own.join(' + ') : (only ?? found[group]!),
      words: ranked[group]!.slice(0, groupWords).map(({ word }) => word),
      share: shareOf(symbols),
      parent: above?.groups.find((other) => other.symbols.includes(symbols[0]!))?.group ?? null,
    };
  });
}

/** Words of several symbols by what they tell of them in sum, count times bits. */
function jointWords(members: readonly SymbolMeaning[]): { word: string }[] {
  const scores = new Map<string, number>();
  for (const { words } of members)
    for (const { word, pmi, count } of words)
      scores.set(word, (scores.get(word) ?? 0) + count * Math.max(0, pmi));
  return [...scores].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([word]) => ({ word }));
}

/** Levels as a tree for people: groups within groups, and the symbols in the finest. */
export function levelsText({ levels }: SymbolLevels, meanings: readonly SymbolMeaning[]): string {
  const lines: string[] = [];
  const line = (depth: number, name: string, share: number, words: readonly string[]) => {
    const text = plainText(`${name}  ${(100 * share).toFixed(1)} %  ${words.slice(0, shownWords).join(' ')}`);
    lines.push(`${'  '.repeat(depth)}${text.trimEnd()}`);
  };
  const inside = (level: number, depth: number, above: SymbolGroup) => {
    const groups = levels[level]?.groups.filter(({ parent }) => parent === above.group);
    // A group that a finer level leaves whole is told once.
    if (groups?.length === 1) inside(level + 1, depth, groups[0]!);
    else if (groups) for (const group of groups) tell(level, depth, group);
    else for (const symbol of above.symbols) tellSymbol(depth, meanings[symbol]!);
  };
  const tell = (level: number, depth: number, group: SymbolGroup) => {
    const { symbols, name, share, words } = group;
    if (symbols.length === 1) return tellSymbol(depth, meanings[symbols[0]!]!);
    line(depth, `${name} [${symbols.length}]`, share, words);
    inside(level + 1, depth + 1, group);
  };
  const tellSymbol = (depth: number, { symbol, name, usageByPosition, words }: SymbolMeaning) => {
    const title = name === null ? `(${symbol})` : titleOf(symbol, name);
    const own = words.map(({ word }) => word);
    line(depth, title, usageByPosition[0]!, own);
  };
  for (const group of levels[0]?.groups ?? []) tell(0, 0, group);
  return `${lines.join('\n')}\n`;
}

const shownWords = 6;

/** Groups as a table, and which group each symbol is in at each level. */
export function levelSheets({ levels, symbols }: SymbolLevels): Sheet[] {
  return [
    {
      name: 'levels',
      title: 'Levels',
      columns: ['level', 'group', 'name', 'share', 'inside', 'symbols', 'words'].map((title) => ({ title })),
      rows: levels.flatMap(({ count, groups }) =>
        groups.map(({ group, name, share, parent, symbols: own, words }) => [
          ...[count, group, name, share, parent ?? undefined],
          ...[own.join(' '), words.join(' ')],
        ]),
      ),
    },
    {
      name: 'symbol-levels',
      title: 'Groups of symbols',
      columns: [{ title: 'symbol' }, ...levels.map(({ count }) => ({ title: `of ${count}` }))],
      rows: Array.from({ length: symbols }, (_, symbol) => [
        symbol,
        ...levels.map(({ groups }) => groups.find((one) => one.symbols.includes(symbol))!.group),
      ]),
    },
  ];
}
