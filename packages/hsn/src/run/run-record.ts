import fs from 'node:fs';
import path from 'node:path';
import {
  type FileSum,
  hashFile,
  type JsonValue,
  openSealed,
  parseJson,
  readRegular,
  reasonOf,
  sealedText,
  UserError,
  writeFileAtomic,
} from '@hidden-schema/base';
import { diffSettings, dumpConfig, loadConfig, type RunConfig } from '../config/settings.ts';
import { EDIT_FOLDERS, isThere, RunChanged } from './edit-record.ts';
import { isRunEntry, type RunFiles } from './run-files.ts';

/** The layout of a run folder; a later one gets another number. 1, that of 0.1.0, has no manifest. */
export const RUN_FORMAT = 2;
const RUN_STATES = ['running', 'discovered', 'finished', 'stopped', 'crashed'] as const;
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
  /** ISO time of the last edit of its symbols, where there was one. */
  edited?: string;
  readonly [key: string]: unknown;
}

/** The version in this package's own `package.json`. */
export const VERSION: string = JSON.parse(
  fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;

/** Whether a folder is a run, whole or not; also one whose run.json leads nowhere, or is just being exchanged. */
export function isRunFolder(folder: string): boolean {
  const { ready, undo } = EDIT_FOLDERS;
  return ['run.json', ready, undo].some((name) => {
    try {
      return isThere(folder, name);
    } catch {
      return false;
    }
  });
}

/** Reads `run.json`; `shown` is the folder as the user wrote it. */
export function readRecord(files: RunFiles, shown: string): RunRecord {
  if (!fs.existsSync(files.root)) throw new UserError(`the run folder ${shown} does not exist`);
  if (!isRunFolder(files.root))
    throw new UserError(`${shown} is not a run: expected a folder made by "hsn train", with run.json in it`);
  const file = files.path('run.json');
  const record = parseJson<RunRecord>(files.text('run.json'), file);
  checkRecord(record, file);
  return record;
}

/** What is made of a run's model belongs to: when it was made, and when its symbols were edited last. */
export const identityOf = ({ created, edited }: RunRecord): string =>
  edited === undefined ? created : `${created} ${edited}`;

/** Refuses a run that is no longer what it was when it was read. */
export function checkIdentity(files: RunFiles, identity: string): void {
  if (identityOf(readRecord(files, files.root)) !== identity) throw new RunChanged(files.root);
}

function checkRecord(record: RunRecord, file: string): void {
  if (Number.isInteger(record?.format) && record.format > RUN_FORMAT)
    throw new UserError(
      `${file}: this run has format ${record.format}, made by version ${record.version}; version ${VERSION} reads up to format ${RUN_FORMAT}, so open it with version ${record.version} or later`,
    );

  const whole =
    Number.isInteger(record?.format) &&
    record.format > 0 &&
    typeof record.version === 'string' &&
    typeof record.created === 'string' &&
    typeof record.corpus?.directory === 'string' &&
    typeof record.corpus.fingerprint === 'string' &&
    RUN_STATES.includes(record.state);
  if (!whole)
    throw new UserError(`${file} is damaged: expected format, version, created, corpus and state of a run`);
}

/** What a run whose making was cut short may hold. */
const UNFINISHED_NAMES =
  /^((tokenizer|tokenizer_config|manifest|sums)\.json|names\.lock|corpus\.(txt|tsv|csv|jsonl|parquet)|lock|lock\.stale-\d+|config\.yaml|checkpoints|\..+\.\d+\.tmp)$/;

/** Refuses a folder that a run cannot be made in; also asked before long work. */
export function checkRunFolder(directory: string, force: boolean): void {
  const folder = path.resolve(directory);
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory())
    throw new UserError(`${directory} is a file; expected a folder for the run, choose another name`);
  const names = fs.readdirSync(folder);
  const begun = names.includes('run.json');
  if (begun && !force)
    throw new UserError(
      `${directory} already holds a run; continue it with --resume, replace it with --force, or choose another folder`,
    );
  const own = (name: string) => (begun ? isRunEntry(name) : UNFINISHED_NAMES.test(name));
  const foreign = names.filter((name) => !own(name));
  if (!begun && hasCheckpoints(folder)) foreign.unshift('checkpoints');
  if (foreign.length === 0) return;
  const some = `${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''}`;
  throw new UserError(
    begun
      ? `${directory} holds more than a run (${some}), so --force will not replace it; choose another folder`
      : `${directory} is not empty and holds no run (${some}); choose another folder`,
  );
}

