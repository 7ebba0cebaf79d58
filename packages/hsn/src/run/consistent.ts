import { setTimeout as sleep } from 'node:timers/promises';
import { EDIT_FOLDERS, NEW, OLD, RunChanged } from './edit-record.ts';
import { RunFiles } from './run-files.ts';
import { identityOf, readRecord } from './run-record.ts';

// Runs are read without a lock, while others may edit or train them. Whether that happened shows in what lies where: what
// was read meanwhile is read again, so that a run is seen as it was at one moment.

const ATTEMPTS = 50;
const PAUSE_MS = 20;

/** What lies where in a run: another one when an edit was decided on, moved something, or training wrote a checkpoint. */
interface Moment {
  identity: string;
  places: string;
}

function momentOf(files: RunFiles): Moment {
  const { ready, undo } = EDIT_FOLDERS;
  const names = (...parts: string[]) => attempt(() => files.names(...parts), []);
  return {
    identity: attempt(() => identityOf(readRecord(files, files.root)), ''),
    places: [
      names(ready, NEW),
      names(undo, OLD),
      attempt(() => files.list('checkpoints'), []),
      names(EDIT_FOLDERS.edits),
    ].join('/'),
  };
}

/** What cannot be read is told by who reads it. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Whether what was read has to be read again: a fault counts only where nothing moved. */
const isStale = (before: Moment, after: Moment, faulty: boolean): boolean =>
  before.identity !== after.identity || (faulty && before.places !== after.places);

/** Reads a run as it was at one moment; `isFaulty` says that a result tells of damage. */
export function readConsistently<T>(
  folder: string,
  read: () => T,
  isFaulty: (result: T) => boolean = () => false,
): T {
  const files = new RunFiles(folder);
  for (let count = 1; ; count++) {
    const before = momentOf(files);
    const outcome = outcomeOf(read);
    const faulty = 'error' in outcome || isFaulty(outcome.value);
    if (count >= ATTEMPTS || !isStale(before, momentOf(files), faulty)) {
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}

type Outcome<T> = { value: T } | { error: unknown };

function outcomeOf<T>(read: () => T): Outcome<T> {
  try {
    return { value: read() };
  } catch (error) {
    return { error };
  }
}

/** The same for what takes time; `discard` frees what was read of a run that changed meanwhile. */
export async function openConsistently<T>(
  folder: string,
  open: () => Promise<T>,
  discard: (opened: T) => void,
): Promise<T> {
  const files = new RunFiles(folder);
  for (let count = 1; ; count++) {
    const before = momentOf(files);
    const outcome: Outcome<T> = await open().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (!isStale(before, momentOf(files), 'error' in outcome)) {
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    }
    if ('value' in outcome) discard(outcome.value);
    if (count >= ATTEMPTS) throw new RunChanged(files.root);
    await sleep(PAUSE_MS);
  }
}
