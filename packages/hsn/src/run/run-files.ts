import fs from 'node:fs';
import path from 'node:path';
import {
  hashFile,
  kindOf,
  openRegular,
  parseJson,
  plainText,
  readRegular,
  reasonOf,
  UserError,
} from '@hidden-schema/base';
import { Lock } from '@hidden-schema/torch';
import {
  DamagedFile,
  EDIT_FOLDERS,
  EditUnfinished,
  entryPlace,
  isThere,
  reportDamage,
  reportOnce,
  unfinishedEdit,
} from './edit-record.ts';
import {
  type Content,
  findDamage,
  isAnswerFile,
  putFiles,
  readSums,
  recordSums,
  SUMS,
  sumFault,
} from './sums.ts';

/** What a run folder may hold beside events and edits. */
const ENTRIES = new Set([
  ...['config.yaml', 'run.json', 'manifest.json', SUMS, 'metrics.jsonl', 'lock', 'names.lock', 'checkpoints'],
  ...[
    'evaluation.json',
    'graph.json',
    'figures',
    'README.md',
    'tokenizer.json',
    'tokenizer_config.json',
    'encoder',
  ],
  ...['names.json', 'layout.json', 'paths', 'walks.safetensors', 'analysis', 'MODEL.md', 'report.html'],
  ...Object.values(EDIT_FOLDERS),
]);
const ENTRY_NAMES =
  /^(corpus\.(txt|tsv|csv|jsonl|parquet)|events\.out\.tfevents\.[^/]+|lock\.stale-\d+|\.[^/]+\.\d+\.tmp)$/;

/** Whether a name is one of an entry that a run's folder has. */
export const isRunEntry = (name: string): boolean => ENTRIES.has(name) || ENTRY_NAMES.test(name);

/**
 * The one way to the files of a run. It takes names of entries that runs have, and never goes through a symbolic link
 * below the run's folder, which may come from a stranger; the folder itself may be one that the user gave.
 */
export class RunFiles {
  readonly root: string;

  constructor(folder: string) {
    this.root = path.resolve(folder);
  }

  /** Where an entry is read: as the run is once an edit that was decided on is through. */
  path(...parts: string[]): string {
    const [entry = '', ...rest] = parts;
    if (!isRunEntry(entry)) throw new UserError(`${JSON.stringify(entry)} is no file of a run`);
    return checkedPath(this.root, [...entryPlace(this.root, entry), ...rest]);
  }

  /** Where an entry is written; while an edit is not through, nothing is. */
  target(...parts: string[]): string {
    this.refuseUnfinished();
    return this.path(...parts);
  }

  /** A path below the run's folder as it is, for edits. */
  place(...parts: string[]): string {
    return checkedPath(this.root, parts);
  }

  /** Refuses to write while an edit is not through. */
  refuseUnfinished(): void {
    const edit = unfinishedEdit(this.root);
    if (edit)
      throw new EditUnfinished(
        `an edit of ${this.root} is unfinished (${plainText(edit.what)}); repeat the command that was cut short to complete it, or take it back with: hsn undo ${this.root}`,
      );
  }

  /** Names in a folder of the run; none where it is not there. */
  list(...parts: string[]): string[] {
    return namesIn(this.path(...parts));
  }

  /** Names in the run's folder, or below it, as it is. */
  names(...parts: string[]): string[] {
    return namesIn(this.place(...parts));
  }

  /** Entries of the run, as it is once an edit that was decided on is through; what users put there apart. */
  entries(): string[] {
    const coming = unfinishedEdit(this.root)?.coming ?? [];
    const all = new Set([...this.names(), ...coming]);
    return [...all]
      .filter((name) => isRunEntry(name) && isThere(this.root, ...entryPlace(this.root, name)))
      .sort();
  }

  exists(...parts: string[]): boolean {
    return isThere(this.path(...parts));
  }

  /** Opens a file to read. */
  open(...parts: string[]): number {
    return openRegular(this.path(...parts), { follow: false });
  }

