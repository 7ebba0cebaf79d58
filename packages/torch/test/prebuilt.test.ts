import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import zlib from 'node:zlib';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  checkPrebuilt,
  chooseEngine,
  enginePackage,
  installedPrebuilt,
  type Prebuilt,
  readPrebuilt,
  verifyPrebuilt,
} from '../src/engine-files.ts';

const folder = temporaryFolder('prebuilt');
afterAll(folder.remove);

const MEGABYTE = 1 << 20;
const contents = {
  'torch.node': Buffer.alloc(20 * MEGABYTE, 'engine'),
  'lock.node': Buffer.from('lock'),
};
let at = 0;
let app: string;

beforeEach(() => {
  app = folder.path(`app-${at++}`);
  vi.stubEnv('HSN_CACHE', join(app, 'cache'));
});
afterEach(() => vi.unstubAllEnvs());

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A package of an engine as npm installs it, with files of our own. */
function putEngine(change: (manifest: Record<string, unknown>) => void = () => {}): Prebuilt | undefined {
  const home = join(app, 'node_modules', enginePackage('linux', 'x64'));
  mkdirSync(join(home, 'lib'), { recursive: true });
  const files = Object.entries(contents).map(([name, bytes]) => {
    writeFileSync(join(home, 'lib', name), bytes);
    return {
      name,
      bytes: bytes.length,
      sha256: sha256(bytes),
      crc32: zlib.crc32(bytes),
      why: 'for this test',
    };
  });
  const name = enginePackage('linux', 'x64');
  const manifest = { name, version: '0.2.0', libtorch: '2.13.0', compiler: 'c++ 12', glibc: '2.28', files };
  change(manifest);
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, version: '0.2.0' }));
  writeFileSync(join(home, 'engine.json'), JSON.stringify(manifest));
  return readPrebuilt(home);
}

describe('the engine that is loaded', () => {
  const build = (): string => join(app, 'build');
  const choose = (env: NodeJS.ProcessEnv, prebuilt: Prebuilt | undefined, version = '0.2.0') =>
    chooseEngine({ env, build: build(), version, prebuilt });
  const compiled = (): string => join(build(), 'torch.node');

  it('is the prebuilt one where npm installed it, and else the compiled one', () => {
    expect(choose({}, undefined)).toEqual({ addon: compiled() });
    const prebuilt = putEngine();
    expect(installedPrebuilt(join(app, 'lib/native.js'), 'linux', 'x64')).toEqual(prebuilt);
    expect(installedPrebuilt(join(app, 'lib/native.js'), 'linux', 'arm64')).toBeUndefined();
    for (const env of [{}, { HSN_LIBTORCH: '' }, { HSN_LIBTORCH: 'none' }, { LIBTORCH: '/opt/libtorch' }])
      expect(choose(env, prebuilt)).toEqual({ addon: join(prebuilt!.folder, 'lib/torch.node'), prebuilt });
  });

  it('is the compiled one where HSN_LIBTORCH says so, now or at hsn setup', () => {
    const prebuilt = putEngine();
    const now = choose({ HSN_LIBTORCH: 'system' }, prebuilt);
    expect(now).toEqual({ addon: compiled(), passedOver: 'HSN_LIBTORCH=system asks for another libtorch' });
    mkdirSync(build(), { recursive: true });
    writeFileSync(join(build(), 'info.json'), '{ "origin": "system" }');
    expect(choose({}, prebuilt).prebuilt).toBe(prebuilt);
    writeFileSync(join(build(), 'info.json'), '{ "origin": "system", "chosenBy": "HSN_LIBTORCH=system" }');
    expect(choose({}, prebuilt)).toEqual({
      addon: compiled(),
      passedOver: 'HSN_LIBTORCH=system asked for another libtorch at "hsn setup"',
    });
    expect(choose({ HSN_LIBTORCH: 'prebuilt' }, prebuilt).prebuilt).toBe(prebuilt);
    expect(choose({ HSN_ADDON: '/x.node' }, prebuilt)).toEqual({ addon: '/x.node' });
  });

  it('is not a prebuilt one of another version', () => {
    const { addon, passedOver } = choose({}, putEngine(), '0.3.0');
    expect(addon).toBe(compiled());
    expect(passedOver).toBe(
      '@hidden-schema/engine-linux-x64 is 0.2.0, this program 0.3.0: npm install @hidden-schema/engine-linux-x64@0.3.0',
    );
  });

  it.each([
    [
      'a name that leads out of the package',
      { name: '../torch.node', bytes: 1, crc32: 1, sha256: 'a'.repeat(64) },
    ],
    ['the folder itself', { name: '..', bytes: 1, crc32: 1, sha256: 'a'.repeat(64) }],
    ['no checksum', { name: 'torch.node', bytes: 1, crc32: 1 }],
    ['no CRC', { name: 'torch.node', bytes: 1, sha256: 'a'.repeat(64) }],
    ['a checksum of another length', { name: 'torch.node', bytes: 1, crc32: 1, sha256: 'abc' }],
  ])('is not one whose list has %s', (_, file) => {
    expect(putEngine((manifest) => Object.assign(manifest, { files: [file] }))).toBeUndefined();
  });
});

