import fs from 'node:fs';
import path from 'node:path';
import { kindOf, reasonOf, UserError } from '@hidden-schema/base';

/** Names in a folder, sorted; none where it is not there. */
export function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new UserError(`cannot list ${folder}: ${reasonOf(error)}`);
  }
}

/** A path below a run's folder; a part that is a link, a pipe or a device is refused by name. */
export function checkedPath(root: string, parts: readonly string[]): string {
  let file = root;
  for (const [at, part] of parts.entries()) {
    if (part === '' || part === '.' || part === '..' || /[/\\\0]/.test(part))
      throw new UserError(`${JSON.stringify(part)} is no name of a file in a run`);
    file = path.join(file, part);
    const stat = fs.lstatSync(file, { throwIfNoEntry: false });
    if (!stat) return path.join(file, ...parts.slice(at + 1));
    const inner = at < parts.length - 1;
    if (stat.isDirectory() || (stat.isFile() && !inner)) continue;
    throw new UserError(
      `${file} is ${kindOf(stat)}; expected a ${inner ? 'folder' : 'regular file or a folder'} of the run's own, so remove or rename it`,
    );
  }
  return file;
}
