import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compileFlags, linkFlags, threadFlags } from './compile.ts';
import type { Libtorch } from './find.ts';
import type { Machine } from './machine.ts';

export interface Places {
  /** Folder of the addon's sources. */
  readonly native: string;
  /** Folder for what is built, info.json and a downloaded libtorch. */
  readonly build: string;
  /** Libraries of operators that other packages bring: their sources' folders by name. */
  readonly operators?: Readonly<Record<string, string>>;
  /** Addons that need no libtorch, so that they load at once: their sources' folders by name. */
  readonly plain?: Readonly<Record<string, string>>;
  /** Folder of earlier builds. */
  readonly cache?: string;
  /** What sets this build apart from the ordinary one. */
  readonly variant?: Variant;
}

/** Flags to compile and link with after the usual ones, and the environment that the addon loads in. */
export interface Variant {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether the files look for libtorch's libraries in their own folder, wherever that is. */
  readonly relocatable?: boolean;
}

/** One file to build. */
export interface Target {
  readonly file: string;
  readonly native: string;
  /** Folders whose headers it may include: the addon's are every library's. */
  readonly include: readonly string[];
  readonly kind: 'engine' | 'operators' | 'plain';
}

export const addonFile = 'torch.node';

/** The addon, then the libraries of operators, then addons without libtorch. */
export function targetsOf({ native, operators = {}, plain = {} }: Places): Target[] {
  const named = (folders: Readonly<Record<string, string>>) =>
    Object.entries(folders).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    { file: addonFile, native, include: [], kind: 'engine' },
    ...named(operators).map(
      ([name, folder]): Target => ({
        ...{ file: `${name}.so`, native: folder },
        ...{ include: [native], kind: 'operators' },
      }),
    ),
    ...named(plain).map(
      ([name, folder]): Target => ({ file: `${name}.node`, native: folder, include: [], kind: 'plain' }),
    ),
  ];
}

export function sources(machine: Machine, folder: string, pattern: RegExp): string[] {
  return machine
    .list(folder)
    .filter((name) => pattern.test(name))
    .sort();
}

/** Changes exactly when one of the files has to be compiled again. */
export function targetHash(machine: Machine, places: Places, libtorch: Libtorch, target: Target): string {
  const hash = createHash('sha256');
  const { version, includeDirs, libDirs, cuda, abi } = libtorch;
  hash.update(
    JSON.stringify([
      ...[compileFlags, threadFlags, linkFlags(machine, libtorch, places.variant)],
      ...[machine.platform, machine.arch],
    ]),
  );
  if (places.variant) hash.update(JSON.stringify(places.variant.flags));
  hash.update(JSON.stringify([version, includeDirs, libDirs, cuda, abi ?? null, process.versions.modules]));
  const add = (folder: string, pattern: RegExp): void => {
    for (const name of sources(machine, folder, pattern))
      hash.update(JSON.stringify([name, machine.read(join(folder, name))]));
  };
  add(target.native, /\.(cc|h)$/);
  for (const folder of target.include) add(folder, /\.h$/);
  return hash.digest('hex');
}

/** Changes exactly when something has to be compiled again. */
export function buildHash(machine: Machine, places: Places, libtorch: Libtorch): string {
  const hash = createHash('sha256');
  for (const target of targetsOf(places))
    hash.update(`${target.file} ${targetHash(machine, places, libtorch, target)}\n`);
  return hash.digest('hex');
}

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
