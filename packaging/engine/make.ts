import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAddon } from '../../packages/torch/setup/build.ts';
import type { Libtorch } from '../../packages/torch/setup/find.ts';
import type { Machine } from '../../packages/torch/setup/machine.ts';
import { here } from '../../packages/torch/setup/main.ts';
import type { Progress } from '../../packages/torch/setup/fault.ts';
import { type Places, targetsOf, type Variant } from '../../packages/torch/setup/targets.ts';
import {
  enginePackage,
  type PrebuiltFile,
  type PrebuiltManifest,
} from '../../packages/torch/src/engine-files.ts';
import { ROOT, readManifest } from '../packages.ts';
import { collect } from './contents.ts';
import { copyLicences } from './licences.ts';
import { NEWEST } from './requirements.ts';
import type { Wheel } from './wheel.ts';

/** Replaces symbols that are newer than the oldest system. */
const OLD_SYMBOLS = fileURLToPath(new URL('./glibc-2.28.h', import.meta.url));

/** What the engine is made with. */
export interface EngineParts {
  machine: Machine;
  wheel: Wheel;
  progress: Progress;
  /** Compiles even what an earlier build left in the cache. */
  fresh: boolean;
}

/** Makes the package of the engine for this machine in a folder, which is made anew. */
export async function makeEngine(
  { machine, wheel, progress, fresh }: EngineParts,
  out: string,
): Promise<PrebuiltManifest> {
  const build = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-engine-'));
  try {
    const { cache, ...others } = here;
    const variant = variantFor(machine, wheel.libtorch);
    const places: Places = { ...others, ...(fresh || !cache ? {} : { cache }), build, variant };
    const { compiler } = await buildAddon(machine, places, wheel.libtorch, { progress });
    fs.rmSync(out, { recursive: true, force: true });
    const built = targetsOf(places).map(({ file }) => path.join(build, file));
    const files = collect(built, wheel.libtorch.libDirs, path.join(out, 'lib'), machine.platform);
    copyLicences(wheel, machine.platform, path.join(out, 'LICENSES'));
    return describeEngine(out, { machine, libtorch: wheel.libtorch, compiler, files });
  } finally {
    fs.rmSync(build, { recursive: true, force: true });
  }
}

/** Flags by which the files run elsewhere and name no folder of this machine. */
function variantFor(machine: Machine, { root, libDirs }: Libtorch): Variant {
  const maps = [`-ffile-prefix-map=${root}=libtorch`, `-ffile-prefix-map=${ROOT.replace(/\/$/, '')}=.`];
  const linux = machine.platform === 'linux';
  const flags = [...maps, ...(linux ? ['-include', OLD_SYMBOLS] : [])];
  // Only for trying whether they load: in the package the libraries lie beside them.
  const variable = linux ? 'LD_LIBRARY_PATH' : 'DYLD_LIBRARY_PATH';
  return { flags, env: { [variable]: libDirs.join(':') }, relocatable: true };
}

interface Described {
  machine: Machine;
  libtorch: Libtorch;
  compiler: string;
  files: PrebuiltFile[];
}

/** Writes package.json, engine.json and README.md. */
function describeEngine(out: string, { machine, libtorch, compiler, files }: Described): PrebuiltManifest {
  const { platform, arch } = machine;
  const { version, repository, engines } = readManifest(ROOT);
  const name = enginePackage(platform, arch);
  const linux = platform === 'linux';
  const manifest: PrebuiltManifest = {
    ...{ name, version, libtorch: libtorch.version, compiler },
    ...(linux ? { glibc: NEWEST.GLIBC! } : {}),
    files,
  };
  writeJson(path.join(out, 'engine.json'), manifest);
  writeJson(path.join(out, 'package.json'), {
    ...{ name, version },
    description: `The engine of hidden-schema-networks for ${platform} on ${arch}: its addon with libtorch ${libtorch.version}.`,
    license: 'SEE LICENSE IN LICENSES/README.md',
    ...(repository ? { repository } : {}),
    engines,
    ...{ os: [platform], cpu: [arch], ...(linux ? { libc: ['glibc'] } : {}) },
    files: ['lib', 'LICENSES', 'engine.json'],
    preferUnplugged: true,
    publishConfig: { access: 'public' },
  });
  fs.writeFileSync(path.join(out, 'README.md'), readme(manifest));
  return manifest;
}

function readme({ name, libtorch, glibc, files }: PrebuiltManifest): string {
  const rows = files.map(({ name, bytes, why }) => `| \`${name}\` | ${megabytes(bytes)} | ${why} |`);
  return [
    `# ${name}`,
    '',
    `The engine of hidden-schema-networks, which installs it by itself: its addon on Node-API with the libraries of libtorch ${libtorch} that it needs, from pip's CPU build.`,
    ...(glibc ? [`It runs on systems with glibc ${glibc} or later.`] : []),
    '`engine.json` lists the checksums of every file, which the program compares before it loads them.',
    '',
    '| file | MB | why it is in |',
    '| --- | ---: | --- |',
    ...rows,
    '',
    'Licences of all parts are in [LICENSES](LICENSES/README.md).',
    '',
  ].join('\n');
}

export const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e6 ? 2 : 1);

function writeJson(file: string, value: unknown): void {
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
