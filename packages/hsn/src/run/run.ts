import fs from 'node:fs';
import path from 'node:path';
import {
  type JsonValue,
  jsonText,
  plainText,
  reasonOf,
  removeTemporaries,
  UserError,
  writeFileAtomic,
  writeJsonAtomic,
} from '@hidden-schema/base';
import { Lock, lockHolder } from '@hidden-schema/torch';
import { diffConfigs, dumpConfig, loadConfig, type RunConfig } from '../config/settings.ts';
import { readConsistently } from './consistent.ts';
import { rememberCorpus } from './corpus-places.ts';
import { finishEdits } from './edits.ts';
import { RunFiles } from './run-files.ts';
import {
  type CorpusInfo,
  checkIdentity,
  checkRunFolder,
  editsOf,
  hasManifest,
  identityOf,
  RUN_FORMAT,
  type RunRecord,
  type RunState,
  readRecord,
  VERSION,
  writeRunManifest,
} from './run-record.ts';
import { checkRunSizes } from './run-sizes.ts';

export {
  type CorpusInfo,
  isRunFolder,
  RUN_FORMAT,
  type RunRecord,
  type RunState,
  VERSION,
} from './run-record.ts';

export interface RunOptions {
  /** Replace a run that is there. */
  force?: boolean;
  /** More for run.json. */
  extra?: Readonly<Record<string, JsonValue>>;
  /** Writes further files that the run cannot be without. */
  fill?: (folder: string) => void;
  /** Whether this user named the corpus; true unless another run did. */
  named?: boolean;
}

export interface OpenOptions {
  /** To continue it. */
  write?: boolean;
  config?: RunConfig;
  /** Go on with files that were edited. */
  force?: boolean;
}

const UNRECORDED =
  'its settings and files were not recorded when it was made, so edits since cannot be seen; they are recorded from now on';

/** A folder with everything about one training run. Made and opened for writing under a lock. */
export class Run {
  readonly directory: string;
  readonly files: RunFiles;
  readonly config: RunConfig;
  readonly notes: readonly string[];
  #record: RunRecord;
  #lock: Lock | undefined;

  private constructor(directory: string, config: RunConfig, record: RunRecord, lock?: Lock) {
    this.directory = directory;
    this.files = new RunFiles(directory);
    this.config = config;
    this.#record = record;
    this.#lock = lock;
    const left = lock?.recoveredFrom;
    this.notes = [
      ...(left ? [`recovered the lock that process ${left.pid} left in ${directory}`] : []),
      ...(lock && record.format < RUN_FORMAT ? [UNRECORDED] : []),
    ];
  }

  /** Makes a run in a new or empty folder; `force` replaces a run that is there, and nothing else. */
  static create(directory: string, config: RunConfig, corpus: CorpusInfo, options: RunOptions = {}): Run {
    const folder = path.resolve(directory);
    checkRunFolder(directory, options.force ?? false);
    const files = new RunFiles(folder);
    const lock = lockFolder(files, directory);
    try {
      for (const name of files.names()) if (name !== 'lock') files.remove(name);
      const created = new Date().toISOString();
      const { directory: from, fingerprint } = corpus;
      const fields = { corpus: { directory: from, fingerprint }, state: 'running' as const };
      const record = { ...options.extra, format: RUN_FORMAT, version: VERSION, created, ...fields };
      writeFileAtomic(path.join(folder, 'config.yaml'), dumpConfig(config));
      fs.mkdirSync(path.join(folder, 'checkpoints'));
      options.fill?.(folder);
      writeRunManifest(files, config, record);
      files.recordMissing();
      // Last: a folder without it is one whose making was cut short.
      writeJsonAtomic(path.join(folder, 'run.json'), record);
      if (options.named ?? true) rememberCorpus({ directory: folder, record });
      return new Run(folder, config, record, lock);
    } catch (error) {
      lock.release();
      throw asUserError(error, `cannot make a run in ${directory}`);
    }
  }

