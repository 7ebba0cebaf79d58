// npm run test:package    tries the tarballs of `npm run package` as people install them: in folders of Debian 12 and 13
//                         with nothing but what debootstrap's smallest has, as an ordinary user, without network, without
//                         scripts, on Node 20, 22 and 24. Needs root and debootstrap; the folders are kept in the cache.
// Prints a line for each: seconds by the clock (and of the processor) of the install and of the first `hsn symbols`.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { cacheFolder, UserError } from '@hidden-schema/base';
import type { Printed } from './installed.ts';
import { RESOLUTIONS, type Resolution } from './installed.ts';
import { ROOT } from './packages.ts';
import { DebianFolder, type Outcome, USER } from './trial/debian-folder.ts';
import { tryDockerfile } from './trial/dockerfile.ts';
import { gather, type Inputs, speeches } from './trial/inputs.ts';

/** Releases of Debian, the version of each, and its glibc. */
const SUITES = { bookworm: 'Debian 12', trixie: 'Debian 13', bullseye: 'Debian 11' } as const;
type Suite = keyof typeof SUITES;
const VERSIONS = ['20', '22', '24'];
/** Seconds at most, of the clock or, on a machine that is busy with other work, of the processor. */
const LIMITS = { install: 20, symbols: 1 };
/** The demo in full is shown once for each Debian; elsewhere a short one. */
const FULL_DEMO = '22';
const SHORT = ['--sentences', '2000', '--steps', '20', '--passages', '300', '--symbols', '12'];
/** What must not be there. */
const ABSENT = ['cc', 'c++', 'g++', 'clang++', 'python3', 'make'];

const say = (text: string): boolean => process.stdout.write(`${text}\n`);
const seconds = ({ wall, cpu }: Outcome): string => `${wall.toFixed(2)} s (${cpu.toFixed(2)} s)`;

/** Says so where something took longer than it may; the other trials go on. */
function within(what: keyof typeof LIMITS, outcome: Outcome): void {
  if (Math.min(outcome.wall, outcome.cpu) <= LIMITS[what]) return;
  say(`${what} took ${seconds(outcome)}, more than ${LIMITS[what]} s`);
  process.exitCode = 1;
}

/** The quickest of three, so that a busy moment does not count. */
function quickest(body: () => Outcome): Outcome {
  const times = Array.from({ length: 3 }, body);
  return times.reduce((best, one) =>
    Math.min(one.wall, one.cpu) < Math.min(best.wall, best.cpu) ? one : best,
  );
}

/** Installs and uses the package in one Debian with one Node. */
function tryOn(system: DebianFolder, version: string, inputs: Inputs): string {
  const home = `/home/trial-${version}`;
  const outside = system.path(home);
  prepareHome(outside, inputs);
  const node = `/inputs/node-${version}`;
  const common = { cwd: home, binds: { '/inputs': inputs.folder } };
  const env = { HOME: home, PATH: `${node}:/usr/bin:/bin` };
  const hsn = (...words: string[]): Outcome =>
    system.run([`${home}/node_modules/.bin/hsn`, ...words], { ...common, env });
  try {
    const wanted = [...inputs.tarballs, speeches()];
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
    const install = system.run(['npm', 'install', ...flags, ...wanted], {
      ...common,
      env: { ...env, ...inputs.npm },
    });
    within('install', install);
    const symbols = (): Outcome => hsn('symbols', 'runs/language-0.1.0');
    const first = quickest(() => {
      fs.rmSync(path.join(outside, '.cache'), { recursive: true, force: true });
      return symbols();
    });
    within('symbols', first);
    const second = quickest(symbols);
    const engine = describedEngine(hsn('doctor', '--json').text);
    const program = system.run(['node', 'program.js', 'trained'], { ...common, env });
    checkPrinted(JSON.parse(program.text) as Printed);
    const full = version === FULL_DEMO;
    const demo = hsn('demo', '--no-serve', '--out', 'demo', ...(full ? [] : SHORT));
    hsn('symbols', 'demo/speeches');
    const times = `install ${seconds(install)}, first hsn symbols ${seconds(first)}, second ${seconds(second)}`;
    return `${engine}; ${times}, program ${seconds(program)}, ${full ? 'demo' : 'short demo'} ${seconds(demo)}`;
  } finally {
    fs.rmSync(outside, { recursive: true, force: true });
  }
}

/** A home folder of an ordinary user with a project, a run to look at, and the compiled program. */
function prepareHome(home: string, { installed }: Inputs): void {
  fs.rmSync(home, { recursive: true, force: true });
  fs.mkdirSync(home, { recursive: true });
  fs.writeFileSync(path.join(home, 'package.json'), '{ "private": true, "type": "module" }\n');
  fs.cpSync(path.join(ROOT, 'fixtures/runs'), path.join(home, 'runs'), { recursive: true });
  fs.copyFileSync(path.join(installed.folder, 'program.js'), path.join(home, 'program.js'));
  for (const name of ['.', ...fs.readdirSync(home, { recursive: true, encoding: 'utf8' })])
    fs.chownSync(path.join(home, name), USER, USER);
}

function describedEngine(json: string): string {
  const { ok, libtorch, prebuilt } = JSON.parse(json) as {
    ok: boolean;
    libtorch: { version: string; origin: string };
    prebuilt: { name: string; version: string; used: boolean } | null;
  };
  if (!ok || !prebuilt?.used) throw new UserError(`the prebuilt engine is not used: ${json}`);
  return `libtorch ${libtorch.version} of ${prebuilt.name} ${prebuilt.version}`;
}

function checkPrinted({ steps, six, status, refused }: Printed): void {
  const seen = JSON.stringify({ steps, six, status, refused });
  if (seen !== '{"steps":3,"six":6,"status":[200,200],"refused":[true,true]}')
    throw new UserError(`the program prints something else: ${seen}`);
}

function refusePrograms(system: DebianFolder): void {
  const there = ABSENT.filter((name) =>
    ['bin', 'usr/bin', 'usr/local/bin'].some((at) => fs.existsSync(system.path(at, name))),
  );
  if (there.length > 0)
    throw new UserError(`${system.folder} has ${there.join(', ')}: remove the folder, it is made anew`);
}

const { values } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: VERSIONS },
    suite: { type: 'string', multiple: true, default: ['bookworm', 'trixie'] },
    docker: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-package-'));
try {
  const systems = values.suite.map((suite): [Suite, DebianFolder] => {
    if (!(suite in SUITES))
      throw new UserError(`--suite is one of ${Object.keys(SUITES).join(', ')}; ${suite} is not`);
    return [suite as Suite, DebianFolder.make(suite, path.join(cacheFolder(), 'debian'))];
  });
  const inputs = gather(path.join(root, 'inputs'), [...new Set([...values.node, FULL_DEMO])]);
  for (const resolution of Object.keys(RESOLUTIONS) as Resolution[]) {
    inputs.installed.compile(resolution);
    say(`types hold with moduleResolution ${resolution}`);
  }
  fs.chmodSync(root, 0o755);
  for (const [suite, system] of systems) {
    refusePrograms(system);
    for (const version of values.node)
      say(`${SUITES[suite]}, Node ${version}: ${tryOn(system, version, inputs)}`);
  }
  const twelve = systems.find(([suite]) => suite === 'bookworm')?.[1];
  if (values.docker && twelve) {
    const text = tryDockerfile(path.join(ROOT, 'packaging/Dockerfile'), twelve, inputs, ['doctor', '--json']);
    say(`Dockerfile: its steps run; hsn doctor: ${describedEngine(text)}`);
  }
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  fs.rmSync(root, { recursive: true, force: true });
}