function hasCheckpoints(folder: string): boolean {
  const checkpoints = path.join(folder, 'checkpoints');
  return fs.existsSync(checkpoints) && fs.readdirSync(checkpoints).length > 0;
}

const RUN_MANIFEST = 'manifest.json';
const FORMAT = 1;
/** Beside settings and record: what a continued training reads from the run's own folder. */
const READ = /^(tokenizer\.json|tokenizer_config\.json|corpus\.(txt|tsv|csv|jsonl|parquet))$/;
/** What `run.json` says of how training goes, which changes. */
const CHANGING = new Set(['format', 'state', 'failure', 'step', 'seconds']);
const LONGEST = 60;

/** What a run is held to when it is continued: settings, record and files, as this program wrote them. */
interface RunManifest {
  format: number;
  /** As YAML, which holds every number that settings may have. */
  settings: string;
  record: Readonly<Record<string, JsonValue>>;
  files: Readonly<Record<string, { sha256: string; size: number }>>;
}

/** Writes down what is in the folder now; `config` and `record` are what its config.yaml and run.json hold. */
export function writeRunManifest(files: RunFiles, config: RunConfig, record: RunRecord): void {
  writeFileAtomic(files.path(RUN_MANIFEST), manifestText(files, config, record));
}

/** What `manifest.json` says of a run with these settings, this record, and the files that it has. */
export function manifestText(files: RunFiles, config: RunConfig, record: RunRecord): string {
  const names = files.names().filter((name) => READ.test(name));
  const manifest: RunManifest = {
    format: FORMAT,
    settings: dumpConfig(config),
    record: lasting(record),
    files: Object.fromEntries(names.map((name) => [name, hashFile(files.path(name))])),
  };
  return sealedText({ ...manifest });
}

function lasting(record: RunRecord): RunManifest['record'] {
  const kept = Object.entries(record).filter(([key]) => !CHANGING.has(key));
  return JSON.parse(JSON.stringify(Object.fromEntries(kept))) as RunManifest['record'];
}

/** Whether the folder has a record of what it held. */
export const hasManifest = (files: RunFiles): boolean => files.exists(RUN_MANIFEST);

/** What differs from the manifest, a line each: the file, and for settings and record the key, before and now. */
export function editsOf(files: RunFiles, config: RunConfig, record: RunRecord): string[] {
  let manifest: RunManifest;
  try {
    manifest = readRunManifest(files.path(RUN_MANIFEST));
  } catch (error) {
    return [reasonOf(error)];
  }
  const settings = loadConfig(manifest.settings, files.path(RUN_MANIFEST), [], {
    fallback: config.model,
  });
  const now = lasting(record);
  const noted = Object.fromEntries(Object.keys(manifest.record).map((key) => [key, now[key]]));
  return [
    ...diffSettings(settings, config).map((line) => `config.yaml: ${line}`),
    ...diffSettings(manifest.record, noted, LONGEST).map((line) => `run.json: ${line}`),
    ...Object.entries(manifest.files).flatMap(([name, sum]) => fileEdit(files, name, sum)),
  ];
}

function fileEdit(files: RunFiles, name: string, sum: FileSum): string[] {
  try {
    const { sha256 } = hashFile(files.path(name));
    if (sha256 === sum.sha256) return [];
    return [`${name}: sha256 ${sum.sha256.slice(0, 12)}… → ${sha256.slice(0, 12)}…`];
  } catch (error) {
    return [`${name}: cannot be read (${reasonOf(error)})`];
  }
}

function readRunManifest(file: string): RunManifest {
  let text: string;
  try {
    text = readRegular(file, undefined, { follow: false }).toString('utf8');
  } catch (error) {
    throw new UserError(`${RUN_MANIFEST}: cannot be read (${reasonOf(error)})`);
  }
  const manifest = openSealed(text);
  if (manifest?.format === FORMAT) return manifest as unknown as RunManifest;
  throw new UserError(`${RUN_MANIFEST}: is damaged, expected it as it was written`);
}
