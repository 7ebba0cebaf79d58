import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';
import { blocksOf, cacheFolder } from '@hidden-schema/base';
import { EngineError } from './errors.ts';

/** Which engine this process loads. */
export interface EngineFiles {
  /** The addon. */
  readonly addon: string;
  /** The package that it comes from, where it was not compiled here. */
  readonly prebuilt?: Prebuilt;
  /** Why a prebuilt engine that is installed is not used. */
  readonly passedOver?: string;
}

/** What the choice depends on; a test puts its own. */
interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Folder of the engine that `hsn setup` compiles. */
  readonly build: string;
  /** This library's version. */
  readonly version: string;
  readonly prebuilt: Prebuilt | undefined;
}

const own = fileURLToPath(import.meta.url);
const packageFolder = join(dirname(own), '..');

/** Values of HSN_LIBTORCH that ask for no particular libtorch. */
const noChoice: readonly (string | undefined)[] = [undefined, '', 'none'];

/**
 * The engine of this process. HSN_ADDON names its file. HSN_LIBTORCH, now or when `hsn setup` compiled, asks for the
 * compiled engine. Else the prebuilt one of the same version is taken, then the compiled one.
 */
export function chooseEngine({ env, build, version, prebuilt }: Surroundings): EngineFiles {
  if (env.HSN_ADDON !== undefined) return { addon: env.HSN_ADDON };
  const compiled = join(build, 'torch.node');
  if (prebuilt === undefined) return { addon: compiled };
  const wanted = env.HSN_LIBTORCH;
  if (wanted !== 'prebuilt') {
    const asked = noChoice.includes(wanted) ? undefined : `HSN_LIBTORCH=${wanted} asks for another libtorch`;
    const chosen = asked ?? chosenAtSetup(build);
    if (chosen !== undefined) return { addon: compiled, passedOver: chosen };
  }
  const { manifest } = prebuilt;
  if (manifest.version === version) return { addon: prebuiltFile(prebuilt, 'torch.node'), prebuilt };
  const other = `${manifest.name} is ${manifest.version}, this program ${version}: npm install ${manifest.name}@${version}`;
  return { addon: compiled, passedOver: other };
}

/** Who chose the libtorch that was compiled against, as set-up wrote it down. */
function chosenAtSetup(build: string): string | undefined {
  try {
    const { chosenBy } = JSON.parse(readFileSync(join(build, 'info.json'), 'utf8')) as { chosenBy?: unknown };
    return typeof chosenBy === 'string' ? `${chosenBy} asked for another libtorch at "hsn setup"` : undefined;
  } catch {
    return undefined;
  }
}

/** The prebuilt engine for this platform that npm installed beside this library, of any version. */
export const prebuiltBeside = (): Prebuilt | undefined => installedPrebuilt(own);

/** npm's name of the prebuilt engine for this platform. */
export const prebuiltName = (): string => enginePackage(process.platform, process.arch);

let files: EngineFiles | undefined;

/** The engine of this process, chosen once. */
export function engineFiles(): EngineFiles {
  files ??= chooseEngine({
    env: process.env,
    build: join(packageFolder, 'build'),
    version: ownVersion(),
    prebuilt: prebuiltBeside(),
  });
  return files;
}

/** This library's version, which a prebuilt engine must have too. */
export function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}

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
  for (const block of smallBlocks(path)) hash.update(block);
  return hash.digest('hex');
}

/** CRC-32 of a file. */
export function fileCrc(path: string): number {
  let sum = 0;
  for (const block of smallBlocks(path)) sum = zlib.crc32(block, sum);
  return sum;
}

/** Blocks that stay in the processor's cache. */
const smallBlocks = (path: string) => blocksOf(openSync(path, 'r'), 1 << 17);

function damaged({ manifest }: Prebuilt, file: string, found: string): EngineError {
  const again = `npm install --force ${manifest.name}@${manifest.version}`;
  return new EngineError(
    `the prebuilt engine is damaged: ${file} of ${manifest.name}: ${found}; run "${again}", or compile one: HSN_LIBTORCH=pip npx hsn setup`,
  );
}
