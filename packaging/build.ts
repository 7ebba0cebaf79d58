// npm run build: writes the package that people install, ES modules with types, into packages/hidden-schema-networks/dist
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPage } from '../packages/explorer/src/server/build.ts';
import { enginePackage } from '../packages/torch/src/engine-files.ts';
import {
  FACE,
  type Manifest,
  OUT,
  outerDependencies,
  PUBLISHED_ENGINES,
  ROOT,
  readManifest,
  shippedPackages,
  type Workspace,
} from './packages.ts';
import { builtEntries, outerImports, rewritten } from './specifiers.ts';

/** Folder of compiled packages, and of their sources, which the maps of declarations lead to. */
const [LIB, SOURCE] = ['lib', 'source'];
/** Settings that help and faults name. */
const EXAMPLES = 'experiments';

/** Builds the package into a folder, which is made anew. */
export async function buildPackage(out = OUT): Promise<void> {
  fs.rmSync(out, { recursive: true, force: true });
  const packages = shippedPackages();
  compile(path.join(out, LIB));
  copyParts(out, packages);
  fs.cpSync(path.join(ROOT, EXAMPLES), path.join(out, EXAMPLES), { recursive: true });
  await copyPage(path.join(out, LIB, 'explorer/dist/page'));
  const imported = connect(out, packages);
  writeFront(out, packages);
  checkDependencies(out, imported);
}

function compile(lib: string): void {
  const tsc = path.join(ROOT, 'node_modules/typescript/lib/tsc.js');
  execFileSync(process.execPath, [tsc, '-p', path.join(ROOT, 'tsconfig.build.json'), '--outDir', lib], {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: ROOT,
  });
}

/** Scripts that start TypeScript in a process of its own are needed in the repository alone. */
const startsTypeScript = (file: string): boolean => fs.readFileSync(file, 'utf8').includes('tsx/esm/api');

/** Beside what was compiled: plain scripts, sources of the engine, and sources that declarations are mapped to. */
function copyParts(out: string, packages: readonly Workspace[]): void {
  for (const { folder, manifest } of packages) {
    const from = path.join(ROOT, 'packages', folder);
    const to = path.join(out, LIB, folder);
    for (const file of filesUnder(from, ['src', 'setup'])) {
      if (file.endsWith('.mjs') && !startsTypeScript(path.join(from, file)))
        copy(path.join(from, file), path.join(to, file));
      const compiled = path.join(to, file.replace(/\.ts$/, '.js'));
      if (file.endsWith('.ts') && fs.existsSync(compiled))
        copy(path.join(from, file), path.join(out, SOURCE, folder, file));
    }
    for (const file of filesUnder(from, ['native'])) copy(path.join(from, file), path.join(to, file));
    // Set-up looks there for sources of operators (`libtorch`).
    const { name, version, libtorch } = manifest;
    writeJson(path.join(to, 'package.json'), { name, version, private: true, type: 'module', libtorch });
  }
}

async function copyPage(to: string): Promise<void> {
  fs.cpSync(await builtPage(), to, { recursive: true });
}

/** Turns names of the workspace's packages into paths; gives what is imported from outside, with one file of each. */
function connect(out: string, packages: readonly Workspace[]): Map<string, string> {
  const entries = builtEntries(packages);
  const imported = new Map<string, string>();
  const lib = path.join(out, LIB);
  for (const file of filesUnder(lib)) {
    const whole = path.join(lib, file);
    if (file.endsWith('.map')) redirectMap(whole, path.join(out, SOURCE, file));
    if (!/\.(js|mjs|d\.ts)$/.test(file) || file.startsWith('explorer/dist/')) continue;
    const text = rewritten(fs.readFileSync(whole, 'utf8'), file, entries);
    fs.writeFileSync(whole, text);
    for (const name of outerImports(text)) imported.set(name, file);
  }
  return imported;
}

