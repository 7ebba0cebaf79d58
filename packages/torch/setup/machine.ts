import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readFully } from '@hidden-schema/base';

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

export interface Run {
  /** Exit code; 127 when the program is not there, 128 when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  /** Both streams as they came. */
  readonly output: string;
}

/** All that set-up asks of the computer, so that it can be run against a made-up root. */
export interface Machine {
  readonly env: NodeJS.ProcessEnv;
  /** Prefix of the system's folders: `/` on a real machine. */
  readonly root: string;
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly isRoot: boolean;
  /** Whether the user, who sees what set-up says, lets it install packages of the system. */
  readonly installs: boolean;
  /** `ID` and `ID_LIKE` of /etc/os-release, empty elsewhere. */
  readonly distribution: readonly string[];
  exists(path: string): boolean;
  read(path: string): string | undefined;
  list(path: string): string[];
  /** The first bytes of a file; none where it cannot be read. */
  head(path: string, count: number): Uint8Array;
  /** Size and time of a file, which a new one changes; empty where there is none. */
  stamp(path: string): string;
  real(path: string): string;
  run(command: string, args: readonly string[], options?: RunOptions): Promise<Run>;
}

type Chosen = 'root' | 'env' | 'platform' | 'arch' | 'isRoot' | 'installs';
export type HostOptions = Partial<Pick<Machine, Chosen>>;

/** This computer, or a part of it seen as if `root` were its root folder. */
export function hostMachine(options: HostOptions = {}): Machine {
  const { root = '/', env = process.env } = options;
  const { platform, arch } = process;
  const isRoot = process.getuid?.() === 0;
  return {
    ...{ env, root, platform, arch, isRoot, installs: true, ...options },
    distribution: distributionOf(readOrNothing(join(root, 'etc/os-release')) ?? ''),
    exists: existsSync,
    read: readOrNothing,
    list: (path) => orElse(() => readdirSync(path), []),
    head: (path, count) => orElse(() => readHead(path, count), new Uint8Array()),
    stamp: (path) => orElse(() => stampOf(path), ''),
    real: (path) => orElse(() => realpathSync(path), path),
    run: (command, args, runOptions) => runProgram(env, command, args, runOptions ?? {}),
  };
}

/** True where apt-get can be expected. */
export function isDebian(machine: Machine): boolean {
  return machine.distribution.some((id) => id === 'debian' || id === 'ubuntu');
}

/** True where the C library is musl, as on Alpine. */
export function isMusl(machine: Machine): boolean {
  const loaders = ['lib', 'lib64'].flatMap((dir) => machine.list(join(machine.root, dir)));
  const has = (start: string): boolean => loaders.some((name) => name.startsWith(start));
  return has('ld-musl-') && !has('ld-linux');
}

/** The file name of a shared library here. */
export function libraryFile(machine: Machine, name: string): string {
  return `lib${name}.${machine.platform === 'darwin' ? 'dylib' : 'so'}`;
}

/** The first line of `command --version`, or nothing when it does not run. */
export async function versionOf(machine: Machine, command: readonly string[]): Promise<string | undefined> {
  const [program, ...args] = command;
  if (program === undefined) return undefined;
  const { code, stdout } = await machine.run(program, [...args, '--version']);
  return code === 0 ? (stdout.split('\n')[0]?.trim() ?? '') : undefined;
}

function distributionOf(osRelease: string): string[] {
  const fields = osRelease.matchAll(/^ID(?:_LIKE)?=["']?([^"'\n]*)["']?$/gm);
  return [...fields].flatMap(([, value]) => (value ?? '').split(/\s+/)).filter((id) => id !== '');
}

function readHead(path: string, count: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const bytes = new Uint8Array(count);
    return bytes.subarray(0, readFully(file, bytes, 0));
  } finally {
    closeSync(file);
  }
}

function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
}

function orElse<T>(attempt: () => T, otherwise: T): T {
  try {
    return attempt();
  } catch {
    return otherwise;
  }
}

function readOrNothing(path: string): string | undefined {
  return orElse<string | undefined>(() => readFileSync(path, 'utf8'), undefined);
}

function runProgram(
  env: NodeJS.ProcessEnv,
  command: string,
  args: readonly string[],
  { env: extra, onLine }: RunOptions,
): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: { ...env, ...extra }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let output = '';
    const collect = (chunk: string): void => {
      output += chunk;
      if (onLine) for (const line of chunk.split(/[\r\n]+/)) if (line.trim() !== '') onLine(line.trim());
    };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      collect(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', collect);
    child.on('error', (error) => resolve({ code: 127, stdout, output: `${output}${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 128, stdout, output }));
  });
}

/** ELF's numbers of the processors that libtorch is built for, by Node's names. */
const elfMachines: Readonly<Record<string, number>> = {
  ia32: 3,
  arm: 40,
  ppc64: 21,
  s390x: 22,
  x64: 62,
  arm64: 183,
  riscv64: 243,
};

/** The processor that a library is for; nothing where it is no ELF file. */
export function builtFor(machine: Machine, library: string): string | undefined {
  const head = machine.head(library, 20);
  if (head.length < 20 || head[0] !== 0x7f || head[1] !== 0x45 || head[2] !== 0x4c || head[3] !== 0x46)
    return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  // The sixth byte says which end of a number comes first.
  const number = view.getUint16(18, head[5] !== 2);
  return Object.keys(elfMachines).find((name) => elfMachines[name] === number) ?? `ELF machine ${number}`;
}
