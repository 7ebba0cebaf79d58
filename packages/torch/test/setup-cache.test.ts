import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { setup } from '../setup/main.ts';
import { operatorsBeside } from '../setup/targets.ts';
import {
  addonSource,
  calls,
  faultOf,
  loadingAddonSource,
  machine,
  multiarch,
  places,
  program,
  put,
  putSystemLibtorch,
  recorder,
  root,
  systemPath,
  useMadeUpMachine,
  wordOfAddon,
} from './made-up-machine.ts';

useMadeUpMachine();

const cache = (): string => join(root, 'cache');
const compiled = (): string[] => calls().filter((line) => line.includes(' -c '));

/** Sets up with a cache, as the ordinary build does, and gives what was said. */
async function install(
  more: { operators?: Record<string, string>; plain?: Record<string, string> } = {},
  env: Record<string, string> = {},
): Promise<string> {
  const progress = recorder();
  await setup(machine({ env }), { ...places(), cache: cache(), ...more }, progress);
  return progress.text();
}

beforeEach(() => {
  putSystemLibtorch();
  program('c++', `echo "c++ $*" >> ${root}/calls\nPATH='${systemPath}' exec c++ "$@"`);
});

describe('builds of earlier installs', () => {
  const again = (env?: Record<string, string>): Promise<string> => {
    rmSync(join(root, 'build'), { recursive: true });
    rmSync(join(root, 'calls'), { force: true });
    return install({}, env);
  };

  it('are taken where sources, compiler and libtorch are the same: nothing is compiled', async () => {
    expect(await install()).not.toContain('earlier build');
    expect(compiled()).toHaveLength(1);
    expect(await again()).toContain('taken from an earlier build: torch.node\n');
    expect(compiled()).toEqual([]);
    expect(wordOfAddon()).toBe('one');
  });

  it('are left where a source, the compiler or libtorch is another', async () => {
    await install();
    put('native/addon.cc', addonSource('two'));
    await again();
    expect(compiled()).toHaveLength(1);
    expect(wordOfAddon()).toBe('two');
    await again({ CXX: 'c++ -O0' });
    expect(compiled()).toHaveLength(1);
    utimesSync(join(root, multiarch, 'libtorch_cpu.so'), 1, 1);
    await again();
    expect(compiled()).toHaveLength(1);
    await again();
    expect(compiled()).toEqual([]);
  });

  it('that do not load any more are forgotten, and compiled anew', async () => {
    await install();
    for (const name of readdirSync(cache())) writeFileSync(join(cache(), name), 'cut short');
    expect(await again()).toContain('what an earlier build left does not load: compiling anew\n');
    expect(compiled()).toHaveLength(1);
    expect(wordOfAddon()).toBe('one');
    await again();
    expect(compiled()).toEqual([]);
  });

  it('are dropped, the oldest first, where there are many', async () => {
    const name = (i: number) => i.toString(16).padStart(64, '0');
    for (let i = 0; i < 20; i++) utimesSync(put(`cache/${name(i)}`, 'old'), i, i);
    await install();
    const names = readdirSync(cache());
    expect(names).toHaveLength(18);
    expect(names).not.toContain(name(0));
    expect(names).toContain(name(19));
  });

  it('that cannot be kept are a warning', async () => {
    put('cache', 'a file where a folder should be');
    expect(await install()).toMatch(/^warning: the build is not kept for the next install: .*EEXIST/m);
    expect(wordOfAddon()).toBe('one');
  });
});

describe('operators of another package', () => {
  it('are found where its package.json names them, beside the engine', () => {
    put('packages/torch/package.json', '{"name": "@scope/torch"}');
    put('packages/other/package.json', '{"name": "@scope/other", "libtorch": {"operators": "native"}}');
    put('packages/broken/package.json', '{"name": ');
    expect(operatorsBeside(join(root, 'packages/torch'))).toEqual({
      other: join(root, 'packages/other/native'),
    });
  });

  const operators = (): Record<string, string> => ({ other: join(root, 'other') });
  beforeEach(() => {
    put('native/word.h', '#pragma once\n');
    put('native/addon.cc', loadingAddonSource('one'));
    put('other/one.cc', '#include "word.h"\nextern "C" int one() { return 1; }\n');
  });

  it('are compiled against the addon’s headers, and only they when only they change', async () => {
    await install({ operators: operators() });
    expect(readdirSync(join(root, 'build')).sort()).toEqual(['info.json', 'other.so', 'torch.node']);
    expect(await install({ operators: operators() })).toContain('addon up to date');
    rmSync(join(root, 'calls'));
    put('other/one.cc', '#include "word.h"\nextern "C" int one() { return 2; }\n');
    expect(await install({ operators: operators() })).toContain('taken from an earlier build: torch.node\n');
    expect(compiled()).toHaveLength(1);
    expect(compiled()[0]).toContain('other/one.cc');
    put('native/word.h', '#pragma once\n#define WORD 1\n');
    rmSync(join(root, 'calls'));
    await install({ operators: operators() });
    expect(compiled()).toHaveLength(2);
  });

  it('that do not load leave what was there', async () => {
    await install({ operators: operators() });
    put('native/addon.cc', loadingAddonSource('two'));
    put('other/one.cc', 'int nowhere();\nint one() { return nowhere(); }\nint value = one();\n');
    expect(await faultOf(install({ operators: operators() }))).toContain('does not load');
    expect(wordOfAddon()).toBe('one');
  });

  it('are missed when they are gone', async () => {
    await install({ operators: operators() });
    rmSync(join(root, 'build/other.so'));
    expect(await install({ operators: operators() })).toContain('earlier build: torch.node, other.so');
  });
});

describe('an addon that needs no libtorch', () => {
  const plain = (): Record<string, string> => ({ small: join(root, 'small') });
  const load = (file: string): string =>
    execFileSync(process.execPath, ['-p', `require(${JSON.stringify(join(root, 'build', file))}).word`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });

  it('is built with the engine and kept with it, and is not linked to libtorch', async () => {
    put('small/small.cc', addonSource('small').replace('#include <torch/torch.h>', ''));
    await install({ plain: plain() });
    expect(readdirSync(join(root, 'build')).sort()).toEqual(['info.json', 'small.node', 'torch.node']);
    const linked = (file: string) =>
      calls().find((line) => !line.includes(' -c ') && line.includes(`/${file} `))!;
    expect(linked('torch.node')).toContain('-ltorch');
    expect(linked('small.node')).not.toContain('-ltorch');
    rmSync(join(root, 'build'), { recursive: true });
    expect(await install({ plain: plain() })).toContain('earlier build: torch.node, small.node');
    expect(load('small.node')).toBe('small\n');
  });

  it('that does not load leaves what was there', async () => {
    put('small/small.cc', 'int nowhere();\nint value = nowhere();\n');
    expect(await faultOf(install({ plain: plain() }))).toContain('does not load');
    expect(existsSync(join(root, 'build/torch.node'))).toBe(false);
  });
});
