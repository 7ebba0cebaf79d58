import fs from 'node:fs';
import { parseJson, UserError } from '@hidden-schema/base';
import { EDIT_FOLDERS, isThere } from './edit-record.ts';
import { RunChanged } from './run-faults.ts';
import type { RunFiles } from './run-files.ts';

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
  if (Number.isInteger(record?.format) && record.format > RUN_FORMAT) {
    throw new UserError(
      `${file}: this run has format ${record.format}, made by version ${record.version}; version ${VERSION} reads up to format ${RUN_FORMAT}, so open it with version ${record.version} or later`,
    );
  }
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
