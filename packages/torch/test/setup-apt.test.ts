import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setup } from '../setup/main.ts';
import {
  calls,
  faultOf,
  lend,
  machine,
  multiarch,
  places,
  program,
  putSystemLibtorch,
  recorder,
  root,
  run,
  useMadeUpMachine,
  wordOfAddon,
} from './made-up-machine.ts';

useMadeUpMachine();

describe('apt-get', () => {
  /** Records its calls; `install` puts a libtorch prepared under `stock` in its place. */
  function aptGet(install: string): void {
    program(
      'apt-get',
      `echo "$DEBIAN_FRONTEND $*" >> ${root}/calls\ncase "$*" in *install*) ${install};; esac`,
    );
  }

  it('installs libtorch and OpenBLAS as root, without questions', async () => {
    putSystemLibtorch();
    execFileSync('mv', [join(root, 'usr'), join(root, 'stock')]);
    aptGet(`/bin/mv ${root}/stock ${root}/usr`);
    lend('c++');
    const progress = recorder();
    const info = await setup(machine({ isRoot: true }), places(), progress);
    expect(info).toMatchObject({ origin: 'apt', version: '1.13.1' });
    expect(calls()).toEqual([
      'noninteractive -o DPkg::Lock::Timeout=120 update',
      'noninteractive -o DPkg::Lock::Timeout=120 install -y --no-remove libtorch-dev libopenblas0-pthread',
    ]);
    expect(progress.text()).toContain(
      'installing libtorch-dev and libopenblas0-pthread with apt-get, a minute or two; to refuse, end this and set HSN_LIBTORCH=system or none',
    );
    expect(wordOfAddon()).toBe('one');
  });

  it.each(['system', 'none'])('is left alone with HSN_LIBTORCH=%s', async (choice) => {
    aptGet('exit 0');
    const env = { HSN_LIBTORCH: choice, HSN_LIBTORCH_SHA256: 'ab' };
    const text = await faultOf(run({ isRoot: true, env }));
    expect(text).toContain(`none, and HSN_LIBTORCH=${choice} keeps apt-get from installing it`);
    expect(text).toContain('then run npx hsn setup');
    expect(calls()).toEqual([]);
    putSystemLibtorch();
    rmSync(join(root, multiarch, 'libopenblas.so.0'));
    lend('c++');
    await run({ isRoot: true, env });
    expect(calls()).toEqual([]);
  });

  it('refuses another word in HSN_LIBTORCH', async () => {
    const text = await faultOf(run({ env: { HSN_LIBTORCH: 'conda' } }));
    expect(text).toMatch(
      /expected {2}one of system, apt, pip, prebuilt, none, or the absolute path of a libtorch\n {2}found {5}HSN_LIBTORCH=conda/,
    );
  });

  it('says that there is no network', async () => {
    aptGet('echo "Err:1 Temporary failure resolving mirror" >&2; exit 100');
    const text = await faultOf(run({ isRoot: true }));
    expect(text).toContain('hsn setup: no network');
    expect(text).toContain('Temporary failure resolving mirror');
    expect(text).toContain('connect to the network, then run npx hsn setup');
  });

  it('shows apt-get’s own error for anything else', async () => {
    aptGet('echo "E: Unable to locate package libtorch-dev"; echo "more"; exit 100');
    const text = await faultOf(run({ isRoot: true }));
    expect(text).toContain('found     100: E: Unable to locate package libtorch-dev');
    expect(text).toContain('apt-get update && apt-get install libtorch-dev libopenblas0-pthread');
  });

  it('says that the distribution’s libtorch is too old', async () => {
    putSystemLibtorch([1, 7, 1]);
    execFileSync('mv', [join(root, 'usr'), join(root, 'stock')]);
    aptGet(`/bin/mv ${root}/stock ${root}/usr`);
    expect(await faultOf(run({ isRoot: true }))).toContain('libtorch is too old');
  });

  it('adds OpenBLAS as root to a libtorch that lacks it, and only warns otherwise', async () => {
    putSystemLibtorch();
    rmSync(join(root, multiarch, 'libopenblas.so.0'));
    lend('c++');
    const warned = recorder();
    await setup(machine(), places(), warned);
    expect(warned.text()).toMatch(
      /^warning: .*slow reference BLAS; do: sudo apt-get install libopenblas0-pthread$/m,
    );
    rmSync(join(root, 'build'), { recursive: true });
    aptGet(`: > ${root}/${multiarch}/libopenblas.so.0`);
    const installed = recorder();
    await setup(machine({ isRoot: true }), places(), installed);
    expect(calls().at(-1)).toMatch(/install -y --no-remove libopenblas0-pthread$/);
    expect(installed.text()).not.toContain('warning');
  });
});
