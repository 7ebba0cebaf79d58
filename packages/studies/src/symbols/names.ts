import { reasonOf, UserError } from '@hidden-schema/base/errors';
import { type JsonValue, jsonText, parseJson, readRegular } from '@hidden-schema/base/files';
import { type EditRecord, RunChanged } from '@hidden-schema/hsn/run/edit-record';
import { stateBefore } from '@hidden-schema/hsn/run/edits';
import { Run } from '@hidden-schema/hsn/run/run';
import { RunFiles } from '@hidden-schema/hsn/run/run-files';

const FORMAT = 1;
const longestName = 80;
/** Controls, and letters that turn or hide text, have no place in a name. */
const invisible = /[\p{Cc}\p{Cs}\p{Co}\p{Bidi_Control}\u2028\u2029]/u;

export type SymbolNames = ReadonlyMap<number, string>;

const NAMES = 'names.json';

/**
 * Names of symbols: those that people gave, else those that a model suggested, else those made of their words. Of an open run they are asked
 * for by its numbers: a run whose symbols were edited since is refused.
 */
export function symbolNames(of: string | Run): SymbolNames {
  const { names, suggested, found } = namesOf(of);
  const byModel = [...suggested].map(([symbol, { name }]) => [symbol, name] as const);
  return new Map([...found, ...byModel, ...names]);
}

/** What a language model said of symbols. */
export function suggestedNames(of: string | Run): ReadonlyMap<number, SuggestedName> {
  return namesOf(of).suggested;
}

/** The text of names.json with names that a model suggested; those of earlier ones stay where it has none. */
export function namesWithSuggested(run: Run, fresh: ReadonlyMap<number, SuggestedName>): string {
  const stored = readNames(run.files);
  return namesText({ ...stored, suggested: new Map([...stored.suggested, ...fresh]) });
}

/** Symbols that people named. */
export function namedSymbols(of: string | Run): SymbolNames {
  return namesOf(of).names;
}

function namesOf(of: string | Run): StoredNames {
  const files = typeof of === 'string' ? new RunFiles(of) : of.files;
  const outcome = 'symbols are shown without names; put it back as it was, or remove it';
  const stored = files.unlessDamaged(() => readNames(files), outcome) ?? namesIn(undefined);
  if (typeof of !== 'string') of.checkUnchanged();
  return stored;
}

/**
 * Stores names that were made of symbols' words; what people named stays, and with `keep` every name that there is, so
 * that symbols which an edit left alone are called as before.
 */
