// npm run test:package: builds, packs and installs the package, sets up its engine, and tries it on several versions of
// Node. HSN_ADDON=FILE uses an engine that is built already.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildPackage } from './build.ts';
import { InstalledPackage, RESOLUTIONS, type Resolution } from './installed.ts';
import { OUT } from './packages.ts';

const VERSIONS = ['20', '22', '24'];

const say = (text: string) => process.stdout.write(`${text}\n`);

/** A version of Node, as npm brings it. */
function nodeOf(version: string, folder: string): string {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags, `node@${version}`], { cwd: folder, stdio: 'inherit' });
  return path.join(folder, 'node_modules/node/bin/node');
}

/** The quickest of a few starts, so that a busy moment does not count. */
function helpSeconds(installed: InstalledPackage, node: string): number {
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now();
    installed.hsn(['--help'], node);
    return performance.now() - began;
  });
  return Math.min(...times) / 1000;
}

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-package-'));
try {
  await buildPackage();
  const installed = new InstalledPackage(OUT, path.join(root, 'app'));
  for (const resolution of Object.keys(RESOLUTIONS) as Resolution[]) {
    installed.compile(resolution);
    say(`types hold with moduleResolution ${resolution}`);
  }
  // An engine that is there already saves the minute that it takes to compile.
  if (process.env.HSN_ADDON === undefined) say(installed.npx('setup').trim());
  for (const version of VERSIONS) {
    const node = nodeOf(version, path.join(root, `node-${version}`));
    const began = performance.now();
    const printed = installed.runProgram(path.join(root, `run-${version}`), node);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const help = helpSeconds(installed, node).toFixed(2);
    say(`Node ${version}: hsn --help in ${help} s; the program in ${seconds} s: ${JSON.stringify(printed)}`);
  }
} finally {
  fs.rmSync(root, { recursive: true, force: true });
}
