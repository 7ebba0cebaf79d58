import { dirname, join } from 'node:path';
import { choiceOf, namedFolder } from './choice.ts';
import { again, SetupError } from './fault.ts';
import { builtFor, isDebian, libraryFile, type Machine } from './machine.ts';

export type Origin = 'LIBTORCH' | 'python' | 'system' | 'apt' | 'archive';

export interface Libtorch {
  readonly version: string;
  readonly origin: Origin;
  readonly root: string;
  readonly includeDirs: readonly string[];
  readonly libDirs: readonly string[];
  readonly cuda: boolean;
  /** Value of `_GLIBCXX_USE_CXX11_ABI` it was compiled with, where it says so. */
  readonly abi?: 0 | 1;
}

export interface Finding {
  readonly libtorch?: Libtorch;
  /** Why those that were seen could not be taken. */
  readonly faults: readonly SetupError[];
}

const oldest = [1, 13] as const;
export const wanted = `libtorch ${oldest.join('.')} or newer, with its headers`;

/** Looks for libtorch: the one that the user names or chooses, else python3's, the system's, one downloaded earlier. */
export async function findLibtorch(machine: Machine, archiveRoot: string): Promise<Finding> {
  const named = namedFolder(machine);
  // A libtorch the user names is taken or refused, never passed over.
  if (named) return { libtorch: namedLibtorch(machine, named), faults: [] };
  const faults: SetupError[] = [];
  const python = () => pythonLibtorch(machine);
  const system = async () => systemLibtorch(machine);
  const archive = async () => inspect(machine, 'archive', archiveRoot);
  const choice = choiceOf(machine);
  const places =
    choice === 'pip'
      ? [python]
      : choice === 'system' || choice === 'apt'
        ? [system]
        : [python, system, archive];
  for (const look of places) {
    const seen = await look();
    if (seen instanceof SetupError) faults.push(seen);
    else if (seen) return { libtorch: seen, faults };
  }
  return { faults };
}

/** The system's libtorch: Debian's keeps its headers in /usr/include, its libraries in the multiarch folder. */
export function systemLibtorch(machine: Machine): Libtorch | SetupError | undefined {
  const seen = ['usr', 'usr/local'].map((place) => inspect(machine, 'system', join(machine.root, place)));
  return seen.find((one) => one !== undefined && !(one instanceof SetupError)) ?? seen.find((one) => one);
}

/** Folders under `root` that may hold libraries, the distribution's own layout first. */
export function libraryDirs(machine: Machine, root: string): string[] {
  const cpu = { x64: 'x86_64', arm64: 'aarch64', ppc64: 'powerpc64le' }[machine.arch] ?? machine.arch;
  return [join(root, 'lib', `${cpu}-linux-gnu`), join(root, 'lib64'), join(root, 'lib')];
}

/** The libtorch under `root`, a fault when it is there but cannot be used, or nothing. */
export function inspect(
  machine: Machine,
  origin: Origin,
  root: string,
  known: { version?: string; abi?: 0 | 1 } = {},
): Libtorch | SetupError | undefined {
  const library = libraryFile(machine, 'torch_cpu');
  const include = join(root, 'include');
  const api = join(include, 'torch/csrc/api/include');
  const libDir = libraryDirs(machine, root).find((dir) =>
    machine.list(dir).some((name) => name.startsWith('libtorch_cpu.')),
  );
  const headers = [join(api, 'torch/torch.h'), join(include, 'ATen/core/dispatch/Dispatcher.h')];
  const missing = headers.filter((path) => !machine.exists(path));
  if (!libDir && missing.length > 0) return undefined;
  const version = versionIn(machine, root) ?? known.version;
  if (version !== undefined && isOld(version)) return tooOld(version, root);
  if (missing[0] !== undefined)
    return incomplete(machine, 'headers', missing[0], `only its libraries, in ${libDir ?? root}`);
  const file = join(libDir ?? join(root, 'lib'), library);
  if (!libDir || !machine.exists(file))
    return incomplete(machine, 'libraries', file, `only its headers, in ${include}`);
  if (version === undefined) return unversioned(root);
  const processor = builtFor(machine, file);
  if (processor !== undefined && processor !== machine.arch) return otherProcessor(machine, file, processor);
  const abi = known.abi ?? abiIn(machine, root);
  const cuda = machine.exists(join(libDir, libraryFile(machine, 'torch_cuda')));
  const dirs = {
    includeDirs: [api, include, ...(cuda ? cudaHeaders(machine, root) : [])],
    libDirs: [libDir],
    cuda,
  };
  return { version, origin, root, ...dirs, ...(abi === undefined ? {} : { abi }) };
}

/**
 * Headers of CUDA and NCCL: those that pip puts into packages of their own beside torch's, then those of a CUDA toolkit
 * (CUDA_HOME, else the newest in /usr/local), which has some that pip's lack.
 */
