import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type Progress, SetupError, showProgress } from '../setup/fault.ts';
import { type HostOptions, hostMachine, type Machine } from '../setup/machine.ts';
import { setup } from '../setup/main.ts';

// A machine made up in a folder, with only what a test puts there.

export const systemPath = process.env.PATH ?? '/usr/bin:/bin';
export const multiarch = 'usr/lib/x86_64-linux-gnu';
export const places = (): { native: string; build: string } => ({
  native: join(root, 'native'),
  build: join(root, 'build'),
});
/** The machine's folder. */
export let root: string;

/** Gives every test of a file a machine of its own, in a folder that is removed after it. */
export function useMadeUpMachine(): void {
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'hsn-setup-'));
    mkdirSync(join(root, 'bin'));
    put('etc/os-release', 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n');
    put('native/addon.cc', addonSource('one'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
}

export function put(path: string, text: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** A program on the made-up machine's PATH, which is otherwise empty. */
export function program(name: string, script: string): void {
  const file = put(`bin/${name}`, `#!/bin/sh\n${script}\n`);
  execFileSync('chmod', ['+x', file]);
}

/** Lends a real program of this computer to the made-up one. */
export function lend(name: string): void {
  program(name, `PATH='${systemPath}' exec ${name} "$@"`);
}

export function machine(options: HostOptions & { env?: Record<string, string> } = {}): Machine {
  const env = { PATH: join(root, 'bin'), ...options.env };
  return hostMachine({ root, isRoot: false, platform: 'linux', arch: 'x64', ...options, env });
}

export type Version = readonly [number, number, number];

export function putHeaders(include: string, [major, minor, patch]: Version = [1, 13, 1]): void {
  const parts = { MAJOR: major, MINOR: minor, PATCH: patch };
  const text = Object.entries(parts).map(([part, value]) => `#define TORCH_VERSION_${part} ${value}\n`);
  put(join(include, 'torch/csrc/api/include/torch/version.h'), text.join(''));
  put(join(include, 'torch/csrc/api/include/torch/torch.h'), '#pragma once\n');
  put(join(include, 'ATen/core/dispatch/Dispatcher.h'), '#pragma once\n');
}

/** Real, empty shared libraries under libtorch's names, so that linking and loading are real too. */
export function putLibraries(dir: string): void {
  const source = put('empty.c', '');
  mkdirSync(join(root, dir), { recursive: true });
  for (const name of ['torch', 'torch_cpu', 'c10'])
    execFileSync('cc', ['-shared', '-o', join(root, dir, `lib${name}.so`), source]);
}

export function putSystemLibtorch(version?: Version): void {
  putHeaders('usr/include', version);
  putLibraries(multiarch);
  put(join(multiarch, 'libopenblas.so.0'), '');
}

export function addonSource(word: string): string {
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

/** The same, which can also load libraries of operators. */
export function loadingAddonSource(word: string): string {
  return `#include <dlfcn.h>
#include "word.h"
${addonSource(word)}`.replace(
    '  return exports;',
    `  napi_value load;
  napi_create_function(env, "loadOperators", NAPI_AUTO_LENGTH, [](napi_env env, napi_callback_info info) -> napi_value {
    napi_value argv[2];
    size_t argc = 2;
    char file[4096];
    napi_get_cb_info(env, info, &argc, argv, nullptr, nullptr);
    napi_get_value_string_utf8(env, argv[0], file, sizeof file, nullptr);
    if (dlopen(file, RTLD_NOW) == nullptr) napi_throw_error(env, nullptr, dlerror());
    return nullptr;
  }, nullptr, &load);
  napi_set_named_property(env, exports, "loadOperators", load);
  return exports;`,
  );
}

export function recorder(): Progress & { text: () => string } {
  let said = '';
  const write = (text: string): void => {
    said += text;
  };
  return { ...showProgress({ write }), text: () => said };
}

export async function faultOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SetupError);
  const text = (error as SetupError).explain();
  expect(text).toMatch(/^hsn setup: .+\n {2}expected {2}\S.*\n {2}found {5}[\s\S]+\n {2}do {8}\S/);
  return text;
}

export const run = (options?: Parameters<typeof machine>[0]): Promise<unknown> =>
  setup(machine(options), places(), recorder());

/** The word that the built addon says, asked of a fresh process. */
export function wordOfAddon(): string {
  const script = 'process.stdout.write(require(process.argv[1]).word)';
  return execFileSync(process.execPath, ['-e', script, join(root, 'build/torch.node')], { encoding: 'utf8' });
}

export function calls(): string[] {
  const log = join(root, 'calls');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
}
