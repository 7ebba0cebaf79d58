import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { findLibtorch } from '../setup/find.ts';
import { setup } from '../setup/main.ts';
import { buildHash } from '../setup/targets.ts';
import {
  addonSource,
  calls,
  faultOf,
  lend,
  machine,
  multiarch,
  places,
  program,
  put,
  putHeaders,
  putSystemLibtorch,
  recorder,
  root,
  run,
  useMadeUpMachine,
  wordOfAddon,
} from './made-up-machine.ts';

useMadeUpMachine();

describe('building', () => {
  beforeEach(() => {
    putSystemLibtorch();
    lend('c++');
  });

  it('writes an addon that loads, and info.json', async () => {
    await run();
    expect(wordOfAddon()).toBe('one');
    const info = JSON.parse(readFileSync(join(root, 'build/info.json'), 'utf8'));
    expect(info).toMatchObject({ version: '1.13.1', origin: 'system', root: join(root, 'usr'), cuda: false });
    expect(info.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(info.compiler).toMatch(/\d/);
    expect(readdirSync(join(root, 'build')).sort()).toEqual(['info.json', 'torch.node']);
  });

  it('does nothing, and starts nothing, when nothing changed', async () => {
    await run();
    program('python3', `echo python3 >> ${root}/calls; exit 1`);
    program('c++', `echo c++ >> ${root}/calls; exit 1`);
    const progress = recorder();
    await setup(machine(), places(), progress);
    expect(progress.text()).toBe('libtorch 1.13.1 (system), addon up to date\n');
    expect(calls()).toEqual([]);
  });

  it('builds again when a source changed, is gone, or libtorch moved on', async () => {
    await run();
    put('native/addon.cc', addonSource('two'));
    await run();
    expect(wordOfAddon()).toBe('two');
    rmSync(join(root, 'build/torch.node'));
    await run();
    expect(wordOfAddon()).toBe('two');
    putHeaders('usr/include', [2, 0, 0]);
    expect(await run()).toMatchObject({ version: '2.0.0' });
  });

  it('builds again after info.json was cut short', async () => {
    await run();
    put('build/info.json', '{"version": "1.13');
    const progress = recorder();
    await setup(machine(), places(), progress);
    expect(progress.text()).toContain('addon built in');
  });

  it('looks again when libtorch’s library is gone', async () => {
    await run();
    rmSync(join(root, multiarch, 'libtorch_cpu.so'));
    expect(await faultOf(run())).toContain('libtorch lacks its libraries');
  });

  it('has a hash that sources, headers, version and library folder each change', async () => {
    const { libtorch } = await findLibtorch(machine(), join(root, 'build/libtorch'));
    if (!libtorch) throw new Error('no libtorch in the made-up root');
    const hashes = [buildHash(machine(), places(), libtorch)];
    expect(buildHash(machine(), places(), libtorch)).toBe(hashes[0]);
    hashes.push(buildHash(machine(), places(), { ...libtorch, version: '1.13.2' }));
    hashes.push(buildHash(machine(), places(), { ...libtorch, libDirs: ['/elsewhere'] }));
    hashes.push(buildHash(machine(), places(), { ...libtorch, abi: 0 }));
    put('native/state.h', 'int x;');
    hashes.push(buildHash(machine(), places(), libtorch));
    expect(new Set(hashes).size).toBe(5);
  });

  it('shows the end of a compiler’s output, and keeps the addon that worked', async () => {
    await run();
    put('native/addon.cc', 'int broken(\n');
    const text = await faultOf(run());
    expect(text).toContain('compiling addon.cc failed');
    expect(text).toMatch(/addon\.cc:\d+:\d+: error/);
    expect(text).toContain('set CXX to a C++17 compiler');
    expect(text.split('\n').length).toBeLessThan(30);
    expect(wordOfAddon()).toBe('one');
    expect(readdirSync(join(root, 'build')).sort()).toEqual(['info.json', 'torch.node']);
  });

  it('keeps the addon that worked when the new one does not load', async () => {
    await run();
    put(
      'native/addon.cc',
      `extern void nowhere();\nvoid use() { nowhere(); }\n${addonSource('lost').replace('return exports', 'nowhere(); return exports')}`,
    );
    expect(await faultOf(run())).toContain('does not load');
    expect(wordOfAddon()).toBe('one');
  });
});

describe('as npm runs it', () => {
  const script = fileURLToPath(new URL('../setup/main.ts', import.meta.url));

  it('says one line when the addon is there', () => {
    const first = spawnSync(process.execPath, ['--import', 'tsx', script], { encoding: 'utf8' });
    expect(first.stderr).toBe('');
    expect(first.status).toBe(0);
    const second = spawnSync(process.execPath, ['--import', 'tsx', script], { encoding: 'utf8' });
    expect(second.stdout).toMatch(/^libtorch \d+\.\d+\.\d+ \(\w+\), addon up to date\n$/);
  });

  it('is done by the postinstall of the engine’s own package, which finds what the root’s has built', () => {
    const folder = fileURLToPath(new URL('..', import.meta.url));
    const result = spawnSync('npm', ['run', '--silent', 'postinstall'], { cwd: folder, encoding: 'utf8' });
    expect(result.status).toBe(0);
    expect(result.stdout).toMatch(/addon up to date\n$/);
  });

  it('ends with 1 and the message when something is missing', () => {
    const env = { ...process.env, LIBTORCH: join(root, 'nowhere') };
    const result = spawnSync(process.execPath, ['--import', 'tsx', script], { encoding: 'utf8', env });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/^hsn setup: LIBTORCH does not name a libtorch\n {2}expected/);
    expect(result.stderr).not.toContain('    at ');
  });
});
