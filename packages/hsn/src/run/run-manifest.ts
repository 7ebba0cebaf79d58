import {
  type FileSum,
  hashFile,
  type JsonValue,
  openSealed,
  readRegular,
  reasonOf,
  sealedText,
  UserError,
  writeFileAtomic,
} from '@hidden-schema/base';
import { diffSettings, dumpConfig, loadConfig, type RunConfig } from '../config/settings.ts';
import type { RunFiles } from './run-files.ts';
import type { RunRecord } from './run-record.ts';

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
