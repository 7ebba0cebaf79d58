import { reasonOf, UserError } from './errors.ts';
import type { JsonValue } from './files.ts';
import { readRegular, readText } from './regular-file.ts';

// The one reader of a run's JSON: whoever needs such a file asks here.

/** Deeper than anything that is written, and shallow enough for whatever walks through it. */
const DEEPEST = 64;

/** A JSON file that must be there: a regular one, of bounded size, in which every key stands once. */
export function readJsonFile<T = JsonValue>(file: string): T {
  return parseJson<T>(readText(file), file);
}

/** The same for a file that need not be there. */
export function readJsonIfThere<T = JsonValue>(file: string): T | undefined {
  let bytes: Buffer;
  try {
    bytes = readRegular(file);
  } catch (error) {
    if (error instanceof UserError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UserError(`cannot read ${file}: ${reasonOf(error)}`);
  }
  return parseJson<T>(bytes.toString('utf8'), file);
}

/** JSON text of a file; keys that stand twice, or that are no plain ones, are faults of it. */
export function parseJson<T = JsonValue>(text: string, file: string, { anyKey = false } = {}): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${file} is damaged: expected JSON, got ${reasonOf(error)}`);
  }
  const fault = keyFault(text, anyKey);
  if (fault !== undefined) throw new UserError(`${file} is damaged: ${fault}`);
  return value as T;
}

/** What JSON.parse lets pass: of two equal keys it keeps the last, and __proto__ it takes for a name like any other. */
function keyFault(text: string, anyKey: boolean): string | undefined {
  // Keys of the objects that are open; null stands for an array.
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === '{' || letter === '[') open.push(letter === '{' ? new Set() : null);
    else if (letter === '}' || letter === ']') open.pop();
    if (open.length > DEEPEST) return `expected at most ${DEEPEST} levels, got more`;
    if (letter !== '"') continue;
    const end = stringEnd(text, at);
    const keys = open.at(-1);
    if (keys && isKey(text, end)) {
      const raw = text.slice(at + 1, end);
      const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
      if (key === '__proto__' && !anyKey) return 'expected plain keys, got "__proto__"';
      if (keys.has(key)) return `expected every key once, got ${JSON.stringify(key).slice(0, 80)} twice`;
      keys.add(key);
    }
    at = end;
  }
  return undefined;
}

/** Where a string that begins at `start` has its closing quote; the text is known to be JSON. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
}

function isKey(text: string, end: number): boolean {
  let at = end + 1;
  while (' \n\r\t'.includes(text[at] ?? 'x')) at++;
  return text[at] === ':';
}
