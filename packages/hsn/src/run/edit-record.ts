import fs from 'node:fs';
import path from 'node:path';
import { asUserError, kindOf, parseJson, plainText, readRegular, UserError } from '@hidden-schema/base';

// An edit exchanges entries of a run's folder. Its record says which, and comes from the folder: it is checked before
// anything is believed of it.

/** Folders of edits within a run's folder. */
export const EDIT_FOLDERS = {
  /** Earlier states, one for each edit. */
  edits: 'edits',
  /** An edit that is being written. */
  draft: '.edit-draft',
  /** An edit that was decided on and is not through. */
  ready: '.edit-ready',
  /** An edit whose undoing was decided on and is not through. */
  undo: '.edit-undo',
  /** What is left of one that was undone. */
  gone: '.edit-gone',
} as const;
/** Within an edit: what comes, what was there, names that people gave since, and its record. */
export const NEW = 'new';
export const OLD = 'old';
export const CARRIED = 'carried';
const RECORD = 'edit.json';
const FORMAT = 1;

export const NAMES = 'names.json';

/** What an edit may bring. */
const BROUGHT = new Set([...['checkpoints', 'config.yaml', 'run.json', 'manifest.json', NAMES, 'sums.json']]);
/** What is made of a run's model by looking at it: it leaves with the model. */
const MADE = new Set([
  ...['evaluation.json', 'graph.json', 'layout.json', 'analysis'],
  ...['figures', 'MODEL.md', 'report.html'],
]);

/** `edit.json`: what was done, in a line, and with which entries. */
export interface EditRecord {
  format: number;
  number: number;
  /** ISO time. */
  made: string;
  /** For people: "merged 3 and 17 into 3". */
  what: string;
  /** For each symbol afterwards, those before that it comes from. */
  origins: readonly (readonly number[])[];
  /** Entries that were there before, and those that came. */
  had: readonly string[];
  came: readonly string[];
}

/** The record of an edit that brings and takes these entries. */
export function editRecord(
  note: Pick<EditRecord, 'number' | 'what' | 'origins' | 'had' | 'came'>,
): EditRecord {
  const { number, ...rest } = note;
  return { format: FORMAT, number, made: new Date().toISOString(), ...rest };
}

/** Where the record of an edit stands. */
export const recordFile = (folder: string): string => path.join(folder, RECORD);

/** Whether an edit changes names alone: what is made of the model stays then. */
export const isNaming = (came: readonly string[]): boolean =>
  came.includes(NAMES) && came.every((name) => name === NAMES || name === 'sums.json');

/** Whether an entry leaves a run's folder when others come. */
export const leaves = (name: string, came: readonly string[]): boolean =>
  came.includes(name) || (MADE.has(name) && !isNaming(came));

/** Reads the record of an edit; one that names anything but known entries of a run is refused with the reason. */
export function readEditRecord(folder: string, number?: number): EditRecord {
  const file = recordFile(folder);
  const read = (): string => {
    const stat = fs.lstatSync(folder);
    if (!stat.isDirectory())
      throw new UserError(`${folder} is ${kindOf(stat)}; expected a folder of the run's own, so remove it`);
    return readRegular(file, undefined, { follow: false }).toString('utf8');
  };
  const text = asUserError(read, (reason) => `cannot read ${file}: ${reason}`);
  const record = parseJson<Partial<Record<keyof EditRecord, unknown>>>(text, file);
  const fault = recordFault(record, number);
  if (fault !== undefined)
    throw new UserError(
      `${file} is no record of an edit: ${fault}; remove ${folder}, or do not use this run`,
    );
  return record as unknown as EditRecord;
}

function recordFault(
  record: Partial<Record<keyof EditRecord, unknown>> | null,
  number: number | undefined,
): string | undefined {
  if (record?.format !== FORMAT) return `expected format ${FORMAT}, got ${shown(record?.format)}`;
  const { had, came, origins, what, made } = record;
  if (!isCount(record.number) || record.number === 0 || (number ?? record.number) !== record.number)
    return `expected number ${number ?? 'above 0'}, got ${shown(record.number)}`;
  if (typeof what !== 'string' || typeof made !== 'string') return 'expected what was done and when';
  if (!Array.isArray(origins) || !origins.every((from) => Array.isArray(from) && from.every(isCount)))
    return 'expected the numbers of symbols in origins';
  return entryFault('came', came, (name) => BROUGHT.has(name)) ?? entryFault('had', had, isExchanged);
}

const isExchanged = (name: string): boolean => BROUGHT.has(name) || MADE.has(name);

function entryFault(key: string, names: unknown, known: (name: string) => boolean): string | undefined {
  if (!Array.isArray(names)) return `expected a list in ${key}, got ${shown(names)}`;
  const other = names.find((name) => typeof name !== 'string' || !known(name));
  return other === undefined
    ? undefined
    : `expected names of a run's own files in ${key}, got ${shown(other)}`;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 80);

/** An edit, or the undoing of one, that was decided on and is not through. */
export interface UnfinishedEdit {
  record: EditRecord;
  /** In a line, for people. */
  what: string;
  /** Parts of the path of what comes, below the run's folder. */
  from: readonly string[];
  coming: readonly string[];
}

/** The edit of a run that is not through, if there is one; nothing is changed. */
export function unfinishedEdit(root: string): UnfinishedEdit | undefined {
  const { ready, undo } = EDIT_FOLDERS;
  const edit = recordIfThere(path.join(root, ready));
  if (edit) return { record: edit, what: edit.what, from: [ready, NEW], coming: edit.came };
  const record = recordIfThere(path.join(root, undo));
  if (!record) return undefined;
  const coming = [...new Set([...record.had, ...carriedNames(root)])];
  return { record, what: `undoing: ${record.what}`, from: [undo, OLD], coming };
}

/** Another process may complete the edit while its record is read. */
function recordIfThere(folder: string): EditRecord | undefined {
  if (!isThere(folder)) return undefined;
  try {
    return readEditRecord(folder);
  } catch (error) {
    if (!isThere(folder)) return undefined;
    throw error;
  }
}

/** Entries of the state before that were put right when an edit was undone. */
export function carriedNames(root: string): string[] {
  const folder = path.join(root, EDIT_FOLDERS.undo, CARRIED);
  let names: string[] = [];
  try {
    names = fs.readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const other = names.find((name) => !BROUGHT.has(name));
  if (other !== undefined)
    throw new UserError(`${path.join(folder, other)} is no file of an edit; remove it`);
  return names;
}

/** Parts of the path at which an entry is read, below the run's folder: as it is once a decided edit is through. */
export function entryPlace(root: string, entry: string): string[] {
  const edit = unfinishedEdit(root);
  if (!edit || !leaves(entry, [...edit.record.came, ...edit.coming])) return [entry];
  const arriving = [...edit.from, entry];
  // What came already is in its place; what only leaves is read as if it had left.
  if (edit.coming.includes(entry) && !isThere(root, ...arriving)) return [entry];
  return arriving;
}

/** Whether a name stands for anything; also for a link that leads nowhere. */
export const isThere = (...parts: string[]): boolean =>
  fs.lstatSync(path.join(...parts), { throwIfNoEntry: false }) !== undefined;

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