/** Bytes that this process has read from files so far. */
const bytesRead = (): number => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))![1]);

describe('checksums', () => {
  const stamps = (): string[] => {
    const home = join(app, 'cache/engine-checked');
    return existsSync(home) ? readdirSync(home) : [];
  };
  const file = (prebuilt: Prebuilt, name: string): string => join(prebuilt.folder, 'lib', name);

  it.runIf(process.platform === 'linux')('are read once; then a stamp stands for them', () => {
    const prebuilt = putEngine()!;
    const before = bytesRead();
    checkPrebuilt(prebuilt);
    expect(bytesRead() - before).toBeGreaterThan(20 * MEGABYTE);
    expect(stamps()).toHaveLength(1);
    const second = bytesRead();
    checkPrebuilt(prebuilt);
    expect(bytesRead() - second).toBeLessThan(MEGABYTE);
  });

  it('are read again when a file changes, though its size and time stay', () => {
    const prebuilt = putEngine()!;
    const path = file(prebuilt, 'torch.node');
    utimesSync(path, 1e9, 1e9);
    checkPrebuilt(prebuilt);
    const bytes = Buffer.from(contents['torch.node']);
    bytes[MEGABYTE]! ^= 1;
    writeFileSync(path, bytes);
    utimesSync(path, 1e9, 1e9);
    expect(() => checkPrebuilt(prebuilt)).toThrow(
      /^the prebuilt engine is damaged: torch\.node of @hidden-schema\/engine-linux-x64: expected CRC-32 \d+, found \d+; run "npm install --force @hidden-schema\/engine-linux-x64@0\.2\.0", or compile one: HSN_LIBTORCH=pip npx hsn setup$/,
    );
    expect(stamps()).toHaveLength(1);
    // What needs no libtorch is checked by itself.
    checkPrebuilt(prebuilt, ['lock.node']);
    writeFileSync(file(prebuilt, 'lock.node'), 'loCk');
    const small = /lock\.node of .*: expected SHA-256 [0-9a-f]{12}…, found [0-9a-f]{12}…;/;
    expect(() => checkPrebuilt(prebuilt, ['lock.node'])).toThrow(small);
    expect(() => checkPrebuilt(prebuilt, ['other.node'])).toThrow(/engine\.json does not list it/);
  });

  it('are not asked of a file that is cut off or gone', () => {
    const prebuilt = putEngine()!;
    writeFileSync(file(prebuilt, 'lock.node'), 'lo');
    expect(() => checkPrebuilt(prebuilt)).toThrow(/lock\.node of .*: expected 4 bytes, found 2;/);
    rmSync(file(prebuilt, 'lock.node'));
    expect(() => checkPrebuilt(prebuilt)).toThrow(/lock\.node of .*: it is missing;/);
    expect(stamps()).toEqual([]);
  });

  it('are all SHA-256 where somebody asks, stamp or not', () => {
    const other = sha256(Buffer.from('something else'));
    const prebuilt = putEngine((manifest) =>
      Object.assign((manifest.files as object[])[0]!, { sha256: other }),
    )!;
    checkPrebuilt(prebuilt);
    expect(() => verifyPrebuilt(prebuilt)).toThrow(/torch\.node of .*: expected SHA-256/);
    verifyPrebuilt(putEngine()!);
  });

  it('need no cache that can be written', () => {
    const prebuilt = putEngine()!;
    writeFileSync(join(app, 'cache'), 'a file where a folder would be');
    checkPrebuilt(prebuilt);
    expect(stamps()).toEqual([]);
  });
});
