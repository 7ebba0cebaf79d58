import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Operators of packages that lie beside this one, in a repository and in an install alike: of those whose package.json
 * says `"libtorch": { "operators": folder }`. They are called as their package, without its scope.
 */
export function operatorsBeside(own: string): Record<string, string> {
  const parent = resolve(own, '..');
  const found = readdirSync(parent).flatMap((entry) => operatorsOf(join(parent, entry)));
  return Object.fromEntries(found);
}

function operatorsOf(folder: string): [name: string, sources: string][] {
  try {
    const described: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { name, libtorch } = described as { name: string; libtorch?: { operators?: string } };
    const sources = libtorch?.operators;
    return sources === undefined ? [] : [[name.replace(/^.*\//, ''), join(folder, sources)]];
  } catch {
    return [];
  }
}
