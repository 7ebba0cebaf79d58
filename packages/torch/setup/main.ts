import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '@hidden-schema/base';
import { type BuildInfo, buildAddon } from './build.ts';
import { type Choice, choiceOf, chosenBy, isDependency, namedFolder } from './choice.ts';
import { again, type Progress, SetupError, showProgress } from './fault.ts';
import { inspect, type Libtorch, type Origin } from './find.ts';
import { hostMachine, type Machine } from './machine.ts';
import { obtainLibtorch } from './obtain.ts';
import { type Offered, takePrebuilt } from './prebuilt.ts';
import { buildHash, operatorsBeside, type Places, targetsOf } from './targets.ts';

/** The ordinary build. */
export const here: Places = {
  native: fileURLToPath(new URL('../native', import.meta.url)),
  build: fileURLToPath(new URL('../build', import.meta.url)),
  operators: operatorsBeside(fileURLToPath(new URL('..', import.meta.url))),
  plain: { lock: fileURLToPath(new URL('../native/lock', import.meta.url)) },
  cache: join(cacheFolder(), 'engine'),
};

/** Sees to it that the addon is built for the libtorch of this machine, or for one that is known already. */
export async function setup(
  machine: Machine,
  places: Places,
  progress: Progress,
  given?: BuildInfo,
): Promise<BuildInfo> {
  // A wrong word is told even where there is nothing to choose.
  choiceOf(machine);
  const stored = await storedInfo(places);
  const known = stored && stillThere(machine, stored) ? stored : undefined;
  const chosen = chosenBy(machine);
  if (known && upToDate(machine, places, known)) {
    progress.say(`libtorch ${known.version} (${known.origin}), addon up to date`);
    return known.chosenBy === chosen ? known : storeInfo(places, withChoice(known, chosen));
  }
  const from = known ?? given;
  const libtorch: Libtorch = from
    ? onlyLibtorch(from)
    : await obtainLibtorch(machine, join(places.build, 'libtorch'), progress);
  const by = chosen === undefined ? '' : `, chosen by ${chosen}`;
  progress.say(`libtorch ${libtorch.version} (${libtorch.origin}) in ${libtorch.root}${by}`);
  const info = await buildAddon(machine, places, libtorch, {
    progress,
    expectedSeconds: stored?.seconds,
  });
  progress.say(`addon built in ${info.seconds} s`);
  return storeInfo(places, withChoice(info, chosen));
}

/** A build with who chose its libtorch, by which a later start prefers it to a prebuilt engine. */
function withChoice({ chosenBy: _, ...info }: BuildInfo, chosen: string | undefined): BuildInfo {
  return chosen === undefined ? info : { ...info, chosenBy: chosen };
}

/** True when the stored build is of these sources and flags and this libtorch. */
export function upToDate(machine: Machine, places: Places, info: BuildInfo): boolean {
  const there = targetsOf(places).every(({ file }) => machine.exists(join(places.build, file)));
  return there && buildHash(machine, places, info) === info.hash;
}

/** Whether the libtorch built against is unchanged, asked of files alone: python3 would take a second. */
function stillThere(machine: Machine, info: BuildInfo): boolean {
  const named = namedFolder(machine);
  if (named ? named.folder !== info.root : !allowed(choiceOf(machine), info.origin)) return false;
  const seen = inspect(machine, info.origin, info.root, info);
  return seen !== undefined && !(seen instanceof SetupError) && seen.version === info.version;
}

/** Whether a libtorch that came from there is one the user may mean. */
function allowed(choice: Choice | undefined, origin: Origin): boolean {
  if (choice === 'pip') return origin === 'python';
  return (choice !== 'system' && choice !== 'apt') || origin === 'system' || origin === 'apt';
}

function onlyLibtorch(info: BuildInfo): Libtorch {
  const { version, origin, root, includeDirs, libDirs, cuda, abi } = info;
  return { version, origin, root, includeDirs, libDirs, cuda, ...(abi === undefined ? {} : { abi }) };
}

async function storedInfo(places: Places): Promise<BuildInfo | undefined> {
  try {
    const info: unknown = JSON.parse(await readFile(join(places.build, 'info.json'), 'utf8'));
    return isBuildInfo(info) ? info : undefined;
  } catch {
    return undefined;
  }
}

function isBuildInfo(info: unknown): info is BuildInfo {
  if (typeof info !== 'object' || info === null) return false;
  const { version, origin, root, hash, includeDirs, libDirs, seconds } = info as Record<string, unknown>;
  const texts = [version, origin, root, hash].every((value) => typeof value === 'string');
  const lists = [includeDirs, libDirs].every(
    (value) => Array.isArray(value) && value.every((dir) => typeof dir === 'string'),
  );
  return texts && lists && typeof seconds === 'number';
}

async function storeInfo(places: Places, info: BuildInfo): Promise<BuildInfo> {
  const part = join(places.build, `info.json.${process.pid}`);
  await writeFile(part, `${JSON.stringify(info, null, 2)}\n`);
  await rename(part, join(places.build, 'info.json'));
  return info;
}

/** Sets up the engine: the prebuilt one where it is installed and the user names no other, else a compiled one. */
export async function prepare(
  machine: Machine,
  places: Places,
  progress: Progress,
  offered?: Offered,
): Promise<void> {
  const prebuilt = takePrebuilt(machine, offered);
  if (prebuilt === undefined) {
    await setup(machine, places, progress);
    return;
  }
  const stored = await storedInfo(places);
  if (stored?.chosenBy !== undefined) await storeInfo(places, withChoice(stored, undefined));
  const { name, version, libtorch } = prebuilt.manifest;
  progress.say(`libtorch ${libtorch} (prebuilt, ${name} ${version}), nothing to compile`);
}

/** Sets up the engine of this program on this computer; a fault is told on stderr. True when the engine is there. */
export async function setUpEngine(machine: Machine = hostMachine()): Promise<boolean> {
  try {
    await prepare(machine, here, showProgress(process.stdout));
    return true;
  } catch (error) {
    const unforeseen = (): SetupError =>
      new SetupError(
        'set-up stopped',
        'no error',
        error instanceof Error ? error.message : String(error),
        `see to that, ${again}`,
      );
    process.stderr.write(`${(error instanceof SetupError ? error : unforeseen()).explain()}\n`);
    return false;
  }
}

/**
 * After `npm install`: what the engine lacks is told, and does not undo what npm has installed. As a dependency it installs
 * nothing on the system, since npm shows nobody what a dependency's scripts say.
 */
async function install(): Promise<void> {
  if (process.env.HSN_LIBTORCH === 'none') {
    process.stdout.write('HSN_LIBTORCH=none: the engine is not built; npx hsn setup builds it\n');
    return;
  }
  const own = fileURLToPath(import.meta.url);
  const checkout = fileURLToPath(new URL('../../..', import.meta.url));
  const installs = !isDependency(own, checkout, process.env);
  if (!(await setUpEngine(hostMachine({ installs }))))
    process.stderr.write('npm has installed all packages; only the engine is missing: npx hsn setup\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--install') await install();
  else if (!(await setUpEngine())) process.exitCode = 1;
}
