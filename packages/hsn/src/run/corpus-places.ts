import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, readJsonFile, UserError, writeJsonAtomic } from '@hidden-schema/base';
import { storedCorpus } from '@hidden-schema/text/token-cache';
import type { CorpusInfo, RunRecord } from './run-record.ts';

// A run's record may come from a stranger. The files that it names as its corpus are read only where this user has named
// them: when training, with `--corpus`, or by what lies in the user's cache folder.

/** A run as far as its corpus goes. */
export interface CorpusOwner {
  directory: string;
  record: Pick<RunRecord, 'corpus'> & { readonly text?: unknown; readonly tuples?: unknown };
}

/** `corpora/<id>.json` in the cache folder: that this user named a corpus, and where it lies. */
interface NamedCorpus {
  format: number;
  recorded: readonly string[];
  fingerprint: string;
  /** The places that were named for it, those named last first. */
  places: readonly (readonly string[])[];
}

const FORMAT = 1;
/** Places that are kept of each corpus. */
const MOST_PLACES = 4;

/** Paths that a run's record names: the corpus, then files that were added to it. */
export function recordedPlaces({ directory, record }: CorpusOwner): string[] {
  const { more = [] } = (record.text ?? {}) as { more?: unknown };
  if (!Array.isArray(more) || more.some((file) => typeof file !== 'string'))
    throw new UserError(
      `${path.join(directory, 'run.json')} is damaged: expected a list of files as text.more`,
    );
  return [record.corpus.directory, ...(more as string[])].map((file) => path.resolve(directory, file));
}

/** Where the corpus of a run is to be read, in the order of `recordedPlaces`; refused where nobody named it. */
export function corpusPlaces(owner: CorpusOwner): readonly string[] {
  const recorded = recordedPlaces(owner);
  const outside = recorded.filter((file) => !liesInside(owner.directory, file));
  const named = readNamed(recorded, owner.record.corpus.fingerprint);
  if (named.length > 0)
    return named.find((places) => places.every((file) => fs.existsSync(file))) ?? named[0]!;
  if (outside.length === 0) return recorded;
  if (outside.every((file) => liesBeside(owner.directory, file))) return recorded;
  if (wasRead(outside, owner.record.corpus.fingerprint)) {
    rememberCorpus(owner);
    return recorded;
  }
  const stranger = outside[0]!;
  throw new UserError(
    `${owner.directory} names ${stranger} as its corpus, and you have not named that to this program; if it is the corpus, name it with --corpus ${stranger}${owner.record.tuples ? ', or --tuples for hsn reason' : ''}`,
  );
}

/** Refuses another content than that which a run was trained on. */
export function checkContent({ directory, record }: CorpusOwner, read: CorpusInfo): void {
  if (read.fingerprint !== record.corpus.fingerprint)
    throw new UserError(
      `${read.directory}, the corpus of ${directory}, has changed since this run was trained on it (sha256 ${record.corpus.fingerprint.slice(0, 12)}… → ${read.fingerprint.slice(0, 12)}…); put it back as it was, name a copy of that with --corpus, or train a new run`,
    );
}

/** Notes that this user named the corpus of a run, and where it lies unless where the record says. */
export function rememberCorpus(owner: CorpusOwner, places: readonly string[] = recordedPlaces(owner)): void {
  // What lies in the run needs no name.
  if (places.every((file) => liesInside(owner.directory, file))) return;
  const recorded = recordedPlaces(owner);
  const { fingerprint } = owner.record.corpus;
  const file = namedFile(recorded, fingerprint);
  const others = readNamed(recorded, fingerprint).filter((before) => before.join('\0') !== places.join('\0'));
  const all = [places, ...others].slice(0, MOST_PLACES);
  const named: NamedCorpus = { format: FORMAT, recorded, fingerprint, places: all };
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeJsonAtomic(file, { ...named });
  } catch {
    // Without a cache the user is asked again.
  }
}

function readNamed(recorded: readonly string[], fingerprint: string): NamedCorpus['places'] {
  const file = namedFile(recorded, fingerprint);
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  // In a cache that users share, each vouches for themselves.
  if (!stat?.isFile() || (process.getuid && stat.uid !== process.getuid())) return [];
  try {
    const named = readJsonFile<NamedCorpus>(file);
    return named.format === FORMAT ? named.places.filter(({ length }) => length === recorded.length) : [];
  } catch {
    return [];
  }
}

function namedFile(recorded: readonly string[], fingerprint: string): string {
  const id = createHash('sha256')
    .update(JSON.stringify([recorded, fingerprint]))
    .digest('hex')
    .slice(0, 32);
  return path.join(cacheFolder(), 'corpora', `${id}.json`);
}

/** A copy of standard input, in the run's own folder; a link there leads elsewhere. */
function liesInside(directory: string, file: string): boolean {
  const within = (folder: string, inner: string) => {
    const relative = path.relative(folder, inner);
    return relative !== '' && relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
  };
  if (!within(directory, file)) return false;
  try {
    return within(fs.realpathSync(directory), fs.realpathSync(file));
  } catch {
    // Not there: the reader says so.
    return true;
  }
}

/** In the folder that holds the run, as a file or folder of its own: read as far as its hash, then held to that. */
function liesBeside(directory: string, file: string): boolean {
  if (path.dirname(file) !== path.dirname(directory) || path.basename(file).startsWith('.')) return false;
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() || stat.isDirectory();
}

/** Whether this user has read files of these names with this content before: runs of 0.2.0 left nothing else. */
function wasRead(files: readonly string[], fingerprint: string): boolean {
  const names = storedCorpus(fingerprint)?.report.files.map(({ name }) => name);
  if (!names) return false;
  return files.every(
    (file) =>
      names.includes(path.basename(file)) || names.some((name) => fs.existsSync(path.join(file, name))),
  );
}
