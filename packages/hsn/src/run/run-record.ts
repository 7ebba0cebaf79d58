import fs from 'node:fs';
import path from 'node:path';
import { readJsonFile, UserError } from '@hidden-schema/base';

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

/** Whether a folder is a run, whole or not; also one whose run.json leads nowhere. */
export function isRunFolder(folder: string): boolean {
  try {
    fs.lstatSync(path.join(folder, 'run.json'));
    return true;
  } catch {
    return false;
  }
}

/** Reads `run.json`; `shown` is the folder as the user wrote it. */
export function readRecord(folder: string, shown: string): RunRecord {
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
