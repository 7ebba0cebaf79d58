import { UserError } from '@hidden-schema/base';
import { DEFAULT_ENCODER } from '@hidden-schema/transformers/default-encoder';
import { type Document, isMap, isPair, isScalar, type LineCounter, parseDocument, visit } from 'yaml';
import type { z } from 'zod';

export type Path = readonly PropertyKey[];
type Schema = z.core.$ZodTypes;

/** What the settings of one kind of model look like. */
export type SettingsSchema = z.ZodType;

/** The schema without defaults around it; a union gives each of its members. */
function members(schema: Schema): Schema[] {
  const { def } = schema._zod;
  if (def.type === 'union') return def.options.flatMap((option) => members(option as Schema));
  return 'innerType' in def ? members(def.innerType as Schema) : [schema];
}

function schemasAt(root: SettingsSchema, path: Path): Schema[] {
  let found = members(root as unknown as Schema);
  for (const part of path)
    found = found.flatMap(({ _zod: { def } }) => {
      const next =
        def.type === 'object' && Object.hasOwn(def.shape, part)
          ? def.shape[part as string]
          : def.type === 'tuple'
            ? def.items[Number(part)]
            : undefined;
      return next ? members(next as Schema) : [];
    });

  return found;
}

export function keysAt(root: SettingsSchema, path: Path): string[] {
  return schemasAt(root, path).flatMap(({ _zod: { def } }) =>
    def.type === 'object' ? Object.keys(def.shape) : def.type === 'tuple' ? Object.keys(def.items) : [],
  );
}

const allPaths = (root: SettingsSchema, path: readonly string[] = []): string[][] =>
  keysAt(root, path).flatMap((key) => [[...path, key], ...allPaths(root, [...path, key])]);

/** What the config expects at `path`, in words: `a whole number above 0`. */
export const expectedAt = (root: SettingsSchema, path: Path): string =>
  schemasAt(root, path).map(describe).join(' or ');

/** A schema in words. */
function describe(schema: Schema): string {
  const { def } = schema._zod;
  switch (def.type) {
    case 'number':
      return describeNumber(schema);
    case 'boolean':
      return 'true or false';
    case 'enum':
      return oneOf(Object.values(def.entries));
    case 'literal':
      return oneOf(def.values);
    case 'template_literal':
      return def.parts.map((part) => (typeof part === 'string' ? part : '<number>')).join('');
    case 'array':
      return 'a list';
    case 'object':
      return `a mapping of ${Object.keys(def.shape).join(', ')}`;
    case 'tuple': {
      const items = def.items.map((item) =>
        members(item as Schema)
          .map(describe)
          .join(' or '),
      );
      return `a list of ${items.length} (${items.join('; ')})`;
    }
    default:
      return `a ${def.type}`;
  }
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;

function describeNumber(schema: Schema): string {
  const { def } = schema._zod;
  const checks = [schema as z.core.$ZodType, ...(def.checks ?? [])].map(
    (check) => check._zod.def as { check?: string; format?: string; value?: number; inclusive?: boolean },
  );
  const whole = checks.some(({ format }) => format === 'safeint');
  const limits = checks.flatMap(({ check, value, inclusive }) => {
    // The bounds of safe integers go without saying.
    if (value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER) return [];
    if (check === 'greater_than') return [`${inclusive ? 'of at least' : 'above'} ${value}`];
    return check === 'less_than' ? [`${inclusive ? 'at most' : 'below'} ${value}`] : [];
  });
  return [whole ? 'a whole number' : 'a number', limits.join(' and ')].filter(Boolean).join(' ');
}

export const dotted = (path: Path): string => path.map((part) => plainText(String(part), 60)).join('.');

export function show(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number') return String(value);
  try {
    return plainText(JSON.stringify(value), 60);
  } catch {
    return 'a value that contains itself';
  }
}

/** Text from the file, shortened and without control characters, so that it is safe to print. */
function plainText(text: string, limit: number): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '�');
  return clean.length > limit ? `${clean.slice(0, limit)}…` : clean;
}

// Nearest names

export function unknownKey(root: SettingsSchema, above: Path, key: string): string {
  const near = nearest(root, above.map(String), key);
  const full = dotted([...above, key]);
  if (near) return `unknown key ${full}, did you mean ${near}?`;
  const keys = keysAt(root, above).join(', ');
  return `unknown key ${full}, expected ${keys ? `one of ${keys}` : `no keys inside ${dotted(above)}`}`;
}

/** The path most like the key: beside it if possible, otherwise the same name elsewhere. */
function nearest(root: SettingsSchema, above: readonly string[], key: string): string | undefined {
  const place = above.join('.');
  const scored = allPaths(root).map((path) => {
    const beside = path.slice(0, -1).join('.') === place;
    const distance = editDistance(plainName(path.at(-1)!), plainName(key));
    return { path, distance: distance + (beside ? 0 : 0.5), allowed: beside ? allowance(key) : 0.5 };
  });
  const close = scored.filter(({ distance, allowed }) => distance <= allowed);
  return close.sort((a, b) => a.distance - b.distance)[0]?.path.join('.');
}

