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
  for (const part of path) {
    found = found.flatMap(({ _zod: { def } }) => {
      const next =
        def.type === 'object' && Object.hasOwn(def.shape, part)
          ? def.shape[part as string]
          : def.type === 'tuple'
            ? def.items[Number(part)]
            : undefined;
      return next ? members(next as Schema) : [];
    });
  }
  return found;
}

export function keysAt(root: SettingsSchema, path: Path): string[] {
  return schemasAt(root, path).flatMap(({ _zod: { def } }) =>
    def.type === 'object' ? Object.keys(def.shape) : def.type === 'tuple' ? Object.keys(def.items) : [],
  );
}

function allPaths(root: SettingsSchema, path: readonly string[] = []): string[][] {
  return keysAt(root, path).flatMap((key) => [[...path, key], ...allPaths(root, [...path, key])]);
}

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
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = least;
    }
  }
  return rows[a.length]![b.length]!;
}
