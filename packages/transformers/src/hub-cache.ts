import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf, UserError, writeJsonAtomic } from '@hidden-schema/base';
import { Lock } from '@hidden-schema/torch';
import { z } from 'zod';
import { type HubFile, matches } from './hub-transfer.ts';

const hubName = /^[A-Za-z0-9][\w.-]{0,95}(?:\/\w[\w.-]{0,95})?$/;
/** What git allows in the name of a branch or tag, less what a folder or an address may read otherwise. */
const revisionName = /^\w[\w.-]*(?:\/\w[\w.-]*)*$/;
const fileName = /^\w[\w.-]*$/;

export const isHubName = (name: string): boolean => hubName.test(name) && !name.includes('..');

export const isFileName = (name: string): boolean => fileName.test(name) && !name.includes('..');

const isRevision = (revision: string): boolean =>
  revision.length <= 200 &&
  revisionName.test(revision) &&
  !revision.includes('..') &&
  !/\.(?:lock)?(?:\/|$)/.test(revision);

/** Refuses, before anything is asked or written, what could lead out of the cache's folder or to another model. */
export function checkHubNames(name: string, revision: string, endpoint: string): void {
  if (!isHubName(name))
    throw new UserError(
      `${JSON.stringify(name)} is no name on the hub; expected name or owner/name of letters, digits, "-", "_" and single ".", such as bert-base-uncased`,
    );
  if (!isRevision(revision))
    throw new UserError(
      `${name}: ${JSON.stringify(revision)} is no revision; expected a branch, a tag or a commit such as main, v1.0 or refs/pr/1`,
    );
  if (!/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : ''))
    throw new UserError(
      `the hub's address (HF_ENDPOINT) is ${JSON.stringify(endpoint)}; expected one such as https://huggingface.co`,
    );
}

/** The folder of a model below the cache's own; no two models or revisions share one. */
export function hubFolder(name: string, revision: string): [string, string] {
  // "--" stands for the slash alone: hyphens that could be taken for it are written as %2D.
  const parts = name.split('/').map((part) => part.replaceAll(/--+|-$/g, (run) => '%2D'.repeat(run.length)));
  return [parts.join('--'), encodeURIComponent(revision)];
}

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

export interface WaitOptions {
  /** How long the process that downloads may make no progress while others wait for it. */
  patienceMs: number;
  signal?: AbortSignal | undefined;
  /** Told once, when there is someone to wait for. */
  onWait: (line: string) => void;
}

const SLOWEST_POLL_MS = 1000;

/**
 * The lock of a folder, once nobody else has it. Until then `ready` is asked whether there is still anything to do: then
 * nothing is returned. The lock of a process that was killed is free.
 */
export async function lockOrReady(
  folder: string,
  what: string,
  ready: () => Promise<boolean>,
  options: WaitOptions,
): Promise<Lock | undefined> {
  let notified = false;
  let before = -1;
  let since = Date.now();
  for (let pollMs = 50; ; pollMs = Math.min(SLOWEST_POLL_MS, 2 * pollMs)) {
    options.signal?.throwIfAborted();
    const lock = tryLock(`${folder}.lock`, what);
    // Asked under the lock too: whoever had it may just have finished.
    if (lock instanceof Lock && !(await readyOrRelease(lock, ready))) return lock;
    if (lock instanceof Lock || (await ready())) return undefined;
    const bytes = bytesIn(folder);
    if (bytes !== before) since = Date.now();
    before = bytes;
    if (Date.now() - since > options.patienceMs)
      throw new UserError(
        `gave up waiting after ${Math.round(options.patienceMs / 1000)} s without progress: ${lock.message}`,
      );
    if (!notified) options.onWait(`waiting: ${lock.message.split(';')[0]}`);
    notified = true;
    await pause(pollMs, undefined, options.signal ? { signal: options.signal } : {});
  }
}

function tryLock(file: string, what: string): Lock | UserError {
  try {
    return Lock.acquire(file, what);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

async function readyOrRelease(lock: Lock, ready: () => Promise<boolean>): Promise<boolean> {
  let done = true;
  try {
    done = await ready();
  } finally {
    if (done) lock.release();
  }
  return done;
}

/** Grows while a download goes on. */
function bytesIn(folder: string): number {
  const size = (name: string): number =>
    fs.statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return fs.readdirSync(folder).reduce((sum, name) => sum + size(name), 0);
}
