import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { SetupError } from './fault.ts';
import { isDebian, type Machine } from './machine.ts';

/**
 * What HSN_LIBTORCH may say: the system's libtorch, the same with apt-get installing what is missing, the PyTorch of
 * the user's Python, the engine that npm installs ready-made, or that npm install builds nothing. An absolute path names
 * the folder of a libtorch.
 */
const choices = ['system', 'apt', 'pip', 'prebuilt', 'none'] as const;
export type Choice = (typeof choices)[number];

/** The user's choice, where there is one. */
export function choiceOf(machine: Machine): Choice | undefined {
  const given = machine.env.HSN_LIBTORCH;
  if (given === undefined || given === '' || isAbsolute(given)) return undefined;
  const known = choices.find((choice) => choice === given);
  if (known !== undefined) return known;
  throw new SetupError(
    'HSN_LIBTORCH is not understood',
    `one of ${choices.join(', ')}, or the absolute path of a libtorch`,
    `HSN_LIBTORCH=${given}`,
    'set it to system (only the system’s libtorch), apt (which apt-get may install), pip (the PyTorch of python3), prebuilt (the engine that npm installed), a folder, or none (build nothing at install)',
  );
}

/** The libtorch that the user names by its folder, and the variable that does. */
export function namedFolder(machine: Machine): { variable: string; folder: string } | undefined {
  for (const variable of ['HSN_LIBTORCH', 'LIBTORCH']) {
    const given = machine.env[variable];
    if (given && (variable === 'LIBTORCH' || isAbsolute(given))) return { variable, folder: resolve(given) };
  }
  return undefined;
}

/** Who chose the libtorch in use, where the user did: the variable, with its value where that is a word. */
export function chosenBy(machine: Machine): string | undefined {
  const named = namedFolder(machine);
  if (named) return named.variable;
  const choice = choiceOf(machine);
  return choice === undefined || choice === 'none' ? undefined : `HSN_LIBTORCH=${choice}`;
}

/** Whether the user wants nothing installed or downloaded. */
export function onlyFound(machine: Machine): boolean {
  const choice = choiceOf(machine);
  return choice !== undefined && choice !== 'apt';
}

/** Whether apt-get may be asked for packages: on Debian as root, unless the user says otherwise or does not see it. */
export function mayInstall(machine: Machine): boolean {
  const asked = choiceOf(machine) === 'apt' || (machine.installs && !onlyFound(machine));
  return asked && isDebian(machine) && machine.isRoot;
}

/**
 * Whether npm installs this program for somebody's project, or for the whole system, and not in its own checkout.
 * `file` is one of the program's own; `root` the folder of the checkout.
 */
export function isDependency(file: string, root: string, env: NodeJS.ProcessEnv): boolean {
  // A package that people install holds compiled files; a checkout is run as it is written.
  if (!file.endsWith('.ts') || file.split(sep).includes('node_modules')) return true;
  if (env.npm_config_global === 'true') return true;
  // The project of npm's command, wherever that was typed; other installers say at least where it was typed.
  const project = env.npm_config_local_prefix ?? env.INIT_CWD;
  return project !== undefined && relative(root, realpathSync(project)).split(sep)[0] === '..';
}
