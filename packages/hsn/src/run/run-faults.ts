import { plainText, UserError } from '@hidden-schema/base';

/** A run whose symbols were edited while it was read: what was read of it is not of one state. */
export class RunChanged extends UserError {
  constructor(root: string) {
    super(
      `the symbols of ${root} were edited meanwhile, so their numbers are others; look again and repeat this`,
    );
  }
}

/** An edit was decided on and is not through, so that nothing else may be written. */
export class EditUnfinished extends UserError {}

/** A file that is not as it was written. */
export class DamagedFile extends UserError {}

/** A line for whoever runs the program: a file was damaged, and what becomes of it. */
export function reportDamage(line: string): void {
  process.stderr.write(`${plainText(line)}\n`);
}

const said = new Set<string>();
/** The same, said once by a process. */
export function reportOnce(line: string): void {
  if (!said.has(line)) reportDamage(line);
  said.add(line);
}
