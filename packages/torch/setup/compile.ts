import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { again, SetupError } from './fault.ts';
import type { Libtorch } from './find.ts';
import { type Machine, versionOf } from './machine.ts';

export const compileFlags = [
  '-std=c++17',
  '-O3',
  '-Wall',
  '-Wextra',
  // As libtorch's releases are built: some of its classes have other members otherwise.
  '-DNDEBUG',
  // A header for each operator in place of one for all two thousand: a third of what reading headers takes.
  '-DAT_PER_OPERATOR_HEADERS',
  '-fPIC',
  '-fvisibility=hidden',
  '-fexceptions',
  '-DNAPI_VERSION=8',
  '-DNAPI_CPP_EXCEPTIONS',
  // A worker that is ended in the middle of a call takes no error any more; to insist would end the process.
  '-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
];

/** Without it libtorch's loops over threads, which are templates, run on one: Apple's and LLVM's compilers lack it. */
export const threadFlags = ['-fopenmp'];

/** A compiler, its first arguments and what it calls itself. */
export interface Compiler {
  readonly command: readonly string[];
  readonly version: string;
}

/** `$CXX`, which may carry arguments (`ccache g++`), or the first usual name that runs. */
export async function findCompiler(machine: Machine): Promise<Compiler> {
  const given = machine.env.CXX?.trim();
  const candidates = given ? [given.split(/\s+/)] : [['c++'], ['g++'], ['clang++']];
  for (const command of candidates) {
    const version = await versionOf(machine, command);
    if (version === undefined) continue;
    return { command: /clang/i.test(version) ? command : [...command, ...threadFlags], version };
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
export async function collectiveFlags(machine: Machine, { libDirs, cuda }: Libtorch): Promise<string[]> {
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

export async function compile(
  machine: Machine,
  [program = 'c++', ...args]: readonly string[],
  libtorch: Libtorch,
  { source, object, flags: further }: { source: string; object: string; flags: readonly string[] },
): Promise<void> {
  const abi = libtorch.abi === undefined ? [] : [`-D_GLIBCXX_USE_CXX11_ABI=${libtorch.abi}`];
  // Names that libtorch's headers mention and do not bring; real headers, where there are some, come first.
  const names = ['-idirafter', join(dirname(source), 'names')];
  const flags = [...compileFlags, ...abi, ...includeFlags(libtorch), ...names, ...further];
  const run = await machine.run(program, [...args, ...flags, '-c', source, '-o', object]);
  if (run.code !== 0) throw failed(`compiling ${basename(source)} failed`, run.output, libtorch);
}

export async function link(
  machine: Machine,
  [program = 'c++', ...args]: readonly string[],
  libtorch: Libtorch,
  {
    objects,
    output,
    libraries,
  }: { objects: readonly string[]; output: string; libraries: readonly string[] },
): Promise<void> {
  const run = await machine.run(program, [...args, '-o', output, ...objects, ...libraries]);
  if (run.code !== 0) throw failed(`linking ${basename(output)} failed`, run.output, libtorch);
}

function includeFlags(libtorch: Libtorch): string[] {
  const require = createRequire(import.meta.url);
  const { include_dir: nodeApi } = require('node-api-headers') as { include_dir: string };
  const addonApi = dirname(require.resolve('node-addon-api'));
  // Named as a system folder a second time, /usr/include breaks the order of the compiler's own headers.
  const torch = libtorch.includeDirs.filter((dir) => dir !== '/usr/include');
  return [addonApi, nodeApi, ...torch].flatMap((dir) => ['-isystem', dir]);
}

/**
 * What links a file with libtorch, which it finds where it is now; a relocatable one beside itself. That one is linked
 * without libtorch.so, which is empty and only names the other libraries.
 */
export function linkFlags(
  machine: Machine,
  libtorch: Libtorch,
  { relocatable = false }: { relocatable?: boolean } = {},
): string[] {
  const beside = machine.platform === 'darwin' ? '@loader_path' : '$ORIGIN';
  const dirs = libtorch.libDirs.flatMap((dir) => [`-L${dir}`, `-Wl,-rpath,${relocatable ? beside : dir}`]);
  const cuda = libtorch.cuda ? ['-ltorch_cuda', '-lc10_cuda'] : [];
  const libraries = [...(relocatable ? [] : ['-ltorch']), '-ltorch_cpu', '-lc10', ...cuda];
  // Operators register themselves when their library is loaded, so none may be dropped as unused.
  const kept = machine.platform === 'darwin' ? [] : ['-Wl,--no-as-needed'];
  return [...moduleFlags(machine), ...dirs, ...kept, ...libraries];
}

/** What makes a file that Node loads. */
export const moduleFlags = ({ platform }: Machine): string[] =>
  platform === 'darwin' ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared'];

export function failed(title: string, output: string, libtorch: Libtorch): SetupError {
  const tail = output.trimEnd().split('\n').slice(-20).join('\n    ');
  return new SetupError(
    title,
    `the addon to build with libtorch ${libtorch.version} in ${libtorch.root}`,
    `\n    ${tail}`,
    [`set CXX to a C++17 compiler (g++ 9 or newer), ${again}`, `set LIBTORCH to another libtorch, ${again}`],
  );
}
