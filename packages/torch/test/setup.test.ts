import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildHash } from '../setup/build.ts';
import { SetupError } from '../setup/fault.ts';
import { findLibtorch } from '../setup/find.ts';
import { type HostOptions, hostMachine, type Machine } from '../setup/machine.ts';
import { setup } from '../setup/main.ts';
import { type Progress, showProgress } from '../setup/progress.ts';

const systemPath = process.env.PATH ?? '/usr/bin:/bin';
const multiarch = 'usr/lib/x86_64-linux-gnu';
const places = (): { native: string; build: string } => ({
  native: join(root, 'native'),
  build: join(root, 'build'),
});
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hsn-setup-'));
  mkdirSync(join(root, 'bin'));
  put('etc/os-release', 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n');
  put('native/addon.cc', addonSource('one'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** A program on the made-up machine's PATH, which is otherwise empty. */
function program(name: string, script: string): void {
  const file = put(`bin/${name}`, `#!/bin/sh\n${script}\n`);
  execFileSync('chmod', ['+x', file]);
}

/** Lends a real program of this computer to the made-up one. */
function lend(name: string): void {
  program(name, `PATH='${systemPath}' exec ${name} "$@"`);
}

function machine(options: HostOptions & { env?: Record<string, string> } = {}): Machine {
  const env = { PATH: join(root, 'bin'), ...options.env };
  return hostMachine({ root, isRoot: false, platform: 'linux', arch: 'x64', ...options, env });
}

type Version = readonly [number, number, number];

function putHeaders(include: string, [major, minor, patch]: Version = [1, 13, 1]): void {
  const parts = { MAJOR: major, MINOR: minor, PATCH: patch };
  const text = Object.entries(parts).map(([part, value]) => `#define TORCH_VERSION_${part} ${value}\n`);
  put(join(include, 'torch/csrc/api/include/torch/version.h'), text.join(''));
  put(join(include, 'torch/csrc/api/include/torch/torch.h'), '#pragma once\n');
  put(join(include, 'ATen/core/dispatch/Dispatcher.h'), '#pragma once\n');
}

/** Real, empty shared libraries under libtorch's names, so that linking and loading are real too. */
function putLibraries(dir: string): void {
  const source = put('empty.c', '');
  mkdirSync(join(root, dir), { recursive: true });
  for (const name of ['torch', 'torch_cpu', 'c10'])
    execFileSync('cc', ['-shared', '-o', join(root, dir, `lib${name}.so`), source]);
}

function putSystemLibtorch(version?: Version): void {
  putHeaders('usr/include', version);
  putLibraries(multiarch);
  put(join(multiarch, 'libopenblas.so.0'), '');
}

function addonSource(word: string): string {
  return `#include <torch/torch.h>
#include <node_api.h>
NAPI_MODULE_INIT() {
  napi_value word;
  napi_create_string_utf8(env, "${word}", NAPI_AUTO_LENGTH, &word);
  napi_set_named_property(env, exports, "word", word);
  return exports;
}
`;
}

function recorder(): Progress & { text: () => string } {
  let said = '';
  const write = (text: string): void => {
    said += text;
  };
  return { ...showProgress({ write }), text: () => said };
}

async function faultOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SetupError);
  const text = (error as SetupError).explain();
  expect(text).toMatch(/^hsn setup: .+\n {2}expected {2}\S.*\n {2}found {5}[\s\S]+\n {2}do {8}\S/);
  return text;
}

const run = (options?: Parameters<typeof machine>[0]): Promise<unknown> =>
  setup(machine(options), places(), recorder());

/** The word that the built addon says, asked of a fresh process. */
function wordOfAddon(): string {
  const script = 'process.stdout.write(require(process.argv[1]).word)';
  return execFileSync(process.execPath, ['-e', script, join(root, 'build/torch.node')], { encoding: 'utf8' });
}

function calls(): string[] {
  const log = join(root, 'calls');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
}

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
      'do        sudo apt-get install libtorch-dev libopenblas0-pthread, then run npm install again',
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
      'noninteractive -o DPkg::Lock::Timeout=120 install -y libtorch-dev libopenblas0-pthread',
    ]);
    expect(progress.text()).toContain('installing libtorch-dev and libopenblas0-pthread');
    expect(wordOfAddon()).toBe('one');
  });

  it('says that there is no network', async () => {
    aptGet('echo "Err:1 Temporary failure resolving mirror" >&2; exit 100');
    const text = await faultOf(run({ isRoot: true }));
    expect(text).toContain('hsn setup: no network');
    expect(text).toContain('Temporary failure resolving mirror');
    expect(text).toContain('connect to the network, then run npm install again');
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
    expect(calls().at(-1)).toMatch(/install -y libopenblas0-pthread$/);
    expect(installed.text()).not.toContain('warning');
  });
});

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

