import { NAMES } from './edit-record.ts';
import { editFolder } from './edits.ts';
import { Run } from './run.ts';

export interface NameEdit {
  /** In a line, for people. */
  what: string;
  /** K */
  symbols: number;
  /** Of the run whose symbols were named. */
  identity: string;
  /** The text of names.json, worked out at the last moment. */
  text: (run: Run) => string;
}

/** Changes the names of a run as one edit, which `undoEdit` takes back; its model and analyses stay as they are. */
export async function editNames(
  directory: string,
  { what, symbols, identity, text }: NameEdit,
): Promise<void> {
  const run = await Run.openToEdit(directory);
  try {
    await editFolder(run.files, {
      what,
      identity,
      origins: Array.from({ length: symbols }, (_, symbol) => [symbol]),
      fill: () => {},
      late: () => ({ [NAMES]: text(run) }),
    });
  } finally {
    run.close();
  }
}
