import { execFileSync } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setup } from '../setup/main.ts';
import {
  faultOf,
  lend,
  machine,
  multiarch,
  places,
  program,
  put,
  putHeaders,
  putLibraries,
  putSystemLibtorch,
  recorder,
  root,
  run,
  useMadeUpMachine,
} from './made-up-machine.ts';

useMadeUpMachine();

function putPythonTorch(): void {
  putHeaders('py/torch/include', [2, 1, 2]);
  putLibraries('py/torch/lib');
  program('python3', `echo '{"prefix": "${root}/py/torch/share/cmake", "version": "2.1.2", "abi": 1}'`);
}

async function said(choice?: string): Promise<string> {
  const progress = recorder();
  await setup(machine({ env: choice === undefined ? {} : { HSN_LIBTORCH: choice } }), places(), progress);
  return progress.text();
}

describe('HSN_LIBTORCH', () => {
  it('chooses among those that are there, says so, and builds anew when it changes', async () => {
    putSystemLibtorch();
    putPythonTorch();
    putHeaders('opt/include', [2, 4, 0]);
    putLibraries('opt/lib');
    lend('c++');
    expect(await said()).toContain(`libtorch 2.1.2 (python) in ${root}/py/torch\n`);
    expect(await said('system')).toContain(
      `libtorch 1.13.1 (system) in ${root}/usr, chosen by HSN_LIBTORCH=system\n`,
    );
    expect(await said('apt')).toBe('libtorch 1.13.1 (system), addon up to date\n');
    expect(await said('pip')).toContain(
      `libtorch 2.1.2 (python) in ${root}/py/torch, chosen by HSN_LIBTORCH=pip\n`,
    );
    expect(await said(join(root, 'opt'))).toContain(
      `libtorch 2.4.0 (LIBTORCH) in ${root}/opt, chosen by HSN_LIBTORCH\n`,
    );
  });

  it('is taken or refused: a folder without a libtorch is not passed over', async () => {
    putSystemLibtorch();
    const text = await faultOf(run({ env: { HSN_LIBTORCH: join(root, 'nowhere') } }));
    expect(text).toContain('hsn setup: HSN_LIBTORCH does not name a libtorch');
    expect(text).toContain('unset HSN_LIBTORCH to look elsewhere');
  });

  it('pip wants a python3 that has torch, although the system has one', async () => {
    putSystemLibtorch();
    const text = await faultOf(run({ env: { HSN_LIBTORCH: 'pip' } }));
    expect(text).toContain('hsn setup: python3 has no PyTorch');
    expect(text).toContain('pip install torch for the python3 on the PATH, then run npx hsn setup');
  });

  it('system passes over python3’s torch', async () => {
    putPythonTorch();
    const text = await faultOf(run({ env: { HSN_LIBTORCH: 'system' } }));
    expect(text).toContain('or newer, with its headers (the system’s)');
    expect(text).toContain('HSN_LIBTORCH=system keeps apt-get from installing it');
  });
});

describe('a libtorch that cannot be used', () => {
  it('is for another processor', async () => {
    putSystemLibtorch();
    // e_machine of the real library: 183 is aarch64.
    const file = openSync(join(root, multiarch, 'libtorch_cpu.so'), 'r+');
    writeSync(file, Uint8Array.of(183, 0), 0, 2, 18);
    const text = await faultOf(run());
    expect(text).toContain('hsn setup: libtorch is for another processor');
    expect(text).toContain('expected  a libtorch for x64');
    expect(text).toContain(`found     ${join(root, multiarch, 'libtorch_cpu.so')}, built for arm64`);
    expect(text).toContain('set HSN_LIBTORCH to the folder of a libtorch for x64');
  });

  it('is an unpacked archive that is too old, as its build-version says', async () => {
    putHeaders('opt/include');
    put('opt/include/torch/csrc/api/include/torch/version.h', '');
    put('opt/build-version', '1.8.1+cpu\n');
    putLibraries('opt/lib');
    const text = await faultOf(run({ env: { HSN_LIBTORCH: join(root, 'opt') } }));
    expect(text).toContain('hsn setup: libtorch is too old');
    expect(text).toContain(`found     libtorch 1.8.1+cpu in ${join(root, 'opt')}`);
  });

  it('is missing where the C library is musl, or made for glibc', async () => {
    put('etc/os-release', 'ID=alpine\n');
    put('lib/ld-musl-x86_64.so.1', '');
    const missing = await faultOf(run());
    expect(missing).toContain('hsn setup: this system’s C library is musl');
    expect(missing).toContain('node:22-bookworm in place of node:22-alpine');
    putHeaders('opt/include', [2, 4, 0]);
    putLibraries('opt/lib');
    lend('grep');
    // A real library of this computer, which needs its libc.so.6.
    const source = put('say.c', '#include <stdio.h>\nvoid say(void) { puts("one"); }\n');
    execFileSync('cc', ['-shared', '-fPIC', '-o', join(root, 'opt/lib/libtorch_cpu.so'), source]);
    const foreign = await faultOf(run({ env: { HSN_LIBTORCH: join(root, 'opt') } }));
    expect(foreign).toContain(`found     musl, and a libtorch for glibc in ${join(root, 'opt')}`);
  });
});
