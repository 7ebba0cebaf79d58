import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { faultCode } from '@hidden-schema/base/errors';
import { OFFLINE, saveBody, unlessSilent } from '@hidden-schema/base/transfer';
import { again, type Progress, SetupError } from './fault.ts';
import { inspect, type Libtorch, wanted } from './find.ts';
import type { Machine } from './machine.ts';

const archiveVersion = '2.7.1';
const officialBase = 'https://download.pytorch.org/libtorch';
const stallMs = 60_000;
const attempts = 3;

/** Where the archive for this machine is; nothing where no official one is made. */
export function archiveUrl(machine: Machine): string | undefined {
  const base = (machine.env.HSN_LIBTORCH_URL || officialBase).replace(/\/+$/, '');
  if (base.endsWith('.zip')) return base;
  const names: Record<string, string> = {
    'linux-x64': `libtorch-shared-with-deps-${archiveVersion}%2Bcpu.zip`,
    'darwin-arm64': `libtorch-macos-arm64-${archiveVersion}.zip`,
  };
  const name = names[`${machine.platform}-${machine.arch}`];
  return name && `${base}/cpu/${name}`;
}

/** Downloads the archive, checks its sha256, unpacks it, and only then puts it in its place. */
export async function downloadLibtorch(
  machine: Machine,
  archiveRoot: string,
  progress: Progress,
): Promise<Libtorch> {
  const url = archiveUrl(machine);
  if (!url) throw noArchive(machine);
  const sha256 = statedHash(machine);
  const parent = dirname(archiveRoot);
  await mkdir(parent, { recursive: true });
  const work = await mkdtemp(join(parent, 'libtorch-partial-'));
  try {
    const file = join(work, 'libtorch.zip');
    progress.say(`downloading libtorch from ${url}`);
    await progress.during('libtorch archive', (detail) => fetchChecked(url, sha256, file, detail));
    await progress.during('unpacking', () => unpack(machine, file, work));
    await rm(archiveRoot, { recursive: true, force: true });
    await rename(join(work, 'libtorch'), archiveRoot);
  } catch (error) {
    throw asFault(error, url);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const seen = inspect(machine, 'archive', archiveRoot);
  if (seen instanceof SetupError) throw seen;
  if (!seen) throw strangeArchive(url, 'neither headers nor libraries in it');
  return seen;
}

/** The sha256 the user stated: without one nothing is downloaded. */
function statedHash(machine: Machine): string {
  const stated = (machine.env.HSN_LIBTORCH_SHA256 ?? '').trim().toLowerCase();
  if (/^[0-9a-f]{64}$/.test(stated)) return stated;
  const found = stated === '' ? 'it is not set' : `${stated.length} characters: ${stated.slice(0, 80)}`;
  throw new SetupError(
    'the archive’s sha256 is needed',
    'HSN_LIBTORCH_SHA256 with 64 hexadecimal digits',
    found,
    hashRemedy(machine),
  );
}

/** How to come by the hash and hand it over. */
export function hashRemedy(machine: Machine): string {
  const url = archiveUrl(machine) ?? 'the archive';
  return `fetch ${url} where you trust the connection, run sha256sum on it, and run HSN_LIBTORCH_SHA256=<that> npm install`;
}

async function fetchChecked(
  url: string,
  sha256: string,
  file: string,
  detail: (text: string) => void,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const got = await fetchOnce(url, file, detail);
      if (got === sha256) return;
      throw wrongHash(url, sha256, got);
    } catch (error) {
      // Only a broken transfer is worth another attempt: a wrong hash or a refusal would come again.
      if (error instanceof SetupError || faultCode(error) === 'ENOSPC' || attempt === attempts) throw error;
      detail(`broken off, attempt ${attempt + 1} of ${attempts}`);
    }
  }
}

function fetchOnce(url: string, file: string, detail: (text: string) => void): Promise<string> {
  return unlessSilent({ stallMs }, async (signal, heard) => {
    const response = await fetch(url, { signal });
    if (!response.ok || !response.body) throw refused(url, response.status);
    const total = Number(response.headers.get('content-length') ?? 0);
    const hash = createHash('sha256');
    let bytes = 0;
    const onChunk = (chunk: Buffer) => {
      heard();
      hash.update(chunk);
      bytes += chunk.length;
      detail(`${megabytes(bytes)}${total > 0 ? ` of ${megabytes(total)}` : ''} MB`);
    };
    await saveBody(response.body, file, { signal, onChunk });
    return hash.digest('hex');
  });
}

async function unpack(machine: Machine, file: string, into: string): Promise<void> {
  const first = await machine.run('unzip', ['-q', '-o', file, '-d', into]);
  if (first.code === 0) return;
  const second = await machine.run('python3', ['-m', 'zipfile', '-e', file, into]);
  if (second.code === 0) return;
  if (first.code === 127 && second.code === 127)
    throw new SetupError(
      'nothing here unpacks a zip',
      'unzip or python3 on the PATH',
      'neither',
      `install unzip, ${again}`,
    );
  const said = (first.code === 127 ? second : first).output.trim().split('\n').at(-1) ?? '';
  throw strangeArchive(machine.env.HSN_LIBTORCH_URL ?? file, said);
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

function asFault(error: unknown, url: string): SetupError {
  if (error instanceof SetupError) return error;
  const code = faultCode(error) || (error instanceof Error ? error.message : String(error));
  if (code === 'ENOSPC')
    return new SetupError('the disk is full', 'about 1.5 GB free for libtorch', code, `free some, ${again}`);
  if (OFFLINE.has(code))
    return new SetupError('no network', `an answer from ${new URL(url).host}`, code, [
      `connect to the network, ${again}`,
      `set LIBTORCH to a libtorch folder copied here, ${again}`,
    ]);
  return new SetupError(
    'the download broke off',
    `the whole of ${url}`,
    `${attempts} broken transfers (${code})`,
    [`try a steadier connection, ${again}`, `set LIBTORCH to a libtorch folder copied here, ${again}`],
  );
}

function noArchive(machine: Machine): SetupError {
  const found = `${machine.platform} on ${machine.arch}, for which no official archive is made`;
  return new SetupError('no libtorch archive for this machine', wanted, found, [
    `pip install torch, ${again}`,
    `set LIBTORCH to a libtorch folder, ${again}`,
  ]);
}

function refused(url: string, status: number): SetupError {
  const remedy = `set HSN_LIBTORCH_URL to an archive that exists, ${again}`;
  return new SetupError('the archive cannot be had', `200 for ${url}`, `HTTP ${status}`, remedy);
}

function wrongHash(url: string, expected: string, got: string): SetupError {
  const remedy = `check HSN_LIBTORCH_SHA256; if it is right, do not use this archive: get it from elsewhere with HSN_LIBTORCH_URL`;
  return new SetupError(
    'the archive is not the one you named',
    `sha256 ${expected}`,
    `sha256 ${got} from ${url}; it was deleted`,
    remedy,
  );
}

function strangeArchive(url: string, found: string): SetupError {
  const expected = 'a zip with a libtorch folder in it';
  return new SetupError('the archive holds no libtorch', expected, `${url}: ${found}`, [
    `check HSN_LIBTORCH_URL and HSN_LIBTORCH_SHA256, ${again}`,
  ]);
}
