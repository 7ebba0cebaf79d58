import { SetupError } from './fault.ts';
import { isDebian } from './find.ts';
import type { Machine } from './machine.ts';

/** What HSN_LIBTORCH may say: use only what is found, let apt-get install what is missing, or build nothing at install. */
const choices = ['system', 'apt', 'none'] as const;
export type Choice = (typeof choices)[number];

/** The user's choice, where there is one. */
export function choiceOf(machine: Machine): Choice | undefined {
  const given = machine.env.HSN_LIBTORCH;
  if (given === undefined || given === '') return undefined;
  const known = choices.find((choice) => choice === given);
  if (known !== undefined) return known;
  throw new SetupError(
    'HSN_LIBTORCH is not understood',
    `one of ${choices.join(', ')}`,
    `HSN_LIBTORCH=${given}`,
    'set it to system (use only what is found), apt (apt-get may install libtorch) or none (build nothing at install)',
  );
}

/** Whether the user wants nothing installed or downloaded. */
export function onlyFound(machine: Machine): boolean {
  const choice = choiceOf(machine);
  return choice === 'system' || choice === 'none';
}

/** Whether apt-get may be asked for packages: on Debian as root, unless the user says otherwise. */
export function mayInstall(machine: Machine): boolean {
  return !onlyFound(machine) && isDebian(machine) && machine.isRoot;
}
