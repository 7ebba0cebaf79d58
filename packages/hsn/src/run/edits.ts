import fs from 'node:fs';
import path from 'node:path';
import {
  hashFile,
  type JsonValue,
  jsonText,
  plainText,
  reasonOf,
  syncFolder,
  UserError,
  writeFileAtomic,
  writeSynced,
} from '@hidden-schema/base';
import {
  CARRIED,
  carriedNames,
  EDIT_FOLDERS,
  type EditRecord,
  editRecord,
  isNaming,
  isThere,
  leaves,
  NAMES,
  NEW,
  OLD,
  readEditRecord,
  recordFile,
  unfinishedEdit,
} from './edit-record.ts';
import type { RunFiles } from './run-files.ts';
import { checkIdentity } from './run-record.ts';
import { readSums, SUMS, type Sums, sealFolder, sumOf, sumsText } from './sums.ts';

// An edit exchanges entries of a run's folder, however the process ends. What is new is written to a draft; renaming that
// decides, and whoever writes to the run next carries on from there. What it replaced stays in edits/N, from which `undo`
// fetches it back in the same way. Whoever calls these functions holds the run's lock.

const { edits: EDITS, draft: DRAFT, ready: READY, undo: UNDO, gone: GONE } = EDIT_FOLDERS;

/** Edits that can be undone, the oldest first; one that is decided on and not through is among them. */
export function editsIn(files: RunFiles): EditRecord[] {
  const numbers = files
    .names(EDITS)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
  const through = numbers.map((number) => readEditRecord(files.place(EDITS, String(number)), number));
  const unfinished = isThere(files.root, READY) ? unfinishedEdit(files.root) : undefined;
  return unfinished ? [...through, unfinished.record] : through;
}

/** Parts of the path at which a run's entries lie as they were before an edit. */
export const stateBefore = ({ number }: EditRecord): [string, ...string[]] => [EDITS, String(number), OLD];

/** An edit of a run's folder. */
export interface EditPlan extends Pick<EditRecord, 'what' | 'origins'> {
  /** Of the run that it was worked out from. */
  identity: string;
  /** Writes the new entries into an empty folder. */
  fill(draft: string): void | Promise<void>;
  /** Texts of further entries by name, worked out at the last moment, since others may change them until then. */
  late?(): Readonly<Record<string, string>>;
}

/**
 * Replaces entries of a run's folder by those of a plan, all of them or none; what else a run knows of its model (figures,
 * analyses) leaves with them.
 */
export async function editFolder(files: RunFiles, plan: EditPlan): Promise<EditRecord> {
  try {
    files.remove(DRAFT);
    const incoming = files.place(DRAFT, NEW);
    fs.mkdirSync(incoming, { recursive: true });
    await plan.fill(incoming);
    // Nobody names symbols or stores analyses from here until all is exchanged.
    return files.locked(() => {
      checkIdentity(files, plan.identity);
      const record = writeDraft(files, plan, incoming);
      fs.renameSync(files.place(DRAFT), files.place(READY));
      syncFolder(files.root);
      finishEdits(files);
      return record;
    });
  } catch (error) {
    throw sided(files, error, { decided: READY, undecided: DRAFT, what: plan.what });
  }
}

function writeDraft(files: RunFiles, plan: EditPlan, incoming: string): EditRecord {
  for (const [name, text] of Object.entries(plan.late?.() ?? {}))
    writeSynced(path.join(incoming, name), text);
  // Names alone leave the analyses where they are, and so their sums.
  sealFolder(incoming, isNaming(fs.readdirSync(incoming)) ? files.sums() : undefined);
  fs.mkdirSync(files.place(DRAFT, OLD));
  const number = (editsIn(files).at(-1)?.number ?? 0) + 1;
  const came = fs.readdirSync(incoming).sort();
  const had = files.names().filter((name) => leaves(name, came));
  const { what, origins } = plan;
  const record = editRecord({ number, what, origins, had, came });
  writeSynced(recordFile(files.place(DRAFT)), jsonText(record as unknown as JsonValue));
  syncFolder(files.place(DRAFT));
  return record;
}

/** What a fault means: before the decision nothing was changed, after it the edit stands. */
function sided(
  files: RunFiles,
  error: unknown,
  { decided, undecided, what }: { decided: string; undecided?: string; what: string },
): unknown {
  if (isThere(files.root, decided))
    return new UserError(
      `the edit stands (${plainText(what)}), but not all of its files could be moved: ${reasonOf(error)}; the next command that writes to ${files.root} completes it`,
    );
  if (undecided) removeLeft(files, undecided);
  const isSystem = (error as NodeJS.ErrnoException).code !== undefined;
  return isSystem
    ? new UserError(`cannot edit ${files.root}: ${reasonOf(error)}; nothing was changed`)
    : error;
}

