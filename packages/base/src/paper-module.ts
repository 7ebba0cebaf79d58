import { existsSync } from 'node:fs';
import { UserError } from './errors.ts';

/** Where the repository keeps the paper's experiments; the npm package has no such folder. */
const FOLDER = new URL('../../../paper/src/', import.meta.url);

/** Address of a module under `paper/src`, where it is there. */
function addressOf(file: string): string | undefined {
  const address = new URL(file, FOLDER);
  return existsSync(address) ? address.href : undefined;
}

/** Whether the paper's experiments are there: in the repository, not in the npm package. */
export const hasPaper = (): boolean => addressOf('rivals/task.ts') !== undefined;

/**
 * Loads a module under `paper/src`, such as `rivals/task.ts`. This is the only place that imports from there, so that the
 * package works without it. `what` begins the message for those who do not have it.
 */
export async function paperModule<Module>(file: string, what: string): Promise<Module> {
  const address = addressOf(file);
  if (address === undefined)
    throw new UserError(
      `${what} comes with the repository of Hidden Schema Networks and not with the npm package; clone it, run npm install, and call hsn from there`,
    );
  return (await import(address)) as Module;
}