  /** The bytes of a file that need not be there, compared with its sum where one was recorded. */
  read(name: string, limit?: number): Buffer | undefined {
    let fault: string | undefined;
    // A file that is just being replaced, or moved by an edit, is there or right the next time.
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) pause();
      const bytes = this.bytes(name, limit);
      const known = this.sums().get(name);
      fault = bytes && findDamage(bytes, known);
      if (fault === undefined && (bytes || !known)) return bytes;
    }
    if (fault === undefined) return undefined;
    throw new DamagedFile(`${this.path(...partsOf(name))} is damaged: ${fault}`);
  }

  /** The bytes of a file that need not be there, as they are; an edit may move it while it is opened. */
  bytes(name: string, limit?: number): Buffer | undefined {
    for (;;) {
      const file = this.path(...partsOf(name));
      try {
        return readRegular(file, limit, { follow: false });
      } catch (error) {
        if (error instanceof UserError) throw error;
        const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
        if (!missing) throw new UserError(`cannot read ${file}: ${reasonOf(error)}`);
        if (this.path(...partsOf(name)) === file) return undefined;
      }
    }
  }

  /** The text of a file that must be there, as it is. */
  text(name: string): string {
    const bytes = this.bytes(name);
    if (bytes) return bytes.toString('utf8');
    const file = this.path(...partsOf(name));
    throw new UserError(`cannot read ${file}: ENOENT: no such file or directory, open '${file}'`);
  }

  /** Compares a file of any size with its sum, where one was recorded. */
  check(name: string): void {
    const file = this.path(...partsOf(name));
    const known = this.sums().get(name);
    const fault = known && sumFault(hashFile(file).sha256, known);
    if (fault !== undefined) throw new DamagedFile(`${file} is damaged: ${fault}`);
  }

  /** A JSON file that need not be there. */
  readJson<T>(name: string): T | undefined {
    const bytes = this.read(name);
    if (!bytes) return undefined;
    const file = this.path(...partsOf(name));
    try {
      return parseJson<T>(bytes.toString('utf8'), file);
    } catch (error) {
      throw new DamagedFile(reasonOf(error));
    }
  }

  /** What `read` gives; nothing where a file of it is damaged, and a line says so and what is done. */
  unlessDamaged<T>(read: () => T | undefined, outcome = 'it is made anew'): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      reportOnce(`${error.message}; ${outcome}`);
      return undefined;
    }
  }

  /** A JSON file that can be made anew where it is damaged. */
  readIfWhole<T>(name: string): T | undefined {
    return this.unlessDamaged(() => this.readJson<T>(name));
  }

  /** sha256 sums of the files that answers are made of, by name; where these are damaged none, which is said. */
  sums(): ReadonlyMap<string, readonly string[]> {
    try {
      return readSums(this.path(SUMS));
    } catch (error) {
      reportOnce(
        `${reasonOf(error)}; files are read without comparing them, and the next command that writes records new sums`,
      );
      return new Map();
    }
  }

  /** Writes files that answers are made of, with their sums; `check` is asked under the lock. */
  store(contents: Readonly<Record<string, Content>>, check: () => void = () => {}): void {
    this.locked(() => {
      check();
      this.#put(contents);
    });
  }

  #put(contents: Readonly<Record<string, Content>>): void {
    const targets = Object.keys(contents).map((name) => [name, this.target(...partsOf(name))] as const);
    for (const [, file] of targets)
      if (path.dirname(file) !== this.root) fs.mkdirSync(path.dirname(file), { recursive: true });
    this.#recordMissing();
    putFiles(this, contents, new Map(targets));
  }

  /** Writes such a file anew from what it holds now; nobody else changes it meanwhile. */
  update(name: string, text: () => string, check: () => void): void {
    this.locked(() => {
      check();
      this.#put({ [name]: text() });
    });
  }

  /** Records the sums of a run that has none, or whose sums are damaged, from its files as they are. */
  recordMissing(): void {
    this.locked(() => this.#recordMissing());
  }

  #recordMissing(): void {
    const file = this.path(SUMS);
    try {
      if (isThere(file) && readSums(file)) return;
    } catch (error) {
      reportDamage(`${reasonOf(error)}; sums are recorded anew from the files as they are`);
    }
    recordSums(this);
  }

  /** Does something short that changes names, analyses or their sums; others wait their turn. */
  locked<T>(body: () => T): T {
    return Lock.during(this.place('names.lock'), `what ${this.root} holds`, body);
  }

  /** Removes an entry, with all that is in it, or a link in its place. */
  remove(...parts: string[]): void {
    checkedPath(this.root, parts.slice(0, -1));
    fs.rmSync(path.join(this.root, ...parts), { recursive: true, force: true });
  }

  /** Files that answers are made of and that are there. */
  answerFiles(): string[] {
    const inner = this.list('analysis').map((name) => `analysis/${name}`);
    return [...this.entries(), ...inner].filter(isAnswerFile);
  }
}

const ATTEMPTS = 4;
const PAUSE_MS = 15;
const pause = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);

const partsOf = (name: string): string[] => name.split('/');

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