const allowance = (key: string): number => Math.max(1, Math.floor(key.length / 3));
const plainName = (key: string): string => key.slice(0, 60).toLowerCase().replace(/[-_]/g, '');

/** Levenshtein distance in which swapped neighbours count once. */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => {
    const row = new Array<number>(b.length + 1).fill(0);
    row[0] = i;
    return row;
  });
  for (let j = 0; j <= b.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = least;
    }

  return rows[a.length]![b.length]!;
}

const MAX_BYTES = 1_000_000;
const MAX_ALIASES = 20;
const MAX_FAULTS_SHOWN = 20;

/** One thing wrong: where in the settings, and what to say; `text` is lazy since only the first few are shown. */
export interface Fault {
  path: Path;
  text: () => string;
}

/** Faults as one message, a line each where there are several; the first few are shown. */
export function listed(source: string, lines: readonly (() => string)[]): string {
  if (lines.length === 1) return `${source}: ${lines[0]!()}`;
  const shown = lines.slice(0, MAX_FAULTS_SHOWN).map((line) => `  ${line()}`);
  if (lines.length > shown.length) shown.push(`  … and ${lines.length - shown.length} more`);
  return `${source} has ${lines.length} faults:\n${shown.join('\n')}`;
}

/** The settings of a YAML text, its document and what is wrong with its keys; refuses what is no YAML. */
export function readYaml(text: string, source: string, lines: LineCounter) {
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new UserError(
      `${source}: expected a config of at most 1 MB, got ${(Buffer.byteLength(text) / 1e6).toFixed(1)} MB`,
    );

  try {
    // The parser compares each key with all before it; `duplicateKeys` finds them in linear time.
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
    const broken = [...document.errors, ...document.warnings];
    if (broken.length > 0) {
      const line = (at: number) => lines.linePos(at).line;
      throw new UserError(
        listed(
          source,
          broken.map((error) => () => `line ${line(error.pos[0])}: ${firstLine(error.message)}`),
        ),
      );
    }
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
    if (!isMapping(data)) throw new UserError(`${source}: expected "key: value" lines, got ${show(data)}`);
    return { data, document, faults: duplicateKeys(document) };
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason =
      error instanceof ReferenceError
        ? `expected at most ${MAX_ALIASES} aliases, none of them within itself, got more (${firstLine(error.message)})`
        : 'it is nested too deeply to read';
    throw new UserError(`${source}: ${reason}`);
  }
}

function duplicateKeys(document: Document): Fault[] {
  const faults: Fault[] = [];
  visit(document, {
    Map(_, map, ancestors) {
      const seen = new Set<string>();
      const above = ancestors.flatMap((node) => (isPair(node) ? [keyName(node.key)] : []));
      for (const { key } of map.items) {
        const name = keyName(key);
        const path = [...above, name];
        if (seen.has(name))
          faults.push({ path, text: () => `${dotted(path)} is given twice, expected once` });
        seen.add(name);
      }
    },
  });
  return faults;
}

const keyName = (key: unknown): string => (isScalar(key) ? String(key.value) : String(key));

/** Where the key at `path`, or the nearest one above it that is written down, stands in the text. */
export function offsetOf(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const part of path) {
    if (!isMap(node)) break;
    const pair = node.items.findLast(({ key }) => keyName(key) === String(part));
    if (!pair) break;
    if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
    node = pair.value;
  }
  return offset;
}

export const firstLine = (text: string): string => text.split('\n')[0]!;

/** Settings as a file has them, not checked yet. */
export type Data = Record<string, unknown>;

export const isMapping = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is given, and beneath it defaults for what is not. */
export function mergeDefaults(data: Data, defaults: Data): Data {
  const merged = { ...defaults, ...data };
  for (const [key, inner] of Object.entries(defaults))
    if (isMapping(inner) && isMapping(data[key])) merged[key] = mergeDefaults(data[key], inner);
  return merged;
}

/**
 * Defaults of new text runs where the encoder is a frozen pretrained one: symbols are discovered as vectors in its space,
 * with free links, walks that may end early, and steps as sure as they come.
 */
export function discoveringDefaults(data: Readonly<Data>): Data {
  const {
    name = DEFAULT_ENCODER,
    frozen = true,
    walks,
  } = isMapping(data.encoder) ? data.encoder : ({} as Data);
  const scratch = name === 'transformer' || name === 'lstm';
  if (
    !['language', 'reasoning'].includes(String(data.model)) ||
    data.baseline === true ||
    scratch ||
    frozen !== true
  )
    return {};
  if (walks !== undefined && walks !== 'pursuit') return {};
  return {
    ...(cutsPassages(data) ? { discovery: { passages: true } } : {}),
    encoder: { walks: 'pursuit' },
    graph: { posterior: 'free', symbols: 'learnable', selfLoops: true },
    walk: { range: 'none', stays: true },
  };
}

/** Whether new runs of these settings cut long texts: walks must follow what is left of a text, and may end early. */
function cutsPassages({ model, discovery, walk }: Readonly<Data>): boolean {
  const words = isMapping(discovery) && discovery.follow === 'words';
  const fixed = isMapping(walk) && walk.stays === false;
  return model === 'language' && !words && !fixed;
}
