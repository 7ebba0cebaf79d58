import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '../errors.ts';
import { diffConfigs, dumpConfig, loadConfig, type RunConfig } from '../settings.ts';
import { type JsonValue, reasonOf, removeTemporaries, writeJsonAtomic, writeTextAtomic } from './files.ts';
import { readJsonFile } from './json-file.ts';
import { Lock, lockHolder } from './lock.ts';
import { readText } from './regular-file.ts';

/** The layout of a run folder; a later one gets another number. */
export const RUN_FORMAT = 1;
const RUN_STATES = ['running', 'finished', 'stopped', 'crashed'] as const;
export type RunState = (typeof RUN_STATES)[number];

export interface CorpusInfo {
  directory: string;
  fingerprint: string;
}

/** `run.json`; a run may note more beside these. */
export interface RunRecord {
  format: number;
  /** The version of this program that made the run. */
  version: string;
  /** ISO time. */
  created: string;
  corpus: CorpusInfo;
  state: RunState;
  readonly [key: string]: unknown;
}

export interface RunOptions {
  /** Replace a run that is there. */
  force?: boolean;
  /** More for run.json. */
  extra?: Readonly<Record<string, JsonValue>>;
  /** Writes further files that the run cannot be without. */
  fill?: (folder: string) => void;
}

/** What a run folder may hold beside events; `force` replaces a run only when it holds nothing else. */
const RUN_FILES = new Set([
  ...['config.yaml', 'run.json', 'metrics.jsonl', 'lock', 'checkpoints'],
  ...[
    'evaluation.json',
    'graph.json',
    'figures',
    'README.md',
    'tokenizer.json',
    'names.json',
    'layout.json',
    'paths',
  ],
  ...['analysis', 'MODEL.md', 'report.html'],
]);
const RUN_NAMES =
  /^(corpus\.(txt|tsv|csv|jsonl|parquet)|events\.out\.tfevents\..+|lock\.stale-\d+|\..+\.\d+\.tmp)$/;
/** What a run whose making was cut short may hold. */
const UNFINISHED_NAMES =
  /^(tokenizer\.json|corpus\.(txt|tsv|csv|jsonl|parquet)|lock|lock\.stale-\d+|config\.yaml|checkpoints|\..+\.\d+\.tmp)$/;

/** The version in this package's own `package.json`. */
export const VERSION: string = JSON.parse(
  fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;

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
    this.notes = left ? [`recovered the lock that process ${left.pid} left in ${directory}`] : [];
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
      writeTextAtomic(path.join(folder, 'config.yaml'), dumpConfig(config));
      fs.mkdirSync(path.join(folder, 'checkpoints'));
      options.fill?.(folder);
      // Last: a folder without it is one whose making was cut short.
      writeJsonAtomic(path.join(folder, 'run.json'), record);
      return new Run(folder, config, record, lock);
    } catch (error) {
      lock.release();
      throw asUserError(error, `cannot make a run in ${directory}`);
    }
  }

  /**
   * Opens a run to look at it; with `write`, to continue it, which takes its lock. `config` stands in for the run's
   * own settings, which stay on disk until `adopt`.
   */
  static open(directory: string, options: { write?: boolean; config?: RunConfig } = {}): Run {
    const folder = path.resolve(directory);
    const record = readRecord(folder, directory);
    const config = options.config ?? readConfig(path.join(folder, 'config.yaml'));
    if (!options.write) return new Run(folder, config, record);
    const lock = lockFolder(folder, directory);
    removeTemporaries(folder);
    fs.mkdirSync(path.join(folder, 'checkpoints'), { recursive: true });
    return new Run(folder, config, record, lock);
  }

  get record(): RunRecord {
    return this.#record;
  }

  /** The state; a run that says it is running though no process holds it has crashed. */
  get state(): RunState {
    const { state } = this.#record;
    return state === 'running' && !this.#lock && !lockHolder(this.path('lock')) ? 'crashed' : state;
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

  /** Makes the settings it was opened with, and this corpus, the run's own. */
  adopt({ directory, fingerprint }: CorpusInfo): void {
    writeTextAtomic(this.path('config.yaml'), dumpConfig(this.config));
    this.#record = { ...this.#record, corpus: { directory, fingerprint } };
    this.setState(this.#record.state);
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

  /** What differs from the settings and the corpus a resumed run would use; empty when it may go on. */
  differences(config: RunConfig, corpus: CorpusInfo): string[] {
    const lines = diffConfigs(this.config, config);
    const was = this.#record.corpus;
    if (was.fingerprint !== corpus.fingerprint)
      lines.push(
        `corpus: ${was.directory} (${was.fingerprint.slice(0, 12)}) → ${corpus.directory} (${corpus.fingerprint.slice(0, 12)})`,
      );
    return lines;
  }
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
    begun ? RUN_FILES.has(name) || RUN_NAMES.test(name) : UNFINISHED_NAMES.test(name);
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

/** Whether a folder is a run, whole or not; also one whose run.json leads nowhere. */
export function isRunFolder(folder: string): boolean {
  try {
    fs.lstatSync(path.join(folder, 'run.json'));
    return true;
  } catch {
    return false;
  }
}

function readRecord(folder: string, shown: string): RunRecord {
  const file = path.join(folder, 'run.json');
  if (!fs.existsSync(folder)) throw new UserError(`the run folder ${shown} does not exist`);
  if (!isRunFolder(folder))
    throw new UserError(`${shown} is not a run: expected a folder made by "hsn train", with run.json in it`);
  const record = readJsonFile<RunRecord>(file);
  checkRecord(record, file);
  return record;
}

function checkRecord(record: RunRecord, file: string): void {
  if (Number.isInteger(record?.format) && record.format > RUN_FORMAT) {
    throw new UserError(
      `${file}: this run has format ${record.format}, made by version ${record.version}; version ${VERSION} reads up to format ${RUN_FORMAT}, so open it with version ${record.version} or later`,
    );
  }
  const whole =
    record?.format === RUN_FORMAT &&
    typeof record.version === 'string' &&
    typeof record.created === 'string' &&
    typeof record.corpus?.directory === 'string' &&
    typeof record.corpus.fingerprint === 'string' &&
    RUN_STATES.includes(record.state);
  if (!whole)
    throw new UserError(`${file} is damaged: expected format, version, created, corpus and state of a run`);
}

function readConfig(file: string): RunConfig {
  return loadConfig(readText(file), file);
}
