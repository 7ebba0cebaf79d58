import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { again, SetupError } from './fault.ts';
import type { Libtorch } from './find.ts';
import { type Machine, versionOf } from './machine.ts';
import type { Progress } from './progress.ts';

export interface Places {
  /** Folder of the addon's sources. */
  readonly native: string;
  /** Folder for torch.node, info.json and a downloaded libtorch. */
  readonly build: string;
  /** What sets this build apart from the ordinary one. */
  readonly variant?: Variant;
}

/** Flags to compile and link with after the usual ones, and the environment that the addon loads in. */
export interface Variant {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What the engine and `hsn doctor` read about the built addon. */
export interface BuildInfo extends Libtorch {
  readonly compiler: string;
  readonly hash: string;
  readonly builtAt: string;
  readonly seconds: number;
}

const compileFlags = [
  '-std=c++17',
  '-O3',
  '-Wall',
  '-Wextra',
  // As libtorch's releases are built: some of its classes have other members otherwise.
  '-DNDEBUG',
  '-fPIC',
  '-fvisibility=hidden',
  '-fexceptions',
  '-DNAPI_VERSION=8',
  '-DNAPI_CPP_EXCEPTIONS',
];

/** Without it libtorch's loops over threads, which are templates, run on one: Apple's and LLVM's compilers lack it. */
const threadFlags = ['-fopenmp'];

/** Changes exactly when the addon has to be compiled again. */
export function buildHash(machine: Machine, places: Places, libtorch: Libtorch): string {
  const hash = createHash('sha256');
  const { version, includeDirs, libDirs, cuda, abi } = libtorch;
  hash.update(
    JSON.stringify([compileFlags, threadFlags, linkFlags(machine, libtorch), machine.platform, machine.arch]),
  );
  if (places.variant) hash.update(JSON.stringify(places.variant.flags));
  hash.update(JSON.stringify([version, includeDirs, libDirs, cuda, abi ?? null, process.versions.modules]));
  for (const name of sources(machine, places, /\.(cc|h)$/))
    hash.update(JSON.stringify([name, machine.read(join(places.native, name))]));
  return hash.digest('hex');
}

/** Compiles the addon; torch.node is replaced only by one that loads. */
export async function buildAddon(
  machine: Machine,
  places: Places,
  libtorch: Libtorch,
  progress: Progress,
  expectedSeconds = 60,
): Promise<BuildInfo> {
  const start = performance.now();
  const { command: compiler, version } = await findCompiler(machine);
  const command = /clang/i.test(version) ? compiler : [...compiler, ...threadFlags];
  const { flags = [], env = {} } = places.variant ?? {};
  const names = sources(machine, places, /\.cc$/);
  const collectives = await collectiveFlags(machine, libtorch);
  if (names.length === 0) throw noSources(places);
  const hash = buildHash(machine, places, libtorch);
  await mkdir(places.build, { recursive: true });
  const work = await mkdtemp(join(places.build, 'compiling-'));
  try {
    const made = join(work, 'torch.node');
    await progress.during(`compiling the addon, about ${Math.round(expectedSeconds)} s`, async () => {
      const objects = await eachInTurn(names, availableParallelism(), (name) =>
        compile(machine, [...command, ...collectives], libtorch, {
          source: join(places.native, name),
          work,
          flags,
        }),
      );
      await link(machine, [...command, ...flags], libtorch, objects, made);
    });
    await checkLoads(machine, made, libtorch, env);
    await rename(made, join(places.build, 'torch.node'));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  return { ...libtorch, compiler: version, hash, builtAt: new Date().toISOString(), seconds };
}

/** Runs `body` for every item, as many at a time as there are cores: a compiler of libtorch's headers takes 0.7 GB. */
async function eachInTurn<T, R>(
  items: readonly T[],
  atOnce: number,
  body: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const work = async (): Promise<void> => {
    for (const [i, item] of waiting) results[i] = await body(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return results;
}

function sources(machine: Machine, places: Places, pattern: RegExp): string[] {
  return machine
    .list(places.native)
    .filter((name) => pattern.test(name))
    .sort();
}

/** `$CXX`, which may carry arguments (`ccache g++`), or the first usual name that runs. */
async function findCompiler(machine: Machine): Promise<{ command: string[]; version: string }> {
  const given = machine.env.CXX?.trim();
  const candidates = given ? [given.split(/\s+/)] : [['c++'], ['g++'], ['clang++']];
  for (const command of candidates) {
    const version = await versionOf(machine, command);
    if (version !== undefined) return { command, version };
  }
  const remedy = machine.platform === 'darwin' ? 'xcode-select --install' : 'sudo apt-get install g++';
  throw new SetupError(
    'no C++ compiler',
    'a compiler of C++17 as $CXX, c++, g++ or clang++',
    given ? `CXX=${given}, which does not run` : 'none of them on the PATH',
    [`${remedy} (or your system’s equal), ${again}`, `set CXX to your compiler, ${again}`],
  );
}

/** Which of torch's collectives the libraries carry: not every libtorch was built with them. */
async function collectiveFlags(machine: Machine, { libDirs, cuda }: Libtorch): Promise<string[]> {
  const extension = machine.platform === 'darwin' ? 'dylib' : 'so';
  const carries = async (library: string, name: string): Promise<boolean> => {
    const files = libDirs
      .map((dir) => join(dir, `${library}.${extension}`))
      .filter((file) => machine.exists(file));
    if (files.length === 0) return false;
    return (await machine.run('grep', ['-q', name, ...files])).code === 0;
  };
  const gloo = await carries('libtorch_cpu', 'ProcessGroupGloo');
  const nccl = cuda && (await carries('libtorch_cuda', 'ProcessGroupNCCL'));
  return [...(gloo ? ['-DUSE_C10D_GLOO'] : []), ...(nccl ? ['-DUSE_C10D_NCCL'] : [])];
}

async function compile(
  machine: Machine,
  [program = 'c++', ...args]: readonly string[],
  libtorch: Libtorch,
  { source, work, flags: further }: { source: string; work: string; flags: readonly string[] },
): Promise<string> {
  const object = join(work, `${basename(source, '.cc')}.o`);
  const abi = libtorch.abi === undefined ? [] : [`-D_GLIBCXX_USE_CXX11_ABI=${libtorch.abi}`];
  // Names that libtorch's headers mention and do not bring; real headers, where there are some, come first.
  const names = ['-idirafter', join(dirname(source), 'names')];
  const flags = [...compileFlags, ...abi, ...includeFlags(libtorch), ...names, ...further];
  const run = await machine.run(program, [...args, ...flags, '-c', source, '-o', object]);
  if (run.code !== 0) throw failed(`compiling ${basename(source)} failed`, run.output, libtorch);
  return object;
}

async function link(
  machine: Machine,
  [program = 'c++', ...args]: readonly string[],
  libtorch: Libtorch,
  objects: readonly string[],
  output: string,
): Promise<void> {
  const flags = [...args, '-o', output, ...objects, ...linkFlags(machine, libtorch)];
  const run = await machine.run(program, flags);
  if (run.code !== 0) throw failed('linking the addon failed', run.output, libtorch);
}

function includeFlags(libtorch: Libtorch): string[] {
  const require = createRequire(import.meta.url);
  const { include_dir: nodeApi } = require('node-api-headers') as { include_dir: string };
  const addonApi = dirname(require.resolve('node-addon-api'));
  // Named as a system folder a second time, /usr/include breaks the order of the compiler's own headers.
  const torch = libtorch.includeDirs.filter((dir) => dir !== '/usr/include');
  return [addonApi, nodeApi, ...torch].flatMap((dir) => ['-isystem', dir]);
}

function linkFlags(machine: Machine, libtorch: Libtorch): string[] {
  const dirs = libtorch.libDirs.flatMap((dir) => [`-L${dir}`, `-Wl,-rpath,${dir}`]);
  const cuda = libtorch.cuda ? ['-ltorch_cuda', '-lc10_cuda'] : [];
  const libraries = ['-ltorch', '-ltorch_cpu', '-lc10', ...cuda];
  if (machine.platform === 'darwin')
    return ['-bundle', '-undefined', 'dynamic_lookup', ...dirs, ...libraries];
  // Operators register themselves when their library is loaded, so none may be dropped as unused.
  return ['-shared', ...dirs, '-Wl,--no-as-needed', ...libraries];
}

async function checkLoads(
  machine: Machine,
  addon: string,
  libtorch: Libtorch,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const run = await machine.run(process.execPath, ['-e', 'require(process.argv[1])', addon], { env });
  if (run.code !== 0) throw failed('the addon was built but does not load', run.output, libtorch);
}

function failed(title: string, output: string, libtorch: Libtorch): SetupError {
  const tail = output.trimEnd().split('\n').slice(-20).join('\n    ');
  return new SetupError(
    title,
    `the addon to build with libtorch ${libtorch.version} in ${libtorch.root}`,
    `\n    ${tail}`,
    [`set CXX to a C++17 compiler (g++ 9 or newer), ${again}`, `set LIBTORCH to another libtorch, ${again}`],
  );
}

function noSources(places: Places): SetupError {
  return new SetupError('the addon’s sources are missing', `*.cc in ${places.native}`, 'none', [
    `take the whole repository (git status shows what is gone), ${again}`,
  ]);
}
