import { execFileSync } from 'node:child_process';

/** What a shared library asks of the system that loads it. */
export interface Requirements {
  /** Libraries by name. */
  needed: string[];
  /** Folders in which it looks for them. */
  runpath: string[];
  /** Versions of symbols, with the library that has to bring them. */
  versions: { library: string; version: string }[];
}

/** Oldest systems that the engine runs on: glibc 2.28 and the libstdc++ of GCC 8, as in Debian 10 and RHEL 8. */
export const NEWEST: Readonly<Record<string, string>> = {
  GLIBC: '2.28',
  GLIBCXX: '3.4.25',
  CXXABI: '1.3.11',
  GCC: '7.0.0',
};

/** Libraries that every such system has, Node itself needing them. */
const SYSTEM = /^(?:ld-linux-[\w-]+|lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so\.\d+$/;
/** The same on macOS. */
const SYSTEM_DARWIN = /^\/(?:usr\/lib|System\/Library)\//;

/** Requirements of an ELF file, as objdump prints them. */
export function requirementsOf(file: string): Requirements {
  return parseObjdump(execFileSync('objdump', ['-p', file], { encoding: 'utf8' }));
}

export function parseObjdump(text: string): Requirements {
  const found: Requirements = { needed: [], runpath: [], versions: [] };
  let library = '';
  for (const line of text.split('\n')) {
    const [, tag, value = ''] = /^\s+(NEEDED|RUNPATH|RPATH)\s+(\S+)/.exec(line) ?? [];
    if (tag === 'NEEDED') found.needed.push(value);
    else if (tag !== undefined) found.runpath.push(...value.split(':'));
    library = /^\s+required from (\S+):/.exec(line)?.[1] ?? library;
    const version = /^\s+0x[0-9a-f]+ 0x[0-9a-f]+ \d+ (\S+)/.exec(line)?.[1];
    if (version !== undefined && library !== '') found.versions.push({ library, version });
  }
  return found;
}

/** What keeps a file of the package from loading on the oldest system, one line each; `shipped` are the package's files. */
export function faultsOf(file: string, shipped: readonly string[]): string[] {
  const { needed, runpath, versions } = requirementsOf(file);
  const missing = needed.filter((name) => !shipped.includes(name) && !SYSTEM.test(name));
  const elsewhere = runpath.filter((folder) => folder !== '$ORIGIN');
  const late = versions.filter(({ library, version }) => !shipped.includes(library) && isNewer(version));
  return [
    ...missing.map((name) => `needs ${name}, which is not in the package and not on every system`),
    ...elsewhere.map((folder) => `looks for libraries in ${folder}`),
    ...late.map(({ library, version }) => `needs ${version} of ${library}`),
  ];
}

function isNewer(symbol: string): boolean {
  const [, family = '', version = ''] = /^([A-Z]+)_([\d.]+)$/.exec(symbol) ?? [];
  const newest = NEWEST[family];
  // A family that is not listed, such as GLIBC_PRIVATE, belongs to one build of one library.
  return newest === undefined || compareVersions(version, newest) > 0;
}

/** Below 0 where `a` is the older version, 0 where both are the same. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number)) as [number[], number[]];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Names of libraries that a file needs and the system does not bring; those of macOS begin with @rpath. */
export function ownLibraries(file: string, platform: NodeJS.Platform): string[] {
  if (platform !== 'darwin') return requirementsOf(file).needed.filter((name) => !SYSTEM.test(name));
  const listed = execFileSync('otool', ['-L', file], { encoding: 'utf8' });
  const names = [...listed.matchAll(/^\t(\S+) \(/gm)].map(([, name]) => name!);
  return names.filter((name) => !SYSTEM_DARWIN.test(name)).map((name) => name.replace(/^.*\//, ''));
}
