import path from 'node:path';
import { jsonText, readJsonFile, readJsonIfThere, UserError, writeFileAtomic } from '@hidden-schema/base';
import { Run } from '@hidden-schema/hsn/runs';
import { Lock } from '@hidden-schema/torch';

const FORMAT = 1;
const longestName = 80;
/** Controls, and letters that turn or hide text, have no place in a name. */
const invisible = /[\p{Cc}\p{Cs}\p{Co}\p{Bidi_Control}\u2028\u2029]/u;

export type SymbolNames = ReadonlyMap<number, string>;

const fileOf = (directory: string): string => path.join(directory, 'names.json');

/**
 * Names of symbols: those that people gave, and for the others those made of their words. None where the file is
 * damaged, which only a renaming complains about.
 */
export function symbolNames(directory: string): SymbolNames {
  const stored = readNames(directory);
  return new Map([...(stored?.found ?? []), ...(stored?.names ?? [])]);
}

/**
 * Stores names that were made of symbols' words; what people named stays, and with `keep` every name that there is, so
 * that symbols which an edit left alone are called as before.
 */
export function storeFoundNames(directory: string, found: readonly string[], keep = false): void {
  locked(directory, () => {
    const stored = readNames(directory);
    // A damaged file is left to whoever repairs it.
    if (!stored) return;
    const all = new Map(found.entries());
    write(directory, stored.names, keep ? besides(stored.found, all) : all);
  });
}

/** Names of those that have none yet; one that is taken gets its symbol's number. */
function besides(kept: SymbolNames, found: SymbolNames): SymbolNames {
  const taken = new Set(kept.values());
  const fresh = [...found].map(([symbol, name]): [number, string] => [
    symbol,
    kept.get(symbol) ?? (taken.has(name) ? `${name} (${symbol})` : name),
  ]);
  return new Map(fresh);
}

/**
 * The text of names.json after an edit: symbols that come from one alone keep its names; one made of several has those
 * that people gave them. `origins` are each symbol's own before; `changed` are symbols whose words will be others.
 */
export function namesAfter(
  directory: string,
  origins: readonly (readonly number[])[],
  changed: ReadonlySet<number>,
): string {
  const before = readNames(directory);
  if (!before) throw new UserError(`${fileOf(directory)} is damaged; repair or remove it, then edit again`);
  const names = new Map<number, string>();
  const found = new Map<number, string>();
  const seen = new Set<number>();
  for (const [symbol, from] of origins.entries()) {
    // Of two parts of a symbol the one under its number keeps what people called it.
    const earlier = from.flatMap((one) => (seen.has(one) ? [] : (before.names.get(one) ?? [])));
    for (const one of from) seen.add(one);
    if (earlier.length > 0) names.set(symbol, shortName([...new Set(earlier)].join(' + ')));
    const own = from.length === 1 && !changed.has(symbol) ? before.found.get(from[0]!) : undefined;
    if (own !== undefined) found.set(symbol, own);
  }
  return namesText(names, found);
}

/** Puts names that people gave since an edit into the names.json of the state before it. */
export function carryBack(before: string, after: string, origins: readonly (readonly number[])[]): void {
  const [old, now] = [readNames(before), readNames(after)];
  if (!old || !now) return;
  const carried = [...now.names].flatMap(([symbol, name]): [number, string][] => {
    const from = origins[symbol];
    const alone = from?.length === 1 && origins.filter((other) => other.includes(from[0]!)).length === 1;
    return alone ? [[from[0]!, name]] : [];
  });
  writeFileAtomic(fileOf(before), namesText(new Map([...old.names, ...carried]), old.found));
}

const shortName = (name: string): string => [...name].slice(0, longestName).join('');

/** Two that read before either has written would lose a name. */
function locked(directory: string, body: () => void): void {
  Lock.during(path.join(directory, 'names.lock'), fileOf(directory), body);
}

/** Stores a name in the run, or with an empty one takes it away; returns what holds now. */
export function renameSymbol(directory: string, symbol: number, name: string): string | null {
  const text = name.trim().normalize();
  if ([...text].length > longestName)
    throw new UserError(`a name has at most ${longestName} characters, got ${[...text].length}`);
  if (invisible.test(text)) throw new UserError('a name has no control characters; write it as plain text');
  locked(directory, () => store(directory, symbol, text));
  return symbolNames(directory).get(symbol) ?? null;
}

/** Names the symbols that were asked for, which have the first numbers. */
export function nameSeeds(directory: string, seeds: readonly { name: string }[]): void {
  for (const [symbol, { name }] of seeds.entries()) renameSymbol(directory, symbol, name);
}

function store(directory: string, symbol: number, text: string): void {
  const stored = readNames(directory);
  if (!stored)
    throw new UserError(`${fileOf(directory)} is damaged; repair or remove it, then name the symbol again`);
  if (text === '') stored.names.delete(symbol);
  else stored.names.set(symbol, text);
  write(directory, stored.names, stored.found);
}

function write(directory: string, names: SymbolNames, found: SymbolNames): void {
  writeFileAtomic(fileOf(directory), namesText(names, found));
}

function namesText(names: SymbolNames, found: SymbolNames): string {
  const sorted = (of: SymbolNames) => Object.fromEntries([...of].sort(([a], [b]) => a - b));
  return jsonText({
    format: FORMAT,
    names: sorted(names),
    ...(found.size > 0 ? { found: sorted(found) } : {}),
  });
}

/** Symbols that people named. */
export function namedSymbols(directory: string): SymbolNames {
  return readNames(directory)?.names ?? new Map();
}

/** A symbol for people: its number, after its name where it has one. */
export function symbolTitle(symbol: number, names: SymbolNames): string {
  const name = names.get(symbol);
  return name === undefined ? String(symbol) : `${name} (${symbol})`;
}

interface StoredNames {
  names: Map<number, string>;
  found: Map<number, string>;
}

function readNames(directory: string): StoredNames | undefined {
  try {
    const stored = readJsonIfThere<Record<string, Record<string, unknown>>>(fileOf(directory));
    const map = (part: Record<string, unknown> = {}) =>
      new Map(
        Object.entries(part)
          .filter(([, name]) => typeof name === 'string')
          .map(([symbol, name]) => [Number(symbol), String(name)]),
      );
    return { names: map(stored?.names), found: map(stored?.found) };
  } catch {
    return undefined;
  }
}

/** A symbol as a user writes it, checked against how many there are. */
export function symbolNumber(text: string, symbols: number): number {
  const symbol = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (symbol < symbols) return symbol;
  throw new UserError(`the symbols of this model are 0 to ${symbols - 1}, got ${text}`);
}

/** How many symbols a run has, without opening its model. */
export function runSymbols(directory: string): number {
  const run = Run.open(directory);
  if (run.config.model === 'language') return run.config.symbols;
  try {
    const { symbols } = readJsonFile<{ symbols: number }>(run.path('graph.json'));
    if (Number.isInteger(symbols)) return symbols;
  } catch {
    // Written when training ends; said below.
  }
  throw new UserError(`${directory} has no graph.json yet; name symbols once training has ended`);
}
