import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import zlib from 'node:zlib';
import { cacheFolder } from '@hidden-schema/base';
import { EngineError } from './errors.ts';

/** One file of a prebuilt engine, as its engine.json lists it. */
export interface PrebuiltFile {
  /** File name inside the package's `lib` folder. */
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  /** CRC-32 of the file, which is computed in half the time. */
  readonly crc32: number;
  /** Why the package needs it. */
  readonly why: string;
}

/** What engine.json of a prebuilt engine says. */
export interface PrebuiltManifest {
  readonly name: string;
  /** Version of this library that the addon was compiled from. */
  readonly version: string;
  /** Version of libtorch inside. */
  readonly libtorch: string;
  readonly compiler: string;
  /** Oldest glibc that it loads on; absent where there is none. */
  readonly glibc?: string;
  readonly files: readonly PrebuiltFile[];
}

/** A prebuilt engine that is installed. */
export interface Prebuilt {
  readonly folder: string;
  readonly manifest: PrebuiltManifest;
}

/** npm's name of the prebuilt engine for a platform and processor, both as Node names them. */
export const enginePackage = (platform: string, arch: string): string =>
  `@hidden-schema/engine-${platform}-${arch}`;

/** The prebuilt engine that a file of this library would load: the one npm installed for this platform, if any. */
export function installedPrebuilt(
  from: string,
  platform = process.platform,
  arch = process.arch,
): Prebuilt | undefined {
  try {
    const entry = createRequire(from).resolve(`${enginePackage(platform, arch)}/package.json`);
    return readPrebuilt(dirname(entry));
  } catch {
    return undefined;
  }
}

/** The prebuilt engine in a folder; nothing where its engine.json is missing or not of the expected form. */
export function readPrebuilt(folder: string): Prebuilt | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'engine.json'), 'utf8'));
    return isManifest(manifest) ? { folder, manifest } : undefined;
  } catch {
    return undefined;
  }
}

export const prebuiltFile = ({ folder }: Prebuilt, name: string): string => join(folder, 'lib', name);

function isManifest(value: unknown): value is PrebuiltManifest {
  if (typeof value !== 'object' || value === null) return false;
  const { name, version, libtorch, compiler, files } = value as Record<string, unknown>;
  const texts = [name, version, libtorch, compiler].every((one) => typeof one === 'string');
  return texts && Array.isArray(files) && files.length > 0 && files.every(isFile);
}

function isFile(value: unknown): value is PrebuiltFile {
  if (typeof value !== 'object' || value === null) return false;
  const { name, bytes, sha256, crc32 } = value as Record<string, unknown>;
  // A name with a separator would lead out of the package.
  const named = typeof name === 'string' && /^[\w.+-]+$/.test(name) && !/^\.+$/.test(name);
  return (
    named &&
    [bytes, crc32].every(Number.isInteger) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  );
}

/** Files of more bytes are compared by CRC-32 when they are loaded: SHA-256 of libtorch takes a quarter of a second. */
const LARGE = 16e6;

/**
 * Compares files of a prebuilt engine with their checksums before they are loaded: all of them, or those named. A stamp
 * in the cache folder records it; any change of size, time or inode asks for a new check.
 */
export function checkPrebuilt(prebuilt: Prebuilt, names?: readonly string[]): void {
  const { files } = prebuilt.manifest;
  const chosen = names === undefined ? files : names.map((name) => listed(prebuilt, name));
  const stamp = join(cacheFolder(), 'engine-checked', stampOf(prebuilt, chosen));
  if (existsSync(stamp)) return;
  for (const file of chosen) checkFile(prebuilt, file, file.bytes > LARGE);
  try {
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, '');
  } catch {
    // A cache that cannot be written costs the next start its check, and this one nothing.
  }
}

/** Compares every file with its SHA-256, whatever was checked before. */
export function verifyPrebuilt(prebuilt: Prebuilt): void {
  for (const file of prebuilt.manifest.files) checkFile(prebuilt, file, false);
}

function listed(prebuilt: Prebuilt, name: string): PrebuiltFile {
  const file = prebuilt.manifest.files.find((one) => one.name === name);
  if (file === undefined) throw damaged(prebuilt, name, 'its engine.json does not list it');
  return file;
}

/** Changes whenever one of the files does, or what is expected of it. */
function stampOf(prebuilt: Prebuilt, files: readonly PrebuiltFile[]): string {
  const seen = files.map(({ name, sha256 }) => {
    const path = prebuiltFile(prebuilt, name);
    const { size, mtimeMs, ctimeMs, ino } = statOf(prebuilt, name);
    return [path, sha256, size, mtimeMs, ctimeMs, ino];
  });
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex');
}

function statOf(prebuilt: Prebuilt, name: string) {
  try {
    return statSync(prebuiltFile(prebuilt, name));
  } catch {
    throw damaged(prebuilt, name, 'it is missing');
  }
}

function checkFile(prebuilt: Prebuilt, { name, bytes, sha256, crc32 }: PrebuiltFile, quick: boolean): void {
  const { size } = statOf(prebuilt, name);
  if (size !== bytes) throw damaged(prebuilt, name, `expected ${bytes} bytes, found ${size}`);
  const path = prebuiltFile(prebuilt, name);
  // Node has it since 20.15.
  if (quick && typeof zlib.crc32 === 'function') {
    const sum = fileCrc(path);
    if (sum !== crc32) throw damaged(prebuilt, name, `expected CRC-32 ${crc32}, found ${sum}`);
    return;
  }
  const hash = fileHash(path);
  if (hash !== sha256)
    throw damaged(prebuilt, name, `expected SHA-256 ${sha256.slice(0, 12)}…, found ${hash.slice(0, 12)}…`);
}

/** SHA-256 of a file in hexadecimal. */
export function fileHash(path: string): string {
  const hash = createHash('sha256');
  forEachBlock(path, (block) => hash.update(block));
  return hash.digest('hex');
}

/** CRC-32 of a file. */
export function fileCrc(path: string): number {
  let sum = 0;
  forEachBlock(path, (block) => {
    sum = zlib.crc32(block, sum);
  });
  return sum;
}

/** Reads a file in blocks that stay in the processor's cache. */
function forEachBlock(path: string, body: (block: Uint8Array) => void): void {
  const block = Buffer.allocUnsafe(1 << 17);
  const file = openSync(path, 'r');
  try {
    for (let count = readSync(file, block); count > 0; count = readSync(file, block))
      body(block.subarray(0, count));
  } finally {
    closeSync(file);
  }
}

function damaged({ manifest }: Prebuilt, file: string, found: string): EngineError {
  const again = `npm install --force ${manifest.name}@${manifest.version}`;
  return new EngineError(
    `the prebuilt engine is damaged: ${file} of ${manifest.name}: ${found}; run "${again}", or compile one: HSN_LIBTORCH=pip npx hsn setup`,
  );
}
