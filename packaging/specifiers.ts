import path from 'node:path';
import type { Workspace } from './packages.ts';

/** Imports as the compiler writes them: a statement that begins and ends its line, or a call. */
const pattern = /(^(?:import|export|\})(?:[^'"\n]*\bfrom)?\s*|\bimport\(\s*)(['"])([^'"\n]+)\2(?=\)|;?$)/gm;

/** The built file behind every name that a shipped package is imported by, from the folder of built packages. */
export function builtEntries(packages: readonly Workspace[]): Map<string, string> {
  const entries = new Map<string, string>();
  for (const { folder, manifest } of packages)
    for (const [key, file] of Object.entries(manifest.exports ?? {}))
      entries.set(path.posix.join(manifest.name, key), path.posix.join(folder, file.replace(/\.ts$/, '.js')));
  return entries;
}

/** The built file that a name leads to; names with a star, such as `@hidden-schema/hsn/*`, count after whole ones. */
function entryOf(target: string, entries: ReadonlyMap<string, string>): string | undefined {
  const whole = entries.get(target);
  if (whole !== undefined) return whole;
  for (const [name, file] of entries) {
    const [start, end] = name.split('*');
    if (end !== undefined && target.startsWith(start!)) return file.replace('*', target.slice(start!.length));
  }
  return undefined;
}

/** The text of a built file with packages of the workspace imported by path, and `.ts` as what it became. */
export function rewritten(text: string, file: string, entries: ReadonlyMap<string, string>): string {
  return text.replace(pattern, (all, before: string, quote: string, target: string) => {
    const entry = entryOf(target, entries);
    if (entry !== undefined) {
      const relative = path.posix.relative(path.posix.dirname(file), entry);
      return `${before}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`;
    }
    return target.startsWith('.') ? `${before}${quote}${target.replace(/\.ts$/, '.js')}${quote}` : all;
  });
}

/** Packages that a built file imports by name. */
export function outerImports(text: string): string[] {
  return [...text.matchAll(pattern)]
    .map(([, , , target]) => target!)
    .filter((target) => !/^[./]|^node:/.test(target))
    .map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/'));
}