describe('the official archive', () => {
  let server: Server;
  let archive: Buffer;
  let asked: number;

  function serve(listener: RequestListener): Promise<string> {
    server = createServer((request, response) => {
      asked++;
      listener(request, response);
    });
    return new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      );
    });
  }

  beforeEach(() => {
    asked = 0;
    lend('c++');
    lend('unzip');
    putHeaders('pack/libtorch/include', [2, 7, 1]);
    putLibraries('pack/libtorch/lib');
    const script = 'import shutil, sys; shutil.make_archive(sys.argv[1], "zip", sys.argv[2])';
    execFileSync('python3', ['-c', script, join(root, 'archive'), join(root, 'pack')]);
    archive = readFileSync(join(root, 'archive.zip'));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const hash = (): string => createHash('sha256').update(archive).digest('hex');
  const env = (url: string, sha256 = hash()) => ({ HSN_LIBTORCH_URL: url, HSN_LIBTORCH_SHA256: sha256 });

  it('is downloaded, checked, unpacked and built against; a new build needs no second download', async () => {
    let path = '';
    const url = await serve((request, response) => {
      path = request.url ?? '';
      response.end(archive);
    });
    expect(await run({ env: env(url) })).toMatchObject({ origin: 'archive', version: '2.7.1' });
    expect(path).toMatch(/^\/cpu\/libtorch-shared-with-deps-[\d.]+%2Bcpu\.zip$/);
    expect(wordOfAddon()).toBe('one');
    rmSync(join(root, 'build/info.json'));
    expect(await run()).toMatchObject({ origin: 'archive' });
    expect(asked).toBe(1);
    expect(readdirSync(join(root, 'build')).sort()).toEqual(['info.json', 'libtorch', 'torch.node']);
  });

  it('is unpacked with python3 where unzip is missing', async () => {
    rmSync(join(root, 'bin/unzip'));
    program('python3', `case "$*" in *zipfile*) PATH='${systemPath}' exec python3 "$@";; *) exit 1;; esac`);
    const url = await serve((_request, response) => response.end(archive));
    expect(await run({ env: env(`${url}/mine.zip`) })).toMatchObject({ origin: 'archive' });
  });

  it('is refused when its hash is another', async () => {
    const url = await serve((_request, response) => response.end(archive));
    const text = await faultOf(run({ env: env(url, 'a'.repeat(64)) }));
    expect(text).toContain('the archive is not the one you named');
    expect(text).toContain(`expected  sha256 ${'a'.repeat(64)}`);
    expect(text).toContain(`found     sha256 ${hash()}`);
    expect(asked).toBe(1);
    expect(readdirSync(join(root, 'build'))).toEqual([]);
  });

  it('is fetched again when the body was cut, and given up after three times', async () => {
    let cuts = 1;
    const url = await serve((_request, response) => {
      response.setHeader('content-length', archive.length);
      if (cuts-- > 0) response.write(archive.subarray(0, 1000), () => response.destroy());
      else response.end(archive);
    });
    expect(await run({ env: env(url) })).toMatchObject({ origin: 'archive' });
    expect(asked).toBe(2);
    rmSync(join(root, 'build'), { recursive: true });
    cuts = 99;
    const text = await faultOf(run({ env: env(url) }));
    expect(text).toContain('the download broke off');
    expect(text).toContain('3 broken transfers');
    expect(asked).toBe(5);
    expect(readdirSync(join(root, 'build'))).toEqual([]);
  });

  it('is never downloaded without a hash, nor with half of one', async () => {
    const url = await serve((_request, response) => response.end(archive));
    expect(await faultOf(run({ env: { HSN_LIBTORCH_URL: url } }))).toContain(
      'HSN_LIBTORCH_SHA256=<that> npm install',
    );
    const text = await faultOf(run({ env: env(url, 'abc') }));
    expect(text).toContain('HSN_LIBTORCH_SHA256 with 64 hexadecimal digits');
    expect(text).toContain('found     3 characters: abc');
    expect(asked).toBe(0);
  });

  it('names the status of a server that has none, and a server that is not there', async () => {
    const url = await serve((_request, response) => response.writeHead(404).end());
    expect(await faultOf(run({ env: env(url) }))).toContain('found     HTTP 404');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const text = await faultOf(run({ env: env(url) }));
    expect(text).toContain('no network');
    expect(text).toContain('ECONNREFUSED');
  });

  it('is refused when it is no zip, or holds something else', async () => {
    archive = Buffer.from('not a zip');
    const url = await serve((_request, response) => response.end(archive));
    expect(await faultOf(run({ env: env(url) }))).toContain('the archive holds no libtorch');
    expect(readdirSync(join(root, 'build'))).toEqual([]);
  });

  it('does not exist for some machines', async () => {
    const url = await serve((_request, response) => response.end(archive));
    const text = await faultOf(run({ arch: 'riscv64', env: env(url) }));
    expect(text).toContain('linux on riscv64, for which no official archive is made');
  });
});

describe('as npm runs it', () => {
  const script = fileURLToPath(new URL('../setup/main.ts', import.meta.url));

  it('is quick and says one line when the addon is there', () => {
    const first = spawnSync(process.execPath, ['--import', 'tsx', script], { encoding: 'utf8' });
    expect(first.stderr).toBe('');
    expect(first.status).toBe(0);
    const start = performance.now();
    const second = spawnSync(process.execPath, ['--import', 'tsx', script], { encoding: 'utf8' });
    expect(second.stdout).toMatch(/^libtorch \d+\.\d+\.\d+ \(\w+\), addon up to date\n$/);
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it('ends with 1 and the message when something is missing', () => {
    const env = { ...process.env, LIBTORCH: join(root, 'nowhere') };
    const result = spawnSync(process.execPath, ['--import', 'tsx', script], { encoding: 'utf8', env });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/^hsn setup: LIBTORCH does not name a libtorch\n {2}expected/);
    expect(result.stderr).not.toContain('    at ');
  });
});
