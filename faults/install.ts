import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fault, Tally } from './tally.ts';

const here = fileURLToPath(new URL('..', import.meta.url));

/** A copy of this checkout with its packages and without the built addon, as after an install without scripts. */
export function copyCheckout(folder: string): void {
  fs.mkdirSync(folder);
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: here,
    encoding: 'utf8',
  });
  const names = listed.split('\0').filter((name) => /^package|^tsconfig/.test(name));
  for (const name of names.filter((name) => fs.existsSync(path.join(here, name))))
    fs.cpSync(path.join(here, name), path.join(folder, name));
  // Hard links where the folder is on the same disk: half a gigabyte of packages.
  const modules = [path.join(here, 'node_modules'), path.join(folder, 'node_modules')];
  if (spawnSync('cp', ['-al', ...modules]).status === 0) return;
  fs.rmSync(modules[1]!, { recursive: true, force: true });
  execFileSync('cp', ['-a', ...modules]);
}

interface Said {
  code: number | null;
  text: string;
}

/** A copy of the checkout, in which commands are run. */
class Checkout {
  readonly folder: string;

  constructor(tally: Tally) {
    this.folder = tally.path('checkout');
    copyCheckout(this.folder);
  }

  run(command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Said {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: this.folder,
      encoding: 'utf8',
      env: { ...process.env, ...more },
    });
    return { code: status, text: `${stdout}${stderr}` };
  }

  hsn(...args: string[]): Said {
    return this.run(process.execPath, ['node_modules/.bin/hsn', ...args]);
  }
}

/** Row 42: an install that runs no scripts, or is not to install anything. */
async function withoutScripts(tally: Tally): Promise<void> {
  const checkout = new Checkout(tally);
  if (tally.share === 1)
    await tally.expect('npm install --ignore-scripts', () => {
      const said = checkout.run('npm', [
        'install',
        '--ignore-scripts',
        '--offline',
        '--no-audit',
        '--no-fund',
      ]);
      assert.equal(said.code, 0, said.text);
    });
  await beforeSetup(tally, checkout);
  await refusedSetup(tally, checkout);
  if (tally.share < 1) return;
  await tally.expect('npx hsn setup', () => {
    const built = checkout.run('npx', ['--no-install', 'hsn', 'setup'], { HSN_LIBTORCH: 'system' });
    assert.equal(built.code, 0, built.text);
    assert.match(built.text, /addon built in/);
    assert.equal((JSON.parse(checkout.hsn('doctor', '--json').text) as { ok: boolean }).ok, true);
  });
}

async function beforeSetup(tally: Tally, checkout: Checkout): Promise<void> {
  await tally.expect('a verb before set-up', () => {
    fs.writeFileSync(path.join(checkout.folder, 'texts.txt'), 'a text\n'.repeat(100));
    const { code, text } = checkout.hsn('train', '--corpus', 'texts.txt', '--out', 'run');
    assert.equal(code, 1);
    assert.match(text, /^hsn: the engine is not set up: .*; run "npx hsn setup"\n$/);
  });
  await tally.expect('hsn doctor before set-up', () => {
    const { problems } = JSON.parse(checkout.hsn('doctor', '--json').text) as {
      problems: { remedy: string }[];
    };
    assert.equal(problems[0]?.remedy, 'run npx hsn setup and follow what it says');
  });
}

async function refusedSetup(tally: Tally, checkout: Checkout): Promise<void> {
  const script = ['--import', 'tsx', 'packages/torch/setup/main.ts', '--install'];
  const install = (more: NodeJS.ProcessEnv) => checkout.run(process.execPath, script, more);
  await tally.expect('HSN_LIBTORCH=none', () => {
    const { code, text } = install({ HSN_LIBTORCH: 'none' });
    assert.deepEqual(
      [code, text],
      [0, 'HSN_LIBTORCH=none: the engine is not built; npx hsn setup builds it\n'],
    );
  });
  await tally.expect('an install that cannot build the engine', () => {
    const { code, text } = install({ HSN_LIBTORCH: 'system', CXX: 'no-such-compiler' });
    assert.equal(code, 0);
    assert.match(
      text,
      /hsn setup: no C\+\+ compiler\n[\s\S]*npm has installed all packages; only the engine is missing: npx hsn setup\n$/,
    );
  });
}

export const faults: readonly Fault[] = [
  { row: 42, fault: 'an install without scripts, packages or network', inject: withoutScripts },
];
