import fs from 'node:fs';
import path from 'node:path';
import { reasonOf, UserError, writeJsonAtomic } from '@hidden-schema/base';
import { z } from 'zod';
import { isFileName } from './hub-names.ts';
import { type HubFile, matches } from './hub-transfer.ts';

export const MARK = 'complete.json';
/** What a disk changes by itself leaves the stamp as it was: so often a file is hashed again all the same. */
const TRUST_MS = 7 * 24 * 3600_000;

const markSchema = z.looseObject({
  name: z.string(),
  revision: z.string(),
  files: z.record(
    z.string().refine(isFileName),
    z.object({
      bytes: z.int().nonnegative(),
      hash: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
      /** How the file looked when its hash was last found right, and when that was. */
      stamp: z.string().optional(),
      verified: z.iso.datetime().optional(),
    }),
  ),
});
type Mark = z.output<typeof markSchema>;

/** Notes that every file of a model came and was found right. */
export function markComplete(
  folder: string,
  of: { name: string; revision: string },
  files: Readonly<Record<string, HubFile>>,
): void {
  const verified = new Date().toISOString();
  const stamped = Object.entries(files).map(([file, { bytes, hash }]) => {
    const stamp = stampOf(path.join(folder, file));
    return [file, { bytes, hash, stamp, verified }] as const;
  });
  writeJsonAtomic(path.join(folder, MARK), { ...of, files: Object.fromEntries(stamped) });
}

/**
 * Whether every file of a model is there. Each is hashed again when it no longer looks as it did when it was found
 * right, or when that was long ago; one with other bytes is an error.
 */
export async function isComplete(folder: string, name: string, revision: string): Promise<boolean> {
  const mark = readMark(folder);
  if (!mark) return false;
  if (mark.name !== name || mark.revision !== revision)
    throw new UserError(
      `${folder} holds ${mark.name} at ${mark.revision}, not ${name} at ${revision}: this disk takes their names for the same; remove the folder, or use another cache (HSN_CACHE)`,
    );
  let changed = false;
  for (const [file, known] of Object.entries(mark.files)) {
    const target = path.join(folder, file);
    const stats = fs.statSync(target, { throwIfNoEntry: false });
    // What a writer that was cut short leaves: it is fetched again.
    if (!stats || stats.size !== known.bytes) return false;
    const stamp = stampOf(target);
    if (stamp === known.stamp && isRecent(known.verified)) continue;
    if (!(await matches(target, known))) throw damaged(target, name, known);
    // Taken before the hash: a file changed meanwhile has another.
    Object.assign(known, { stamp, verified: new Date().toISOString() });
    changed = true;
  }
  if (changed) rewrite(folder, mark);
  return true;
}

/** A cache that cannot be written to is read all the same, and hashed each time. */
function rewrite(folder: string, mark: Mark): void {
  try {
    writeJsonAtomic(path.join(folder, MARK), JSON.parse(JSON.stringify(mark)));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
}

function readMark(folder: string): Mark | undefined {
  try {
    return markSchema.parse(JSON.parse(fs.readFileSync(path.join(folder, MARK), 'utf8')));
  } catch {
    // Absent, or damaged: every file is compared with the hub again.
    return undefined;
  }
}

/** Changes with every write, also one that puts the time of change back (ctime). */
function stampOf(file: string): string {
  const { ino, size, mtimeNs, ctimeNs } = fs.statSync(file, { bigint: true });
  return [ino, size, mtimeNs, ctimeNs].join(':');
}

function isRecent(verified: string | undefined): boolean {
  const age = Date.now() - Date.parse(verified ?? '');
  return age >= 0 && age < TRUST_MS;
}

function damaged(file: string, name: string, { hash }: HubFile): UserError {
  const kind = hash.length === 64 ? 'sha256' : "git's hash";
  return new UserError(
    `${file} is damaged: it is not what was downloaded (${kind} ${hash.slice(0, 12)}…); remove it with: rm '${file}', then run the same command again, which downloads that file of ${name} anew`,
  );
}

/** Makes the folder of a model; says what to do where that cannot be. */
export function makeFolder(folder: string, name: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true });
    fs.accessSync(folder, fs.constants.W_OK);
  } catch (error) {
    throw new UserError(
      `${name} cannot be downloaded into ${folder}: ${reasonOf(error)}; name another cache with HSN_CACHE`,
    );
  }
}