function cudaHeaders(machine: Machine, root: string): string[] {
  const beside = join(dirname(root), 'nvidia');
  const local = join(machine.root, 'usr/local');
  const installed = machine.list(local).filter((name) => /^cuda(-[\d.]+)?$/.test(name));
  const { CUDA_HOME } = machine.env;
  const toolkits = [
    ...(CUDA_HOME ? [CUDA_HOME] : []),
    ...installed.sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).map((name) => join(local, name)),
  ];
  const toolkit = toolkits
    .map((folder) => join(folder, 'include'))
    .find((folder) => machine.exists(join(folder, 'crt/host_config.h')));
  const packages = machine.list(beside).map((name) => join(beside, name, 'include'));
  return [...packages.filter((folder) => machine.exists(folder)), ...(toolkit ? [toolkit] : [])];
}

function namedLibtorch(
  machine: Machine,
  { variable, folder }: { variable: string; folder: string },
): Libtorch {
  const seen = inspect(machine, 'LIBTORCH', folder);
  if (seen instanceof SetupError) throw seen;
  if (seen) return seen;
  const found = machine.exists(folder) ? `neither in ${folder}` : `no folder ${folder}`;
  throw new SetupError(`${variable} does not name a libtorch`, 'a folder with include/ and lib/', found, [
    `set ${variable} to the unpacked libtorch folder, ${again}`,
    `unset ${variable} to look elsewhere, ${again}`,
  ]);
}

const probe = `import json, torch
print(json.dumps({"prefix": torch.utils.cmake_prefix_path, "version": torch.__version__,
                  "abi": int(torch._C._GLIBCXX_USE_CXX11_ABI)}))`.replaceAll(/\n\s*/g, '\n');

async function pythonLibtorch(machine: Machine): Promise<Libtorch | SetupError | undefined> {
  const { code, stdout } = await machine.run('python3', ['-c', probe]);
  const answer = code === 0 ? parseProbe(stdout) : undefined;
  if (!answer) return undefined;
  const root = dirname(dirname(answer.prefix));
  const seen = inspect(machine, 'python', root, answer);
  if (seen === undefined || seen instanceof SetupError) return seen;
  // Debian's python3-torch is a view of the system's libtorch: let that be found as what it is.
  const library = machine.real(join(seen.libDirs[0] ?? root, 'libtorch_cpu.so'));
  const system = libraryDirs(machine, join(machine.root, 'usr')).map((dir) => machine.real(dir));
  return system.includes(dirname(library)) ? undefined : seen;
}

function parseProbe(stdout: string): { prefix: string; version: string; abi: 0 | 1 } | undefined {
  try {
    const said: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    if (typeof said !== 'object' || said === null) return undefined;
    const { prefix, version, abi } = said as Record<string, unknown>;
    if (typeof prefix !== 'string' || typeof version !== 'string') return undefined;
    return { prefix, version, abi: abi === 0 ? 0 : 1 };
  } catch {
    return undefined;
  }
}

/** The version that the headers state, or the file that comes with the official archive. */
function versionIn(machine: Machine, root: string): string | undefined {
  const headers = ['torch/csrc/api/include/torch/version.h', 'torch/headeronly/version.h'];
  for (const header of headers) {
    const text = machine.read(join(root, 'include', header)) ?? '';
    const parts = ['MAJOR', 'MINOR', 'PATCH'].map(
      (part) => new RegExp(`define\\s+TORCH_VERSION_${part}\\s+(\\d+)`).exec(text)?.[1],
    );
    if (parts.every((part) => part !== undefined)) return parts.join('.');
  }
  return machine.read(join(root, 'build-version'))?.trim() || undefined;
}

function abiIn(machine: Machine, root: string): 0 | 1 | undefined {
  const config = machine.read(join(root, 'share/cmake/Torch/TorchConfig.cmake')) ?? '';
  const value = /_GLIBCXX_USE_CXX11_ABI=([01])/.exec(config)?.[1];
  return value === undefined ? undefined : value === '0' ? 0 : 1;
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
}

function otherProcessor(machine: Machine, library: string, processor: string): SetupError {
  return new SetupError(
    'libtorch is for another processor',
    `a libtorch for ${machine.arch}`,
    `${library}, built for ${processor}`,
    [
      `pip install torch on this machine, ${again}`,
      `set HSN_LIBTORCH to the folder of a libtorch for ${machine.arch}, ${again}`,
    ],
  );
}

function tooOld(version: string, root: string): SetupError {
  return new SetupError('libtorch is too old', wanted, `libtorch ${version} in ${root}`, [
    `pip install --upgrade torch, ${again}`,
    `set LIBTORCH to the folder of a newer libtorch, ${again}`,
  ]);
}

const complete = `set LIBTORCH to the folder of a complete libtorch, ${again}`;

function incomplete(machine: Machine, lacking: string, expected: string, found: string): SetupError {
  const debian = isDebian(machine) ? [`sudo apt-get install libtorch-dev, ${again}`] : [];
  return new SetupError(`libtorch lacks its ${lacking}`, expected, found, [...debian, complete]);
}

function unversioned(root: string): SetupError {
  const expected = `${wanted}, and a torch/version.h that says which`;
  return new SetupError('libtorch does not state its version', expected, `no version in ${root}`, complete);
}
