import fs from 'node:fs';
import path from 'node:path';
import {
  type JsonValue,
  jsonText,
  readJsonFile,
  syncFolder,
  UserError,
  writeSynced,
} from '@hidden-schema/base';
import { Lock } from '@hidden-schema/torch';

// An edit exchanges entries of a run's folder, however the process ends. What is new is written to DRAFT; renaming that to
// READY decides, and whoever opens the run next carries on from there. What it replaced stays in edits/N, from which
// `undo` fetches it back in the same way.

/** What earlier states are kept in. */
const EDITS = 'edits';
const DRAFT = '.edit-draft';
const READY = '.edit-ready';
const UNDO = '.edit-undo';
const GONE = '.edit-gone';
const RECORD = 'edit.json';
const FORMAT = 1;
/** Within an edit: what comes, and what was there. */
const NEW = 'new';
const OLD = 'old';

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

/** Whether a name in a run's folder is one of an edit under way. */
export const isEditEntry = (name: string): boolean => [EDITS, DRAFT, READY, UNDO, GONE].includes(name);

/** Edits that can be undone, the oldest first. */
export function editsIn(folder: string): EditRecord[] {
  const place = path.join(folder, EDITS);
  if (!fs.existsSync(place)) return [];
  const numbers = fs
    .readdirSync(place)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
  return numbers.map((number) => recordIn(path.join(place, String(number))));
}

function recordIn(folder: string): EditRecord {
  const file = path.join(folder, RECORD);
  const record = readJsonFile<EditRecord>(file);
  const lists = [record?.had, record?.came, record?.origins];
  if (record?.format !== FORMAT || lists.some((list) => !Array.isArray(list)))
    throw new UserError(`${file} is damaged: expected the record of an edit`);
  return record;
}

/** Where a run's entries lie as they were before an edit. */
export const stateBefore = (folder: string, { number }: EditRecord): string =>
  path.join(folder, EDITS, String(number), OLD);

/** What an edit says of itself. */
export type EditNote = Pick<EditRecord, 'what' | 'origins'>;

/**
 * Replaces entries of a run's folder by those that `fill` writes into an empty one, all of them or none; what else a run
 * knows of its model (figures, analyses) leaves with them. The caller holds the run's lock.
 */
export async function editFolder(
  folder: string,
  note: EditNote,
  fill: (draft: string) => void | Promise<void>,
): Promise<EditRecord> {
  const draft = path.join(folder, DRAFT);
  fs.rmSync(draft, { recursive: true, force: true });
  try {
    const incoming = path.join(draft, NEW);
    fs.mkdirSync(incoming, { recursive: true });
    await fill(incoming);
    fs.mkdirSync(path.join(draft, OLD));
    const number = (editsIn(folder).at(-1)?.number ?? 0) + 1;
    const came = fs.readdirSync(incoming).sort();
    const had = fs.readdirSync(folder).filter((name) => leaves(name, came));
    const record = { format: FORMAT, number, made: new Date().toISOString(), ...note, had, came };
    writeSynced(path.join(draft, RECORD), jsonText(record as unknown as JsonValue));
    syncFolder(draft);
    fs.renameSync(draft, path.join(folder, READY));
    syncFolder(folder);
    finishEdits(folder);
    return record;
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

const leaves = (name: string, came: readonly string[]): boolean => came.includes(name) || MADE.has(name);

/** Takes the last edit back; `prepare` may put entries of the state before right, such as names given since. */
export function undoLast(folder: string, prepare: (before: string, edit: EditRecord) => void): EditRecord {
  const last = editsIn(folder).at(-1);
  if (!last) throw new UserError(`${folder} has no edit to undo: nothing was merged, split or updated`);
  prepare(stateBefore(folder, last), last);
  fs.renameSync(path.join(folder, EDITS, String(last.number)), path.join(folder, UNDO));
  syncFolder(folder);
  finishEdits(folder);
  return last;
}

/** Whether an edit or its undoing was decided on and is not through. */
const pending = (folder: string): boolean =>
  [READY, UNDO].some((name) => fs.existsSync(path.join(folder, name)));

/** Before a run is read: waits for an edit that is under way, or finishes that of a process that was killed. */
export function settleEdits(folder: string, shown: string): void {
  if (!pending(folder)) return;
  Lock.during(path.join(folder, 'lock'), `the run folder ${shown}`, () => finishEdits(folder));
}

/** Carries decided edits through; whoever calls it holds the lock. */
export function finishEdits(folder: string): void {
  const ready = path.join(folder, READY);
  if (fs.existsSync(ready)) {
    const { number, had, came } = recordIn(ready);
    exchange(folder, { from: path.join(ready, NEW), to: path.join(ready, OLD), leaving: had, coming: came });
    fs.mkdirSync(path.join(folder, EDITS), { recursive: true });
    fs.renameSync(ready, path.join(folder, EDITS, String(number)));
  }
  const undo = path.join(folder, UNDO);
  const gone = path.join(folder, GONE);
  if (fs.existsSync(undo)) {
    const { had, came } = recordIn(undo);
    const made = fs.readdirSync(folder).filter((name) => leaves(name, came));
    exchange(folder, {
      from: path.join(undo, OLD),
      to: path.join(undo, NEW),
      leaving: made.filter((name) => !had.includes(name)),
      coming: had,
    });
    fs.rmSync(gone, { recursive: true, force: true });
    fs.renameSync(undo, gone);
  }
  for (const left of [gone, path.join(folder, DRAFT)]) fs.rmSync(left, { recursive: true, force: true });
}

interface Exchange {
  from: string;
  to: string;
  /** Names that go to `to` whether or not another one comes, and those that come. */
  leaving: readonly string[];
  coming: readonly string[];
}

/** Every move is one rename, and each says by what is left where it stands: done again it does the rest. */
function exchange(folder: string, { from, to, leaving, coming }: Exchange): void {
  fs.mkdirSync(to, { recursive: true });
  const there = (...names: string[]) => fs.existsSync(path.join(...names));
  for (const name of new Set([...leaving, ...coming])) {
    const comes = there(from, name);
    const stays = coming.includes(name) && !comes;
    if (!stays && there(folder, name) && !there(to, name))
      fs.renameSync(path.join(folder, name), path.join(to, name));
    if (comes) fs.renameSync(path.join(from, name), path.join(folder, name));
  }
  syncFolder(folder);
}