  /**
   * Opens a run to look at it; with `write`, to continue it, which takes its lock and, without `force`, refuses files
   * that were edited. `config` stands in for the run's own settings, which stay on disk until `adopt`.
   */
  static open(directory: string, options: OpenOptions = {}): Run {
    const files = new RunFiles(directory);
    if (!options.write)
      return readConsistently(files.root, () => Run.#read(files, directory, options.config));
    readRecord(files, directory);
    return Run.#begin(lockFolder(files, directory), directory, options);
  }

  /**
   * Opens a run to edit its symbols: waits for another edit that is under way, and refuses at once while it is trained.
   * Numbers of symbols that were read before an unfinished edit are none of now: such an edit is completed, and said.
   */
  static async openToEdit(directory: string, options: { undoing?: boolean } = {}): Promise<Run> {
    const files = new RunFiles(directory);
    const { state } = readRecord(files, directory);
    const what = `the run folder ${directory}`;
    const lock =
      state === 'running' ? lockFolder(files, directory) : await Lock.wait(files.place('lock'), what);
    const refuse = (finished: readonly string[]) => {
      if (finished.length > 0 && !(options.undoing && !finished[0]!.startsWith('undoing')))
        throw new UserError(
          `an unfinished edit of ${directory} was completed now (${plainText(finished.join('; '))}); nothing else was done: look at it, and repeat this if it is still wanted`,
        );
    };
    return Run.#begin(lock, directory, {}, refuse);
  }

  /** Under the lock: another process may have changed the run until now. */
  static #begin(
    lock: Lock,
    directory: string,
    options: OpenOptions,
    onFinished: (edits: readonly string[]) => void = () => {},
  ): Run {
    const files = new RunFiles(directory);
    try {
      onFinished(files.locked(() => finishEdits(files)));
      const run = Run.#read(files, directory, options.config, lock);
      if (!options.force) refuseEdits(run.edits(), directory);
      files.locked(() => removeTemporaries(files.root));
      fs.mkdirSync(files.path('checkpoints'), { recursive: true });
      if (!run.recorded) writeRunManifest(files, readConfig(files), run.record);
      files.recordMissing();
      run.#record = { ...run.#record, format: RUN_FORMAT };
      return run;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  static #read(files: RunFiles, shown: string, config: RunConfig | undefined, lock?: Lock): Run {
    const record = readRecord(files, shown);
    const own = config ?? readConfig(files);
    if (!config) checkRunSizes(files, own, record);
    return new Run(files.root, own, record, lock);
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** The state; a run that says it is running though no process holds it has crashed. */
  get state(): RunState {
    const { state } = this.#record;
    return state === 'running' && !this.#lock && !lockHolder(this.path('lock')) ? 'crashed' : state;
  }

  /** Whether it has a record of its settings and files; a run of 0.1.0 has none. */
  get recorded(): boolean {
    return this.#record.format >= RUN_FORMAT || hasManifest(this.files);
  }

  /** What was edited by hand of the files that training reads, a line each; nothing is known of an unrecorded run. */
  edits(): string[] {
    return this.recorded ? editsOf(this.files, readConfig(this.files), this.#record) : [];
  }

  /** What is made of the run's model belongs to: when it was made, and when its symbols were edited last. */
  get identity(): string {
    return identityOf(this.#record);
  }

  /** Refuses to go on with a run whose symbols were edited since it was opened. */
  checkUnchanged(): void {
    checkIdentity(this.files, this.identity);
  }

  get locked(): boolean {
    return this.#lock !== undefined;
  }

  /** Where one of its files lies; never through a link, and as it is once a decided edit is through. */
  path(...names: string[]): string {
    return this.files.path(...names);
  }

  /** Writes a file that answers are made of, with its sum. */
  store(name: string, value: JsonValue): void {
    this.files.store({ [name]: jsonText(value) }, () => this.checkUnchanged());
  }

  /** Writes the state, and whatever else is worth noting, to `run.json`. */
  setState(state: RunState, extra: Readonly<Record<string, JsonValue | undefined>> = {}): void {
    if (!this.#lock) throw new Error(`${this.directory} was opened to read; open it with { write: true }`);
    const record = { ...this.#record, ...extra, state };
    writeJsonAtomic(this.path('run.json'), record as unknown as JsonValue);
    this.#record = record;
  }

  /** Makes the settings it was opened with, this corpus, and files as they are now, the run's own. */
  adopt({ directory, fingerprint }: CorpusInfo): void {
    writeFileAtomic(this.path('config.yaml'), dumpConfig(this.config));
    this.#record = { ...this.#record, corpus: { directory, fingerprint } };
    this.setState(this.#record.state);
    writeRunManifest(this.files, this.config, this.#record);
  }

  /** Tells other machines that this run goes on; call it at every step. */
  refresh(): void {
    this.#lock?.refresh();
  }

  /** Gives the lock back. */
  close(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }

  /** What was edited, and what differs from the settings and the corpus to go on with; empty when it may go on. */
  differences(config: RunConfig, corpus: CorpusInfo): string[] {
    // A run goes on wherever tensors are.
    const anywhere = (of: RunConfig): RunConfig => ({ ...of, device: undefined });
    const lines = [...this.edits(), ...diffConfigs(anywhere(this.config), anywhere(config))];
    const was = this.#record.corpus;
    if (was.fingerprint !== corpus.fingerprint)
      lines.push(
        `corpus: ${was.directory} (${was.fingerprint.slice(0, 12)}) → ${corpus.directory} (${corpus.fingerprint.slice(0, 12)})`,
      );
    return lines;
  }
}

/** Refuses to continue a run whose files are not those it was trained with. */
export function refuseEdits(edits: readonly string[], shown: string): void {
  if (edits.length === 0) return;
  const lines = edits.map((line) => `\n  ${line}`).join('');
  throw new UserError(
    `${shown} was edited since it was trained:${lines}\n  put this back as it was, or add --force to go on with it`,
  );
}

function lockFolder(files: RunFiles, shown: string): Lock {
  try {
    fs.mkdirSync(files.root, { recursive: true });
  } catch (error) {
    throw asUserError(error, `cannot make the folder ${shown}`);
  }
  return Lock.acquire(files.place('lock'), `the run folder ${shown}`);
}

const asUserError = (error: unknown, what: string): unknown =>
  (error as NodeJS.ErrnoException).code === undefined ? error : new UserError(`${what}: ${reasonOf(error)}`);

const readConfig = (files: RunFiles): RunConfig =>
  loadConfig(files.text('config.yaml'), files.path('config.yaml'));
