import { UserError } from '@hidden-schema/base';
import { type Document, isMap, isPair, isScalar, type LineCounter, parseDocument, visit } from 'yaml';
import { isMapping } from './defaults.ts';
import { dotted, type Path, show } from './settings-schema.ts';

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
  if (Buffer.byteLength(text) > MAX_BYTES) {
    throw new UserError(
      `${source}: expected a config of at most 1 MB, got ${(Buffer.byteLength(text) / 1e6).toFixed(1)} MB`,
    );
  }
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
