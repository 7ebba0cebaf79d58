// npm run matrix                               builds and tests the engine and hsn on each libtorch that users have
// npm run matrix -- --only system              one of system, pip, debian13; may be given several times
// npm run matrix -- --libtorch /opt/libtorch   on the libtorch of a folder, besides those named by --only
// npm run matrix -- --tests packages/torch/test
// Prints a line for each: its version, the seconds that compiling took, how many tests passed and failed, and which links
// a short training with a fixed seed finds, which have to be the same on all of them.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError, showProgress } from '../setup/fault.ts';
import { hostMachine } from '../setup/machine.ts';
import { here, setup } from '../setup/main.ts';
import { disagreement, type Recovered, recoveredGraph, recoveredIn, recoveredText } from './recovered.ts';
import { root, runTests, withoutSetup } from './run-tests.ts';

const pipTorch = 'torch==2.13.0';
const progress = showProgress(process.stderr);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);
/** The graphs that the libtorchs tried so far have found. */
const graphs = new Map<string, Recovered>();

/** Builds for the libtorch that HSN_LIBTORCH names, in `folder`, and runs the tests; true when all passed. */
async function tryOut(
  name: string,
  libtorch: string,
  folder: string,
  tests: readonly string[],
): Promise<boolean> {
  // No cache: the seconds are those of compiling.
  const { cache: _, ...places } = { ...here, build: join(folder, 'build') };
  const machine = hostMachine({ env: { ...process.env, HSN_LIBTORCH: libtorch } });
  const { version, seconds } = await setup(machine, places, progress);
  const env = { HSN_ADDON: join(places.build, 'torch.node') };
  const { passed, failed } = await runTests(tests, env, withoutSetup);
  const found = await recoveredGraph(env);
  if (found) graphs.set(`libtorch ${version}`, found);
  const graph = found ? recoveredText(found) : 'the training failed';
  say(
    `${name}: libtorch ${version}, built in ${seconds} s, ${passed} tests passed, ${failed} failed, ${graph}`,
  );
  return failed === 0 && found !== undefined;
}

/** Runs a program with its output on stderr; false, with a line that says why, where it does not end well. */
function ran(name: string, command: string, args: readonly string[]): boolean {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (status === 0) return true;
  say(`${name}: failed: ${command} ${args.join(' ')}: ${error ? error.message : `ended with ${status}`}`);
  return false;
}

/** PyTorch as pip installs it, in a virtual environment of its own. */
async function pip(folder: string, tests: readonly string[]): Promise<boolean> {
  const venv = join(folder, 'venv');
  if (!ran('pip', 'python3', ['-m', 'venv', venv])) return false;
  if (!ran('pip', join(venv, 'bin/pip'), ['install', '--quiet', pipTorch])) return false;
  const [version = ''] = readdirSync(join(venv, 'lib')).filter((name) => name.startsWith('python'));
  return tryOut('pip', join(venv, 'lib', version, 'site-packages/torch'), folder, tests);
}

/** Debian 13 in a folder: its libraries need its own C library, so the whole of it runs there. */
async function debian13(folder: string, tests: readonly string[]): Promise<boolean> {
  const missing =
    process.getuid?.() !== 0
      ? 'it needs root'
      : spawnSync('debootstrap', ['--version']).error
        ? 'debootstrap is not installed'
        : undefined;
  if (missing) {
    say(`debian13: skipped: ${missing}`);
    return true;
  }
  const system = join(folder, 'trixie');
  const packages = 'nodejs,g++,libtorch-dev,libopenblas0-pthread,python3';
  const made = ['--variant=minbase', `--include=${packages}`, 'trixie', system];
  if (!ran('debian13', 'debootstrap', made)) return false;
  const checkout = join(system, 'checkout');
  mkdirSync(checkout);
  for (const name of readdirSync(root))
    if (name !== '.git')
      cpSync(join(root, name), join(checkout, name), { recursive: true, verbatimSymlinks: true });
  rmSync(join(checkout, 'packages/torch/build'), { recursive: true, force: true });
  const inside = ['--import', 'tsx', 'packages/torch/check/matrix.ts', '--only', 'system'];
  const program = ['node', ...inside, ...tests.flatMap((test) => ['--tests', test])].join(' ');
  // Tests look at processes; the mount is this command's own and goes with it.
  const enter = 'mount -t proc proc "$1/proc" && exec chroot "$1" sh -c "cd /checkout && $2"';
  // Certificates that only this system has would be missed, aloud, by every Node inside.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const { status, stdout } = spawnSync('unshare', ['--mount', 'sh', '-c', enter, 'sh', system, program], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
    env,
  });
  const found = recoveredIn(stdout);
  if (found) graphs.set('debian13', found);
  say(stdout.trim().replace(/^system:/, 'debian13:') || `debian13: failed: ended with ${status}`);
  return status === 0;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      libtorch: { type: 'string', multiple: true, default: [] },
      tests: { type: 'string', multiple: true, default: ['packages/torch/test', 'packages/hsn/test'] },
    },
  });
  const { tests, libtorch: folders, only } = values;
  const all: Record<string, (folder: string) => Promise<boolean>> = {
    system: (folder) => tryOut('system', 'system', folder, tests),
    pip: (folder) => pip(folder, tests),
    debian13: (folder) => debian13(folder, tests),
  };
  const named = only.length + folders.length > 0 ? [...only, ...folders] : Object.keys(all);
  for (const libtorch of folders) all[libtorch] = (folder) => tryOut(libtorch, libtorch, folder, tests);
  for (const name of named) {
    const body = all[name];
    if (!body)
      throw new SetupError('no such libtorch', `one of ${Object.keys(all).join(', ')}`, name, 'name one');
    const folder = mkdtempSync(join(tmpdir(), 'hsn-matrix-'));
    try {
      if (!(await body(folder))) process.exitCode = 1;
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      say(`${name}: failed: ${error.message}: ${error.found}`);
      process.exitCode = 1;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const differs = disagreement(graphs);
  if (differs) {
    say(differs);
    process.exitCode = 1;
  } else if (graphs.size > 1) say(`the same links on ${[...graphs.keys()].join(', ')}`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`${error.explain()}\n`);
  process.exitCode = 1;
}