/** Takes the last edit back; `carry` gives texts of entries of the state before that differ, such as names given since. */
export function undoLast(
  files: RunFiles,
  carry: (edit: EditRecord) => Readonly<Record<string, string>> = () => ({}),
): EditRecord {
  const last = editsIn(files).at(-1);
  if (!last)
    throw new UserError(`${files.root} has no edit to undo: nothing was merged, split, updated or named`);
  try {
    files.locked(() => {
      writeCarried(files, last, carry(last));
      fs.renameSync(files.place(EDITS, String(last.number)), files.place(UNDO));
      syncFolder(files.root);
      finishEdits(files);
    });
  } catch (error) {
    throw sided(files, error, { decided: UNDO, what: `undone: ${last.what}` });
  }
  return last;
}

/** Beside the state before, which stays as it is until the undoing is decided on. */
function writeCarried(files: RunFiles, edit: EditRecord, texts: Readonly<Record<string, string>>): void {
  const place = [EDITS, String(edit.number), CARRIED];
  files.remove(...place);
  const naming = isNaming(edit.came);
  if (Object.keys(texts).length === 0 && !naming) return;
  const folder = files.place(...place);
  fs.mkdirSync(folder);
  const sums = naming ? sumsWithNamesBefore(files, edit) : readSums(files.place(...stateBefore(edit), SUMS));
  for (const [name, text] of Object.entries(texts)) {
    writeSynced(path.join(folder, name), text);
    sums.set(name, [sumOf(text)]);
  }
  if (edit.had.includes(SUMS) || naming) writeSynced(path.join(folder, SUMS), sumsText(sums));
  syncFolder(folder);
}

/** Analyses may have been stored since names were given: their sums are those of now. */
function sumsWithNamesBefore(files: RunFiles, edit: EditRecord): Sums {
  const sums = new Map(files.sums());
  const before = files.place(...stateBefore(edit), NAMES);
  if (isThere(before)) sums.set(NAMES, [hashFile(before).sha256]);
  else sums.delete(NAMES);
  return sums;
}

/** Carries decided edits through; gives what they were, in a line each. */
export function finishEdits(files: RunFiles): string[] {
  const through: string[] = [];
  const edit = isThere(files.root, READY) ? unfinishedEdit(files.root) : undefined;
  if (edit) {
    const { number, had, came } = edit.record;
    const last = files.place(EDITS, String(number));
    if (isThere(last)) throw new UserError(`${last} is there already; remove ${files.place(READY)}`);
    exchange(files, { from: [READY, NEW], to: [READY, OLD], leaving: had, coming: came });
    fs.mkdirSync(files.place(EDITS), { recursive: true });
    fs.renameSync(files.place(READY), last);
    through.push(edit.what);
  }
  const undoing = isThere(files.root, UNDO) ? unfinishedEdit(files.root) : undefined;
  if (undoing) {
    finishUndo(files, undoing.record, undoing.coming);
    through.push(undoing.what);
  }
  if (through.length > 0) syncFolder(files.root);
  for (const left of [GONE, DRAFT]) removeLeft(files, left);
  return through;
}

function finishUndo(files: RunFiles, { came }: EditRecord, coming: readonly string[]): void {
  // Done again it writes the same.
  for (const name of carriedNames(files.root))
    writeFileAtomic(files.place(UNDO, OLD, name), fs.readFileSync(files.place(UNDO, CARRIED, name)));
  const leaving = files.names().filter((name) => leaves(name, came) && !coming.includes(name));
  exchange(files, { from: [UNDO, OLD], to: [UNDO, NEW], leaving, coming });
  files.remove(GONE);
  fs.renameSync(files.place(UNDO), files.place(GONE));
}

/** What is left over harms nobody; the next edit removes it. */
function removeLeft(files: RunFiles, name: string): void {
  try {
    files.remove(name);
  } catch {
    // Said by nobody, since nothing depends on it.
  }
}

interface Exchange {
  from: readonly string[];
  to: readonly string[];
  /** Names that go to `to` whether or not another one comes, and those that come. */
  leaving: readonly string[];
  coming: readonly string[];
}

/** Every move is one rename, and each says by what is left where it stands: done again it does the rest. */
function exchange(files: RunFiles, { from, to, leaving, coming }: Exchange): void {
  // All of them are looked at before the first is moved.
  const moves = [...new Set([...leaving, ...coming])].map((name) => ({
    source: files.place(...from, name),
    own: files.place(name),
    aside: files.place(...to, name),
    leaves: !coming.includes(name),
  }));
  fs.mkdirSync(files.place(...to), { recursive: true });
  for (const move of moves) {
    const comes = isThere(move.source);
    if ((comes || move.leaves) && isThere(move.own) && !isThere(move.aside))
      fs.renameSync(move.own, move.aside);
    if (comes) fs.renameSync(move.source, move.own);
  }
  syncFolder(files.root);
}
