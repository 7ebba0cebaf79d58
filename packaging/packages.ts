import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The package that people install; all others lie inside it. */
export const FACE = 'hidden-schema-networks';
/** Built folder of the package to publish. */
export const OUT = path.join(ROOT, 'packages', FACE, 'dist');

/** Folder of the tarballs that `npm run package` makes. */
export const TARBALLS = path.join(ROOT, 'packaging/out');
/** Bytes of a packed engine at most. */
export const ENGINE_LIMIT = 150e6;
/** Engines that are published: npm installs the one for the user's platform. Others come in once they are published. */
export const PUBLISHED_ENGINES: readonly (readonly [platform: string, arch: string])[] = [['linux', 'x64']];

/** What is read of a package.json. */
export interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  exports?: Record<string, string>;
  [key: string]: unknown;
}

/** A package of the workspace. */
export interface Workspace {
  /** The name of its folder. */
  folder: string;
  manifest: Manifest;
}

export const readManifest = (folder: string): Manifest =>
  JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;

/** The packages that are shipped: the face, and all it depends on. */
export function shippedPackages(): Workspace[] {
  const all = new Map(
    fs.readdirSync(path.join(ROOT, 'packages')).map((folder): [string, Workspace] => {
      const manifest = readManifest(path.join(ROOT, 'packages', folder));
      return [manifest.name, { folder, manifest }];
    }),
  );
  const found = new Set([all.get(FACE)!]);
  // A set that grows while it is walked through gives what was added too.
  for (const { manifest } of found)
    for (const name of Object.keys(manifest.dependencies ?? {})) if (all.has(name)) found.add(all.get(name)!);
  return [...found].sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

/** What the shipped packages need of others, by name; two that want different versions of one are a fault. */
export function outerDependencies(packages: readonly Workspace[]): Record<string, string> {
  const own = new Set(packages.map(({ manifest }) => manifest.name));
  const needed = new Map<string, string>();
  for (const { manifest } of packages)
    for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
      if (own.has(name)) continue;
      const known = needed.get(name) ?? version;
      if (known !== version) throw new Error(`${manifest.name} wants ${name} ${version}, another ${known}`);
      needed.set(name, version);
    }
  return Object.fromEntries([...needed].sort(([a], [b]) => (a < b ? -1 : 1)));
}