export function storeFoundNames(run: Run, found: readonly string[], keep = false): void {
  changeNames(run, (stored) => {
    const all = new Map(found.entries());
    return { ...stored, found: keep ? besides(stored.found, all) : all };
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
  files: RunFiles,
  origins: readonly (readonly number[])[],
  changed: ReadonlySet<number>,
): string {
  const before = readNames(files);
  const names = new Map<number, string>();
  const found = new Map<number, string>();
  const suggested = new Map<number, SuggestedName>();
  const seen = new Set<number>();
  for (const [symbol, from] of origins.entries()) {
    // Of two parts of a symbol the one under its number keeps what people called it.
    const earlier = from.flatMap((one) => (seen.has(one) ? [] : (before.names.get(one) ?? [])));
    for (const one of from) seen.add(one);
    if (earlier.length > 0) names.set(symbol, shortName([...new Set(earlier)].join(' + ')));
    if (from.length > 1 || changed.has(symbol)) continue;
    const own = before.found.get(from[0]!);
    if (own !== undefined) found.set(symbol, own);
    const said = before.suggested.get(from[0]!);
    if (said !== undefined) suggested.set(symbol, said);
  }
  return namesText({ names, found, suggested });
}

/** The text of names.json before an edit, with names that people gave since; nothing where it stays as it was. */
export function namesBefore(files: RunFiles, edit: EditRecord): Record<string, string> {
  const { origins } = edit;
  const old = namesInState(files, edit);
  const carried = [...readNames(files).names].flatMap(([symbol, name]): [number, string][] => {
    const from = origins[symbol];
    const alone = from?.length === 1 && origins.filter((other) => other.includes(from[0]!)).length === 1;
    return alone && old.names.get(from[0]!) !== name ? [[from[0]!, name]] : [];
  });
  if (carried.length === 0) return {};
  return { [NAMES]: namesText({ ...old, names: new Map([...old.names, ...carried]) }) };
}

function namesInState(files: RunFiles, edit: EditRecord): StoredNames {
  const file = files.place(...stateBefore(edit), NAMES);
  try {
    return namesIn(parseJson(readRegular(file).toString('utf8'), file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return namesIn(undefined);
    throw new UserError(`cannot read ${file}: ${reasonOf(error)}`);
  }
}

const shortName = (name: string): string => [...name].slice(0, longestName).join('');

/** Two that read before either has written would lose a name; numbers of another state would name other symbols. */
function changeNames(run: Run, change: (stored: StoredNames) => StoredNames): void {
  run.files.update(
    NAMES,
    () => namesText(change(readNames(run.files))),
    () => run.checkUnchanged(),
  );
}

/** Stores a name in the run, or with an empty one takes it away; returns what holds now. */
export function renameSymbol(
  directory: string,
  symbol: number,
  name: string,
  options: { identity?: string } = {},
): string | null {
  const text = name.trim().normalize();
  if ([...text].length > longestName)
    throw new UserError(`a name has at most ${longestName} characters, got ${[...text].length}`);
  if (invisible.test(text)) throw new UserError('a name has no control characters; write it as plain text');
  const run = Run.open(directory);
  if (options.identity !== undefined && options.identity !== run.identity) throw new RunChanged(directory);
  let now: StoredNames | undefined;
  changeNames(run, (stored) => {
    const others = [...stored.names].filter(([other]) => other !== symbol);
    now = { ...stored, names: new Map(text === '' ? others : [...others, [symbol, text]]) };
    return now;
  });
  return now?.names.get(symbol) ?? now?.suggested.get(symbol)?.name ?? now?.found.get(symbol) ?? null;
}

/** Names the symbols that were asked for, which have the first numbers. */
export function nameSeeds(directory: string, seeds: readonly { name: string }[]): void {
  for (const [symbol, { name }] of seeds.entries()) renameSymbol(directory, symbol, name);
}

function namesText({ names, found, suggested }: StoredNames): string {
  const sorted = <T extends JsonValue>(of: ReadonlyMap<number, T>) =>
    Object.fromEntries([...of].sort(([a], [b]) => a - b));
  return jsonText({
    format: FORMAT,
    names: sorted(names),
    ...(suggested.size > 0 ? { suggested: sorted(suggested) } : {}),
    ...(found.size > 0 ? { found: sorted(found) } : {}),
  });
}

/** A symbol for people: its number, after its name where it has one. */
export function symbolTitle(symbol: number, names: SymbolNames): string {
  return titleOf(symbol, names.get(symbol) ?? null);
}

/** The same for all symbols of a run. */
export function symbolTitles(of: string | Run): (symbol: number) => string {
  const names = symbolNames(of);
  return (symbol) => symbolTitle(symbol, names);
}

/** The same where its name is at hand; one that ends with the number says it once. */
export function titleOf(symbol: number, name: string | null): string {
  const number = `(${symbol})`;
  if (name === null) return String(symbol);
  return name.endsWith(number) ? name : `${name} ${number}`;
}

interface StoredNames {
  /** Given by people. */
  names: SymbolNames;
  /** By a language model. */
  suggested: ReadonlyMap<number, SuggestedName>;
  /** Made of words. */
  found: SymbolNames;
}

/** What a model says of a symbol: its name, and a sentence. */
export type SuggestedName = { name: string; description: string };

/** Names that people gave cannot be made anew: a damaged file is an error for whoever changes them. */
const readNames = (files: RunFiles): StoredNames => namesIn(files.readJson(NAMES));

function namesIn(stored: Record<string, Record<string, unknown>> | undefined): StoredNames {
  const map = (part: Record<string, unknown> = {}) =>
    new Map(
      Object.entries(part)
        .filter(([, name]) => typeof name === 'string')
        .map(([symbol, name]) => [Number(symbol), String(name)]),
    );
  const said = Object.entries(stored?.suggested ?? {}).flatMap(([symbol, one]): [number, SuggestedName][] => {
    const { name, description } = (one ?? {}) as Partial<Record<keyof SuggestedName, unknown>>;
    if (typeof name !== 'string' || typeof description !== 'string') return [];
    return [[Number(symbol), { name, description }]];
  });
  return { names: map(stored?.names), suggested: new Map(said), found: map(stored?.found) };
}

/** A symbol as a user writes it, checked against how many there are. */
export function symbolNumber(text: string, symbols: number): number {
  const symbol = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (symbol < symbols) return symbol;
  throw new UserError(`the symbols of this model are 0 to ${symbols - 1}, got ${text}`);
}

/** Names are told apart by their words alone: case, commas and spaces do not matter. */
const comparable = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[\s,]+/g, ' ')
    .trim();

/** Names that a message suggests, at most. */
const NEAR_NAMES = 5;

/** A symbol by its number or its name, in any case; tables write both, as "oil prices (17)", which is taken too. */
export function symbolNamed(text: string, directory: string, symbols: number): number {
  if (/^[-+\d.]*$/.test(text.trim())) return symbolNumber(text, symbols);
  const wanted = comparable(text);
  const names = [...symbolNames(directory)].filter(([symbol]) => symbol < symbols);
  const same = names.filter(([symbol, name]) =>
    [name, titleOf(symbol, name)].some((one) => comparable(one) === wanted),
  );
  if (same.length === 1) return same[0]![0];
  const words = wanted.split(/\s+/);
  const near = names.filter(([, name]) => words.some((word) => name.toLowerCase().includes(word)));
  const shown = (same.length > 0 ? same : near)
    .slice(0, NEAR_NAMES)
    .map(([symbol, name]) => titleOf(symbol, name));
  if (same.length > 1)
    throw new UserError(`${same.length} symbols are called ${text}: ${shown.join(', ')}; give a number`);
  const hint = shown.length > 0 ? `near it are ${shown.join(', ')}` : 'hsn symbols RUN lists all';
  throw new UserError(
    `no symbol is called ${JSON.stringify(text)}; ${hint}, or give a number from 0 to ${symbols - 1}`,
  );
}

/** How many symbols a run has, without opening its model. */
export function runSymbols(directory: string): number {
  const run = Run.open(directory);
  if (run.config.model === 'language') return run.config.symbols;
  const symbols = run.files.readJson<{ symbols: number }>('graph.json')?.symbols;
  if (Number.isInteger(symbols)) return symbols!;
  throw new UserError(`${directory} has no graph.json yet; name symbols once training has ended`);
}
