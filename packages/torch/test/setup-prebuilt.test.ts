import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { prepare } from '../setup/main.ts';
import { type Prebuilt, readPrebuilt } from '../src/engine-files.ts';
import {
  faultOf,
  lend,
  machine,
  places,
  put,
  putSystemLibtorch,
  recorder,
  root,
  useMadeUpMachine,
} from './made-up-machine.ts';

useMadeUpMachine();
beforeEach(() => void vi.stubEnv('HSN_CACHE', join(root, 'cache')));
afterEach(() => void vi.unstubAllEnvs());

function putPrebuilt(): Prebuilt {
  const file = put('engine/lib/torch.node', 'an addon');
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  const name = '@hidden-schema/engine-linux-x64';
  const files = [{ name: 'torch.node', bytes: 8, sha256, crc32: 0, why: 'for this test' }];
  put(
    'engine/engine.json',
    JSON.stringify({ name, version: '9.9.9', libtorch: '2.13.0', compiler: 'c++', files }),
  );
  return readPrebuilt(join(root, 'engine'))!;
}

async function said(
  prebuilt: Prebuilt | undefined,
  env: Record<string, string> = {},
  version = '9.9.9',
): Promise<string> {
  const progress = recorder();
  await prepare(machine({ env }), places(), progress, { prebuilt, version });
  return progress.text();
}

const built = (): boolean => existsSync(join(root, 'build/torch.node'));
const info = (): { chosenBy?: string } => JSON.parse(readFileSync(join(root, 'build/info.json'), 'utf8'));

it('compiles nothing where npm installed an engine of this version, although a libtorch is there', async () => {
  putSystemLibtorch();
  lend('c++');
  expect(await said(putPrebuilt())).toBe(
    'libtorch 2.13.0 (prebuilt, @hidden-schema/engine-linux-x64 9.9.9), nothing to compile\n',
  );
  expect(built()).toBe(false);
});

it('compiles for the libtorch that the user names, writes down who chose it, and goes back', async () => {
  putSystemLibtorch();
  lend('c++');
  const prebuilt = putPrebuilt();
  expect(await said(prebuilt, { HSN_LIBTORCH: 'system' })).toContain('chosen by HSN_LIBTORCH=system\n');
  expect(built()).toBe(true);
  expect(info().chosenBy).toBe('HSN_LIBTORCH=system');
  expect(await said(prebuilt, { LIBTORCH: join(root, 'usr') })).toContain('up to date');
  expect(info().chosenBy).toBe('LIBTORCH');
  expect(await said(prebuilt)).toContain('nothing to compile');
  expect(info().chosenBy).toBeUndefined();
});

it('compiles where the installed engine is of another version, or there is none', async () => {
  putSystemLibtorch();
  lend('c++');
  expect(await said(putPrebuilt(), {}, '9.9.10')).toContain('libtorch 1.13.1 (system)');
  expect(info().chosenBy).toBeUndefined();
  expect(await said(undefined)).toContain('up to date');
});

it('HSN_LIBTORCH=prebuilt takes no other', async () => {
  putSystemLibtorch();
  const wanted = { HSN_LIBTORCH: 'prebuilt' };
  const other = await faultOf(said(putPrebuilt(), wanted, '9.9.10'));
  expect(other).toContain('hsn setup: the prebuilt engine is not installed');
  expect(other).toContain('expected  @hidden-schema/engine-linux-x64 9.9.10\n  found     version 9.9.9');
  expect(await faultOf(said(undefined, wanted))).toContain('found     none');
  expect(await said(putPrebuilt(), wanted)).toContain('nothing to compile');
});

it('refuses an engine whose files are not those that were packed', async () => {
  const prebuilt = putPrebuilt();
  writeFileSync(join(root, 'engine/lib/torch.node'), 'an Addon');
  const text = await faultOf(said(prebuilt));
  expect(text).toContain('hsn setup: the prebuilt engine is damaged');
  expect(text).toContain('npm install --force @hidden-schema/engine-linux-x64@9.9.9, then run npx hsn setup');
});
