import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLibtorch } from '../setup/find.ts';
import {
  faultOf,
  lend,
  machine,
  multiarch,
  program,
  put,
  putHeaders,
  putLibraries,
  putSystemLibtorch,
  root,
  run,
  useMadeUpMachine,
} from './made-up-machine.ts';

useMadeUpMachine();

describe('finding libtorch', () => {
  const find = (options?: Parameters<typeof machine>[0]) =>
    findLibtorch(machine(options), join(root, 'build/libtorch'));

  it('takes $LIBTORCH before everything else, with its ABI and CUDA', async () => {
    putSystemLibtorch();
    putHeaders('opt/include', [2, 4, 0]);
    putLibraries('opt/lib');
    put('opt/lib/libtorch_cuda.so', '');
    put('opt/share/cmake/Torch/TorchConfig.cmake', 'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=0")');
    const { libtorch } = await find({ env: { LIBTORCH: join(root, 'opt') } });
    expect(libtorch).toEqual({
      version: '2.4.0',
      origin: 'LIBTORCH',
      root: join(root, 'opt'),
      includeDirs: [join(root, 'opt/include/torch/csrc/api/include'), join(root, 'opt/include')],
      libDirs: [join(root, 'opt/lib')],
      cuda: true,
      abi: 0,
    });
  });

  it('refuses a $LIBTORCH that holds none, although the system has one', async () => {
    putSystemLibtorch();
    const text = await faultOf(find({ env: { LIBTORCH: join(root, 'nowhere') } }));
    expect(text).toContain('LIBTORCH does not name a libtorch');
    expect(text).toContain(`no folder ${join(root, 'nowhere')}`);
    expect(text).toContain('unset LIBTORCH');
  });

  it('takes the torch of python3 before the system’s', async () => {
    putSystemLibtorch();
    putHeaders('py/torch/include', [2, 1, 2]);
    putLibraries('py/torch/lib');
    program(
      'python3',
      `echo noise; echo '{"prefix": "${root}/py/torch/share/cmake", "version": "2.1.2+cpu", "abi": 0}'`,
    );
    const { libtorch } = await find();
    expect(libtorch).toMatchObject({
      origin: 'python',
      version: '2.1.2',
      root: join(root, 'py/torch'),
      abi: 0,
    });
  });

  it('sees through a python3-torch that is only a view of the system’s libtorch', async () => {
    putSystemLibtorch();
    putHeaders('py/torch/include');
    execFileSync('ln', ['-s', join(root, multiarch), join(root, 'py/torch/lib')]);
    program('python3', `echo '{"prefix": "${root}/py/torch/share/cmake", "version": "1.13.1", "abi": 1}'`);
    expect((await find()).libtorch).toMatchObject({ origin: 'system', root: join(root, 'usr') });
  });

  it('goes on to the system’s when python3 has no torch, and reads headers of 2.8 and later', async () => {
    program('python3', 'echo "ModuleNotFoundError: No module named torch" >&2; exit 1');
    putSystemLibtorch();
    put('usr/include/torch/csrc/api/include/torch/version.h', '#include <torch/headeronly/version.h>');
    put(
      'usr/include/torch/headeronly/version.h',
      '#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 8\n#define TORCH_VERSION_PATCH 0\n',
    );
    expect((await find()).libtorch).toMatchObject({ origin: 'system', version: '2.8.0' });
  });

  it('passes over a python3 torch that is too old', async () => {
    putSystemLibtorch();
    putHeaders('py/torch/include', [1, 9, 0]);
    putLibraries('py/torch/lib');
    program('python3', `echo '{"prefix": "${root}/py/torch/share/cmake", "version": "1.9.0", "abi": 0}'`);
    const { libtorch, faults } = await find();
    expect(libtorch).toMatchObject({ origin: 'system' });
    expect(faults.map((fault) => fault.message)).toEqual(['libtorch is too old']);
  });
});

describe('what may be missing', () => {
  it('nothing found and not root', async () => {
    const text = await faultOf(run());
    expect(text).toContain('libtorch is missing');
    expect(text).toContain('only root may install');
    expect(text).toContain(
      'do        sudo apt-get install libtorch-dev libopenblas0-pthread, then run npx hsn setup',
    );
    expect(text).toContain('pip install torch');
    expect(text).toMatch(/run sha256sum on it, and run HSN_LIBTORCH_SHA256=<that> npm install/);
    expect(existsSync(join(root, 'build'))).toBe(false);
  });

  it('nothing found on another distribution, as root', async () => {
    put('etc/os-release', 'ID=fedora\n');
    const text = await faultOf(run({ isRoot: true }));
    expect(text).toContain('not Debian or Ubuntu');
    expect(text).not.toContain('apt-get install');
  });

  it('libtorch too old', async () => {
    putSystemLibtorch([1, 12, 1]);
    const text = await faultOf(run());
    expect(text).toContain('libtorch is too old');
    expect(text).toContain('expected  libtorch 1.13 or newer');
    expect(text).toContain(`found     libtorch 1.12.1 in ${join(root, 'usr')}`);
    expect(text).toContain('pip install --upgrade torch');
  });

  it('libraries without headers', async () => {
    put(join(multiarch, 'libtorch_cpu.so.1.13'), '');
    const text = await faultOf(run());
    expect(text).toContain('libtorch lacks its headers');
    expect(text).toContain(`only its libraries, in ${join(root, multiarch)}`);
    expect(text).toContain('sudo apt-get install libtorch-dev');
  });

  it('headers without libraries', async () => {
    putHeaders('usr/include');
    const text = await faultOf(run());
    expect(text).toContain('libtorch lacks its libraries');
    expect(text).toContain(`only its headers, in ${join(root, 'usr/include')}`);
  });

  it('no compiler', async () => {
    putSystemLibtorch();
    const text = await faultOf(run());
    expect(text).toContain('no C++ compiler');
    expect(text).toContain('none of them on the PATH');
    expect(text).toContain('sudo apt-get install g++');
  });

  it('a $CXX that does not run, although c++ is there', async () => {
    putSystemLibtorch();
    lend('c++');
    expect(await faultOf(run({ env: { CXX: 'no-such-compiler' } }))).toContain(
      'CXX=no-such-compiler, which does not run',
    );
  });

  it('no sources', async () => {
    putSystemLibtorch();
    lend('c++');
    rmSync(join(root, 'native/addon.cc'));
    expect(await faultOf(run())).toContain('the addon’s sources are missing');
  });
});
