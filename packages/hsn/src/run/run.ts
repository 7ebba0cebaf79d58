import fs from 'node:fs';
import path from 'node:path';
import {
  type JsonValue,
  readText,
  reasonOf,
  removeTemporaries,
  UserError,
  writeFileAtomic,
  writeJsonAtomic,
} from '@hidden-schema/base';
import { Lock, lockHolder } from '@hidden-schema/torch';
import { diffConfigs, dumpConfig, loadConfig, type RunConfig } from '../config/settings.ts';
import { finishEdits, isEditEntry, settleEdits } from './edits.ts';
import { editsOf, hasManifest, writeRunManifest } from './run-manifest.ts';
import {
  type CorpusInfo,
  RUN_FORMAT,
  type RunRecord,
  type RunState,
  readRecord,
  VERSION,
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

/** What a run folder may hold beside events; `force` replaces a run only when it holds nothing else. */
const RUN_FILES = new Set([
  ...['config.yaml', 'run.json', 'manifest.json', 'metrics.jsonl', 'lock', 'checkpoints'],
  ...[
    'evaluation.json',
    'graph.json',
    'figures',
    'README.md',
    'tokenizer.json',
    'tokenizer_config.json',
    'names.json',
    'names.lock',
    'layout.json',
    'paths',
  ],
  ...['analysis', 'MODEL.md', 'report.html'],
]);
const RUN_NAMES =
  /^(corpus\.(txt|tsv|csv|jsonl|parquet)|events\.out\.tfevents\..+|lock\.stale-\d+|\..+\.\d+\.tmp)$/;
/** What a run whose making was cut short may hold. */
const UNFINISHED_NAMES =
  /^((tokenizer|tokenizer_config|manifest)\.json|corpus\.(txt|tsv|csv|jsonl|parquet)|lock|lock\.stale-\d+|config\.yaml|checkpoints|\..+\.\d+\.tmp)$/;

/** A folder with everything about one training run. Made and opened for writing under a lock. */
export class Run {
  readonly directory: string;
  readonly config: RunConfig;
  readonly notes: readonly string[];
  #record: RunRecord;
  #lock: Lock | undefined;

  private constructor(directory: string, config: RunConfig, record: RunRecord, lock?: Lock) {
    this.directory = directory;
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
    checkTarget(folder, directory, options.force ?? false);
    const lock = lockFolder(folder, directory);
    try {
      for (const name of fs.readdirSync(folder))
        if (name !== 'lock') fs.rmSync(path.join(folder, name), { recursive: true, force: true });
      const created = new Date().toISOString();
      const { directory: from, fingerprint } = corpus;
      const fields = { corpus: { directory: from, fingerprint }, state: 'running' as const };
      const record = { ...options.extra, format: RUN_FORMAT, version: VERSION, created, ...fields };
      writeFileAtomic(path.join(folder, 'config.yaml'), dumpConfig(config));
      fs.mkdirSync(path.join(folder, 'checkpoints'));
      options.fill?.(folder);
      writeRunManifest(folder, config, record);
      // Last: a folder without it is one whose making was cut short.
      writeJsonAtomic(path.join(folder, 'run.json'), record);
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
    const folder = path.resolve(directory);
    settleEdits(folder, directory);
    readRecord(folder, directory);
    if (!options.write) return Run.#read(folder, directory, options.config);
    const lock = lockFolder(folder, directory);
    try {
      finishEdits(folder);
      // Read under the lock: another process may have changed it until now.
      const run = Run.#read(folder, directory, options.config, lock);
      if (!options.force) refuseEdits(run.edits(), directory);
      removeTemporaries(folder);
      fs.mkdirSync(path.join(folder, 'checkpoints'), { recursive: true });
      if (!run.recorded) writeRunManifest(folder, readConfig(folder), run.record);
      run.#record = { ...run.#record, format: RUN_FORMAT };
      return run;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  static #read(folder: string, shown: string, config: RunConfig | undefined, lock?: Lock): Run {
    const record = readRecord(folder, shown);
    const own = config ?? readConfig(folder);
    if (!config) checkRunSizes(folder, own, record);
    return new Run(folder, own, record, lock);
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
    return this.#record.format >= RUN_FORMAT || hasManifest(this.directory);
  }

  /** What was edited by hand of the files that training reads, a line each; nothing is known of an unrecorded run. */
  edits(): string[] {
    return this.recorded ? editsOf(this.directory, readConfig(this.directory), this.#record) : [];
  }

  /** What is made of the run's model belongs to: when it was made, and when its symbols were edited last. */
  get identity(): string {
    const { created, edited } = this.#record;
    return edited === undefined ? created : `${created} ${edited}`;
  }

  get locked(): boolean {
    return this.#lock !== undefined;
  }

  path(...names: string[]): string {
    return path.join(this.directory, ...names);
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
    writeRunManifest(this.directory, this.config, this.#record);
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
    const lines = [...this.edits(), ...diffConfigs(this.config, config)];
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

function lockFolder(folder: string, shown: string): Lock {
  try {
    fs.mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw asUserError(error, `cannot make the folder ${shown}`);
  }
  return Lock.acquire(path.join(folder, 'lock'), `the run folder ${shown}`);
}

const asUserError = (error: unknown, what: string): unknown =>
  (error as NodeJS.ErrnoException).code === undefined ? error : new UserError(`${what}: ${reasonOf(error)}`);

/** Refuses a folder that a run cannot be made in; also asked before long work. */
export function checkRunFolder(directory: string, force: boolean): void {
  checkTarget(path.resolve(directory), directory, force);
}

function checkTarget(folder: string, shown: string, force: boolean): void {
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory())
    throw new UserError(`${shown} is a file; expected a folder for the run, choose another name`);
  const names = fs.readdirSync(folder);
  const begun = names.includes('run.json');
  if (begun && !force)
    throw new UserError(
      `${shown} already holds a run; continue it with --resume, replace it with --force, or choose another folder`,
    );
  const own = (name: string) =>
    begun ? RUN_FILES.has(name) || RUN_NAMES.test(name) || isEditEntry(name) : UNFINISHED_NAMES.test(name);
  const foreign = names.filter((name) => !own(name));
  if (!begun && hasCheckpoints(folder)) foreign.unshift('checkpoints');
  if (foreign.length === 0) return;
  const some = `${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''}`;
  throw new UserError(
    begun
      ? `${shown} holds more than a run (${some}), so --force will not replace it; choose another folder`
      : `${shown} is not empty and holds no run (${some}); choose another folder`,
  );
}

function hasCheckpoints(folder: string): boolean {
  const checkpoints = path.join(folder, 'checkpoints');
  return fs.existsSync(checkpoints) && fs.readdirSync(checkpoints).length > 0;
}

function readConfig(folder: string): RunConfig {
  const file = path.join(folder, 'config.yaml');
  return loadConfig(readText(file), file);
}
