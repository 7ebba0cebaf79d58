import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, describe, expect, it } from 'vitest';
import { collect, reasonFor } from '../../../packaging/engine/contents.ts';
import { pack } from '../../../packaging/engine/pack.ts';
import { compareVersions, faultsOf, parseObjdump } from '../../../packaging/engine/requirements.ts';

const folder = temporaryFolder('engine-package');
afterAll(folder.remove);
const header = fileURLToPath(new URL('../../../packaging/engine/glibc-2.28.h', import.meta.url));

/** Compiles a shared library from one source. */
function library(name: string, source: string, flags: readonly string[] = []): string {
  const file = folder.path(name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(`${file}.cc`, source);
  const usual = ['-std=c++17', '-O2', '-fPIC', '-shared', '-Wall', '-Wextra', '-Werror'];
  execFileSync('c++', [...usual, `${file}.cc`, '-o', file, ...flags]);
  return file;
}

/** Each name came, or got a new version, after glibc 2.28 or GCC 8. */
const NEW_SYMBOLS = `#include <cmath>
#include <dlfcn.h>
#include <future>
#include <memory>
double use(double a, std::shared_future<int>& later) {
  auto shared = std::make_shared<double>(std::pow(a, a));
  auto copy = shared;
  if (dlopen("none", RTLD_NOW) == nullptr) later.wait_for(std::chrono::milliseconds(1));
  return *copy;
}
`;

describe.runIf(process.platform === 'linux')('what a packaged file asks of a system', () => {
  it('is read from objdump: libraries, folders, versions and who brings them', () => {
    const text = `Dynamic Section:
  NEEDED               libc10.so
  NEEDED               libc.so.6
  RUNPATH              $ORIGIN:/opt/lib

Version References:
  required from libc.so.6:
    0x069691b4 0x00 10 GLIBC_2.34
  required from libgomp.so.1:
    0x05fc0c24 0x00 04 GOMP_4.0
`;
    expect(parseObjdump(text)).toEqual({
      needed: ['libc10.so', 'libc.so.6'],
      runpath: ['$ORIGIN', '/opt/lib'],
      versions: [
        { library: 'libc.so.6', version: 'GLIBC_2.34' },
        { library: 'libgomp.so.1', version: 'GOMP_4.0' },
      ],
    });
    expect(compareVersions('2.9', '2.28')).toBeLessThan(0);
    expect(compareVersions('2.28.1', '2.28')).toBeGreaterThan(0);
    expect(compareVersions('3.4', '3.4.0')).toBe(0);
  });

  it('is no more than glibc 2.28 has, once the header replaces newer symbols', () => {
    const plain = faultsOf(library('plain.so', NEW_SYMBOLS), []);
    expect(plain.join('\n')).toMatch(/needs GLIBC_2\.\d+ of libc\.so\.6/);
    expect(plain.join('\n')).toMatch(/needs GLIBCXX_3\.4\.\d+ of libstdc\+\+\.so\.6/);
    const old = library('old.so', NEW_SYMBOLS, ['-include', header]);
    expect(faultsOf(old, [])).toEqual([]);
  });

  it('waits as long as it was told, with the header’s clock', () => {
    const program = folder.path('wait');
    fs.writeFileSync(
      `${program}.cc`,
      `#include <chrono>
#include <cstdio>
#include <future>
int main() {
  std::promise<int> never;
  auto later = never.get_future();
  auto start = std::chrono::steady_clock::now();
  auto timedOut = later.wait_for(std::chrono::milliseconds(200)) == std::future_status::timeout;
  auto took = std::chrono::steady_clock::now() - start;
  std::printf("%d %lld", timedOut, (long long)std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
}
`,
    );
    execFileSync('c++', ['-std=c++17', '-pthread', '-include', header, `${program}.cc`, '-o', program]);
    const [timedOut, milliseconds] = execFileSync(program, { encoding: 'utf8' }).split(' ').map(Number);
    expect(timedOut).toBe(1);
    expect(milliseconds).toBeGreaterThanOrEqual(195);
    expect(milliseconds).toBeLessThan(5000);
  });
});

describe.runIf(process.platform === 'linux')('the files of an engine', () => {
  const wheel = (): string => folder.path('wheel');
  const torch = (rpath: string): string => {
    library('wheel/libc10.so', 'int ten() { return 10; }\n', ['-Wl,-soname,libc10.so']);
    library('wheel/libtorch_python.so', 'int python() { return 0; }\n');
    const link = [`-L${wheel()}`, '-lc10', `-Wl,-rpath,${rpath}`];
    return library('build/torch.node', 'int ten();\nint use() { return ten(); }\n', link);
  };

  it('are those built, and of the wheel those that they need, stripped, each with a reason and its checksum', () => {
    const out = folder.path('lib');
    const files = collect([torch('$ORIGIN')], [wheel()], out);
    expect(files.map(({ name }) => name)).toEqual(['libc10.so', 'torch.node']);
    expect(fs.readdirSync(out).sort()).toEqual(['libc10.so', 'torch.node']);
    for (const { name, sha256, bytes, why } of files) {
      const file = path.join(out, name);
      expect(execFileSync('sha256sum', [file], { encoding: 'utf8' })).toBe(`${sha256}  ${file}\n`);
      expect(execFileSync('readelf', ['-S', '-W', file], { encoding: 'utf8' })).not.toContain('.symtab');
      expect(bytes).toBe(fs.statSync(file).size);
      expect(why.length).toBeGreaterThan(10);
    }
  });

  it('are refused where they look for libraries in a folder of this machine', () => {
    expect(() => collect([torch(wheel())], [wheel()], folder.path('elsewhere'))).toThrow(
      `the engine does not run everywhere:\n  torch.node looks for libraries in ${wheel()}`,
    );
  });

  it('are refused where a library is missing, or nobody said why it is in', () => {
    expect(() => collect([torch('$ORIGIN')], [folder.path('empty')], folder.path('missing'))).toThrow(
      `torch.node needs libc10.so, which is not in ${folder.path('empty')}`,
    );
    expect(() => reasonFor('libtorch_python.so')).toThrow(/contents\.ts gives no reason/);
  });
});

it('the same files give the same tarball, whenever and under whatever mask they were written', () => {
  const put = (name: string, text: string, mode: number): string => {
    const at = folder.path(name);
    fs.mkdirSync(path.join(at, 'lib'), { recursive: true });
    const manifest = { name: '@some/engine', version: '1.0.0', files: ['lib', 'engine.json'] };
    fs.writeFileSync(path.join(at, 'package.json'), JSON.stringify(manifest), { mode });
    for (const file of ['lib/b.so', 'lib/a.so', 'engine.json']) {
      fs.writeFileSync(path.join(at, file), `${file} ${text}`, { mode });
      fs.utimesSync(path.join(at, file), mode, mode);
    }
    return at;
  };
  const tarball = (name: string, text: string, mode: number) =>
    pack(put(name, text, mode), folder.path(`${name}-out`));
  const first = tarball('one', 'text', 0o600);
  expect(path.basename(first.file)).toBe('some-engine-1.0.0.tgz');
  expect(tarball('two', 'text', 0o664).sha256).toBe(first.sha256);
  expect(tarball('three', 'Text', 0o600).sha256).not.toBe(first.sha256);
  expect(execFileSync('sha256sum', [first.file], { encoding: 'utf8' })).toContain(first.sha256);
  const listed = execFileSync('tar', ['-tzf', first.file], { encoding: 'utf8' }).trim().split('\n').sort();
  expect(listed).toEqual(
    ['engine.json', 'lib/a.so', 'lib/b.so', 'package.json'].map((name) => `package/${name}`),
  );
});