/** The compiler maps declarations to the repository; the package has the sources elsewhere. */
function redirectMap(file: string, source: string): void {
  const map = JSON.parse(fs.readFileSync(file, 'utf8')) as { sources: string[] };
  const target = path.relative(path.dirname(file), source.replace(/\.d\.ts\.map$/, '.ts'));
  fs.writeFileSync(file, JSON.stringify({ ...map, sources: [target.split(path.sep).join('/')] }));
}

/** What npm and people read first: package.json, the program, README and licence. */
function writeFront(out: string, packages: readonly Workspace[]): void {
  const face = packages.find(({ manifest }) => manifest.name === FACE)!;
  const { exports = {}, devDependencies: _, dependencies: __, ...about } = face.manifest;
  const root = readManifest(ROOT);
  const manifest: Manifest = {
    ...about,
    ...(root.repository ? { repository: root.repository } : {}),
    engines: root.engines,
    bin: { hsn: 'bin/hsn.js' },
    exports: { ...typedExports(exports), './package.json': './package.json' },
    types: `./${LIB}/${FACE}/src/index.d.ts`,
    sideEffects: [
      './bin/hsn.js',
      `./${LIB}/torch/setup/main.js`,
      `./${LIB}/torch/src/native.js`,
      `./${LIB}/explorer/src/server/worker.js`,
      `./${LIB}/text/src/parquet-worker.js`,
      '**/*.mjs',
    ],
    files: ['bin', LIB, SOURCE, EXAMPLES, 'CHANGELOG.md'],
    dependencies: outerDependencies(packages),
    optionalDependencies: engineDependencies(about.version),
  };
  writeJson(path.join(out, 'package.json'), manifest);
  const program = [
    '#!/usr/bin/env node',
    `import { main } from '../${LIB}/cli/src/main.js';`,
    '',
    'await main(process.argv.slice(2));',
  ];
  fs.mkdirSync(path.join(out, 'bin'));
  fs.writeFileSync(path.join(out, 'bin/hsn.js'), `${program.join('\n')}\n`, { mode: 0o755 });
  copy(path.join(ROOT, 'packages', FACE, 'README.md'), path.join(out, 'README.md'));
  for (const name of ['LICENSE', 'CHANGELOG.md']) copy(path.join(ROOT, name), path.join(out, name));
}

/** The engines that npm may install, each for one platform; a system without one compiles its own (`hsn setup`). */
function engineDependencies(version: string): Record<string, string> {
  return Object.fromEntries(
    PUBLISHED_ENGINES.map(([platform, arch]) => [enginePackage(platform, arch), version]),
  );
}

function typedExports(exports: Record<string, string>): Record<string, { types: string; default: string }> {
  const built = (file: string, ending: string) =>
    `./${LIB}/${FACE}/${path.posix.normalize(file).replace(/\.ts$/, ending)}`;
  return Object.fromEntries(
    Object.entries(exports).map(([key, file]) => [
      key,
      { types: built(file, '.d.ts'), default: built(file, '.js') },
    ]),
  );
}

/** Builds the page, which a package from npm has already. */
const atHome = new Set(['vite']);

/** Every package that is imported is one that npm installs; none of the workspace is asked for. */
function checkDependencies(out: string, imported: ReadonlyMap<string, string>): void {
  const { dependencies = {} } = readManifest(out);
  for (const [name, file] of imported)
    if (!(name in dependencies || atHome.has(name)))
      throw new Error(`${file} imports ${name}, which is in no package's dependencies`);
}

function filesUnder(folder: string, parts: readonly string[] = ['.']): string[] {
  return parts
    .filter((part) => fs.existsSync(path.join(folder, part)))
    .flatMap((part) =>
      fs
        .readdirSync(path.join(folder, part), { recursive: true, encoding: 'utf8' })
        .map((name) => path.posix.join(part, name.split(path.sep).join('/'))),
    )
    .filter((name) => fs.statSync(path.join(folder, name)).isFile());
}

function copy(from: string, to: string): void {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(from, to);
}

function writeJson(file: string, value: unknown): void {
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildPackage();
  process.stdout.write(
    `${path.relative(process.cwd(), OUT)} is ready: npm publish ${path.relative(process.cwd(), OUT)}\n`,
  );
}
