import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, UserError } from '@hidden-schema/base';

/** Where peers come from: pip's newest into a virtual environment, or Debian's packages. */
export const peerKinds = ['pip', 'debian'] as const;
export type PeerKind = (typeof peerKinds)[number];

/** What pip installs, and the module that shows it is there. PyTorch without CUDA where the index has it. */
const wanted: readonly { module: string; choices: readonly string[] }[] = [
  { module: 'torch', choices: ['torch==2.13.0+cpu', 'torch==2.13.0'] },
  { module: 'transformers', choices: ['transformers'] },
  { module: 'sentence_transformers', choices: ['sentence-transformers'] },
  { module: 'sklearn', choices: ['scikit-learn'] },
  { module: 'bertopic', choices: ['bertopic'] },
];

export const defaultPeersFolder = (): string => path.join(cacheFolder(), 'bench-peers');

const say = (line: string): boolean => process.stderr.write(`${line}\n`);

/** The Python of the peers: installed when a kind is asked for, else one that is there, or none. */
export function peerPython(kind: PeerKind | undefined, folder: string, given: boolean): string | undefined {
  const own = path.join(folder, 'bin', 'python');
  if (kind === 'pip') return installPip(folder, own);
  if (kind === 'debian') return installDebian();
  if (given && !fs.existsSync(own))
    throw new UserError(
      `${folder} is no virtual environment: bin/python is missing; --peers pip makes one there`,
    );
  if (given || has(own, 'torch')) return own;
  return ['python3', '/usr/bin/python3'].find((python) => has(python, 'torch'));
}

function has(python: string, module: string): boolean {
  // Looked for, not imported: importing all of them takes half a minute.
  const check = `import importlib.util, sys; sys.exit(importlib.util.find_spec('${module}') is None)`;
  return spawnSync(python, ['-c', check], { stdio: 'ignore' }).status === 0;
}

/** The packages that a Python has of those that are measured, with their versions. */
export function peerVersions(python: string): string {
  const names = ['torch', 'transformers', 'sentence-transformers', 'bertopic'];
  const ask = `import importlib.metadata as m
for name in ${JSON.stringify(names)}:
    try:
        print(name, m.version(name))
    except m.PackageNotFoundError:
        pass`;
  return spawnSync(python, ['-c', ask], { encoding: 'utf8' }).stdout.trim().split('\n').join(', ');
}

function installPip(folder: string, python: string): string | undefined {
  if (!fs.existsSync(python)) {
    say(`making a virtual environment in ${folder}`);
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    if (!ran('python3', ['-m', 'venv', folder]))
      return missing(
        'python3 -m venv did not work; install it (Debian: apt install python3-venv), or name an environment with --peers-folder',
      );
  }
  const absent = wanted.filter(({ module }) => !has(python, module));
  for (const [at, { choices }] of absent.entries()) {
    say(`installing ${choices.at(-1)} into ${folder} (${at + 1} of ${absent.length})`);
    if (!choices.some((choice) => ran(python, ['-m', 'pip', 'install', '--quiet', choice])))
      say(`pip could not install ${choices.at(-1)}: benches that need it go without`);
  }
  return has(python, 'torch') ? python : missing(`${python} has no PyTorch`);
}

function installDebian(): string | undefined {
  const python = '/usr/bin/python3';
  if (has(python, 'torch')) return python;
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0)
    return missing('python3-torch is not installed; on Debian as root: apt install python3-torch');
  say("installing Debian's python3-torch");
  ran('apt-get', ['install', '--yes', '--no-install-recommends', 'python3-torch']);
  return has(python, 'torch') ? python : missing('apt-get could not install python3-torch');
}

/** Says in one line why there is no peer. */
function missing(why: string): undefined {
  say(`no peers: ${why}`);
  return undefined;
}

/** Runs a program with its output on stderr. */
function ran(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: ['ignore', 2, 2] }).status === 0;
}
