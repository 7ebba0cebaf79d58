import {
  ownVersion,
  type Prebuilt,
  prebuiltBeside,
  prebuiltName,
  verifyPrebuilt,
} from '../src/engine-files.ts';
import { choiceOf, chosenBy } from './choice.ts';
import { again, SetupError } from './fault.ts';
import type { Machine } from './machine.ts';

/** The prebuilt engine that is installed, and the version it must have. */
export interface Offered {
  readonly prebuilt: Prebuilt | undefined;
  readonly version: string;
}

const offered = (): Offered => ({ prebuilt: prebuiltBeside(), version: ownVersion() });

/**
 * The prebuilt engine, checked, where the user's choice leaves it: nothing is compiled then. Nothing is returned where
 * the user asks for another libtorch, or none of this version is installed.
 */
export function takePrebuilt(machine: Machine, { prebuilt, version } = offered()): Prebuilt | undefined {
  const demanded = choiceOf(machine) === 'prebuilt';
  if (!demanded && chosenBy(machine) !== undefined) return undefined;
  const fits = prebuilt?.manifest.version === version;
  if (prebuilt && fits) return checked(prebuilt);
  if (demanded) throw notInstalled(prebuilt, version);
  return undefined;
}

function checked(prebuilt: Prebuilt): Prebuilt {
  try {
    verifyPrebuilt(prebuilt);
    return prebuilt;
  } catch (error) {
    const { name, version } = prebuilt.manifest;
    const found = error instanceof Error ? error.message : String(error);
    throw new SetupError('the prebuilt engine is damaged', 'the files that its engine.json lists', found, [
      `npm install --force ${name}@${version}, ${again}`,
      'set HSN_LIBTORCH to pip, system or a folder, and run npx hsn setup to compile one',
    ]);
  }
}

function notInstalled(prebuilt: Prebuilt | undefined, version: string): SetupError {
  const name = prebuilt?.manifest.name ?? prebuiltName();
  const found = prebuilt ? `version ${prebuilt.manifest.version}` : 'none';
  return new SetupError('the prebuilt engine is not installed', `${name} ${version}`, found, [
    `npm install ${name}@${version}, ${again}`,
    `unset HSN_LIBTORCH to compile one, ${again}`,
  ]);
}
