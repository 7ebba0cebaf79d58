import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { RecordedApt, type Said } from '@hidden-schema/testing/recorded-apt';
import { buildPackage } from '../packaging/build.ts';
import { copyCheckout } from './install.ts';
import type { Fault, Tally } from './tally.ts';

const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
/** Of libtorch, as set-up asks for it. */
const INSTALL = /install -y --no-remove libtorch-dev /;

async function packed(tally: Tally): Promise<string> {
  const built = tally.path('built');
  await buildPackage(built);
  const out = execFileSync('npm', ['pack', built, '--json', '--pack-destination', tally.folder], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ filename }] = JSON.parse(out) as [{ filename: string }];
  return tally.path(filename);
}

/** Somebody's project, into which packages are installed by npm with its scripts. */
class Project {
  readonly folder: string;
  readonly #apt: RecordedApt;

  constructor(folder: string, apt: RecordedApt) {
    this.folder = folder;
    this.#apt = apt;
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  }

  run(command: readonly string[], env: NodeJS.ProcessEnv = {}): Said {
    return this.#apt.run(command, { cwd: this.folder, env });
  }

  install(what: string, env: NodeJS.ProcessEnv = {}, flags: readonly string[] = []): void {
    const { code, text } = this.run(['npm', 'install', ...quiet, ...flags, what], env);
    assert.equal(code, 0, text);
  }
}

/** Row 53: npm runs nothing of a dependency, whatever HSN_LIBTORCH says; what the user starts installs. */
async function asDependency(tally: Tally): Promise<void> {
  const apt = RecordedApt.make(tally.path('apt'));
  if (typeof apt === 'string') {
    tally.notes.push(`not injected: ${apt}`);
    return;
  }
  const tarball = await packed(tally);
  const project = new Project(tally.path('project'), apt);
  await tally.expect('npm install of the package', () => {
    project.install(tarball);
    assert.deepEqual(apt.calls(), []);
  });
  await firstUse(tally, project, apt);
  await tally.expect('HSN_LIBTORCH=apt npm install of the package', () => {
    const asks = new Project(tally.path('asks'), apt);
    asks.install(tarball, { HSN_LIBTORCH: 'apt' });
    assert.deepEqual(apt.calls(), []);
    asks.run(['npx', '--no-install', 'hsn', 'setup'], { HSN_LIBTORCH: 'apt' });
    assert.match(apt.calls().join('\n'), INSTALL);
  });
  const checkout = tally.path('checkout');
  copyCheckout(checkout);
  await tally.expect('npm install in a checkout', () => {
    const { code, text } = apt.run(['npm', 'install', ...quiet], { cwd: checkout });
    assert.equal(code, 0, text);
    assert.match(apt.calls().join('\n'), INSTALL);
  });
  if (tally.share < 1) return;
  await tally.expect('npm install of a checkout by its folder', () => {
    new Project(tally.path('linking'), apt).install(checkout);
    assert.deepEqual(apt.calls(), []);
  });
  await tally.expect('npm install --global', () => {
    new Project(tally.path('global'), apt).install(tarball, {}, ['-g', '--prefix', tally.path('prefix')]);
    assert.deepEqual(apt.calls(), []);
  });
}

async function firstUse(tally: Tally, project: Project, apt: RecordedApt): Promise<void> {
  const hsn = (...words: string[]) => project.run(['npx', '--no-install', 'hsn', ...words]);
  await tally.expect('the first use', () => {
    fs.writeFileSync(path.join(project.folder, 'texts.txt'), 'a text\n'.repeat(100));
    const { code, text } = hsn('train', '--corpus', 'texts.txt', '--out', 'run');
    assert.equal(code, 1);
    assert.match(text, /hsn: the engine is not set up: .*; run "npx hsn setup"\n$/);
    assert.deepEqual(apt.calls(), []);
  });
  await tally.expect('npx hsn setup', () => {
    assert.equal(hsn('setup').code, 1);
    assert.match(apt.calls().join('\n'), INSTALL);
  });
}

export const faults: readonly Fault[] = [
  { row: 53, fault: 'npm install of the package as a dependency, by root', inject: asDependency },
];
