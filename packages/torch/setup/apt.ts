import { mayInstall } from './choice.ts';
import { again, type Progress, SetupError } from './fault.ts';
import { type Libtorch, libraryDirs, wanted } from './find.ts';
import { isDebian, type Machine, type Run } from './machine.ts';

const blas = 'libopenblas0-pthread';
const packages = ['libtorch-dev', blas];
/** Said before anything is installed. */
const refusal = 'to refuse, end this and set HSN_LIBTORCH=system or none';
const offline =
  /Could not resolve|Temporary failure resolving|Unable to connect|Cannot initiate the connection|Network is unreachable|Connection (?:timed out|refused)|Could not connect/i;

/** Installs libtorch from the distribution; a fault when that did not work. */
export async function installLibtorch(machine: Machine, progress: Progress): Promise<SetupError | undefined> {
  progress.say(
    `no libtorch found: installing ${packages.join(' and ')} with apt-get, a minute or two; ${refusal}`,
  );
  const run = await install(machine, progress, packages);
  if (run.code === 0) return undefined;
  const retry = `apt-get update && apt-get install ${packages.join(' ')}, ${again}`;
  if (offline.test(run.output))
    return new SetupError(
      'no network',
      `${wanted}; none is installed, so apt-get was asked for it`,
      `apt-get cannot reach its servers: ${lastLine(run.output, offline)}`,
      [`connect to the network, ${again}`, `set LIBTORCH to a libtorch folder copied here, ${again}`],
    );
  return new SetupError(
    'apt-get could not install libtorch',
    `apt-get install ${packages.join(' ')} to end with 0`,
    `${run.code}: ${lastLine(run.output, /^E:/)}`,
    [retry, `pip install torch, ${again}`],
  );
}

/** Debian's libtorch without OpenBLAS multiplies matrices with the slow reference BLAS. */
export async function ensureBlas(machine: Machine, libtorch: Libtorch, progress: Progress): Promise<void> {
  if (libtorch.origin !== 'system' || !isDebian(machine) || hasOpenBlas(machine, libtorch)) return;
  const slow = 'without OpenBLAS this libtorch uses the slow reference BLAS';
  if (mayInstall(machine)) {
    progress.say(`${slow}: installing ${blas}; ${refusal}`);
    const run = await install(machine, progress, [blas]);
    if (run.code === 0) return;
  }
  progress.say(`warning: ${slow}; do: sudo apt-get install ${blas}`);
}

function hasOpenBlas(machine: Machine, libtorch: Libtorch): boolean {
  const dirs = [...libtorch.libDirs, ...libraryDirs(machine, libtorch.root)];
  return dirs.some((dir) => machine.list(dir).some((name) => name.startsWith('libopenblas.so')));
}

async function install(machine: Machine, progress: Progress, names: readonly string[]): Promise<Run> {
  const env = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  // Another apt-get may be at work, at a machine's first start above all.
  const waiting = ['-o', 'DPkg::Lock::Timeout=120'];
  const ask = (label: string, args: string[]): Promise<Run> =>
    progress.during(label, (detail) =>
      machine.run('apt-get', [...waiting, ...args], { env, onLine: (line) => detail(line) }),
    );
  // A failing update is not fatal: one broken source must not hide the packages of the others.
  const update = await ask('apt-get update', ['update']);
  const installed = await ask(`apt-get install ${names.join(' ')}`, [
    'install',
    '-y',
    '--no-remove',
    ...names,
  ]);
  return installed.code === 0 ? installed : { ...installed, output: `${update.output}\n${installed.output}` };
}

function lastLine(output: string, pattern: RegExp): string {
  const lines = output.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  return (lines.findLast((line) => pattern.test(line)) ?? lines.at(-1) ?? 'it said nothing').trim();
}
