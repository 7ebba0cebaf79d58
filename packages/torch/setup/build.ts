import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { cacheKey, forgetBuilt, keepBuilt, takeBuilt } from './cache.ts';
import {
  type Compiler,
  collectiveFlags,
  compile,
  failed,
  findCompiler,
  link,
  linkFlags,
  moduleFlags,
} from './compile.ts';
import { again, type Progress, SetupError } from './fault.ts';
import type { Libtorch } from './find.ts';
import type { Machine } from './machine.ts';
import { buildHash, type Places, sources, type Target, targetHash, targetsOf } from './targets.ts';

/** What the engine and `hsn doctor` read about the built addon. */
export interface BuildInfo extends Libtorch {
  readonly compiler: string;
  readonly hash: string;
  readonly builtAt: string;
  readonly seconds: number;
  /** The variable by which the user chose this libtorch; absent where set-up found it by itself. */
  readonly chosenBy?: string;
}

/** What one build is made with. */
interface Making {
  readonly machine: Machine;
  readonly places: Places;
  readonly libtorch: Libtorch;
  readonly compiler: Compiler;
  readonly progress: Progress;
  /** Folder for what is not yet known to load. */
  readonly work: string;
}

/** Compiles the addon and the libraries of operators; files are replaced only by those that load. */
export async function buildAddon(
  machine: Machine,
  places: Places,
  libtorch: Libtorch,
  { progress, expectedSeconds = 45 }: { progress: Progress; expectedSeconds?: number | undefined },
): Promise<BuildInfo> {
  const start = performance.now();
  const compiler = await findCompiler(machine);
  const targets = targetsOf(places);
  for (const { native } of targets)
    if (sources(machine, native, /\.cc$/).length === 0) throw noSources(native);
  const hash = buildHash(machine, places, libtorch);
  await mkdir(places.build, { recursive: true });
  const work = await mkdtemp(join(places.build, 'compiling-'));
  const making: Making = { machine, places, libtorch, compiler, progress, work };
  try {
    await make(making, targets, expectedSeconds);
    for (const { file } of targets) await rename(join(work, file), join(places.build, file));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  return { ...libtorch, compiler: compiler.version, hash, builtAt: new Date().toISOString(), seconds };
}

/** All files in the work folder: from earlier builds where there are some that load, else compiled. */
async function make(making: Making, targets: readonly Target[], expectedSeconds: number): Promise<void> {
  const { places, progress, work } = making;
  const taken: Target[] = [];
  for (const target of targets)
    if (places.cache && (await takeBuilt(places.cache, keyOf(making, target), join(work, target.file))))
      taken.push(target);
  const missing = targets.filter((target) => !taken.includes(target));
  if (missing.length > 0)
    await progress.during(`compiling the addon, about ${Math.round(expectedSeconds)} s`, () =>
      compileAll(making, missing),
    );
  const fault = await loadFault(making, targets);
  if (fault === undefined) {
    if (taken.length > 0)
      progress.say(`taken from an earlier build: ${taken.map(({ file }) => file).join(', ')}`);
    if (places.cache) for (const target of missing) await keep(making, places.cache, target);
    return;
  }
  if (taken.length === 0 || !places.cache) throw fault;
  for (const target of taken) await forgetBuilt(places.cache, keyOf(making, target));
  progress.say('what an earlier build left does not load: compiling anew');
  await make(making, targets, expectedSeconds);
}

function keyOf({ machine, places, libtorch, compiler }: Making, target: Target): string {
  return cacheKey(machine, targetHash(machine, places, libtorch, target), compiler.version, libtorch);
}

/** A cache that cannot be written costs the next install its time, and this one nothing. */
async function keep(making: Making, cache: string, target: Target): Promise<void> {
  try {
    await keepBuilt(cache, keyOf(making, target), join(making.work, target.file));
  } catch (error) {
    making.progress.say(`warning: the build is not kept for the next install: ${(error as Error).message}`);
  }
}

interface Source {
  readonly target: Target;
  readonly source: string;
  readonly object: string;
}

/** Every source of the targets, as many at a time as there are cores, the largest first; then the links. */
async function compileAll(
  { machine, places, libtorch, compiler, work }: Making,
  targets: readonly Target[],
): Promise<void> {
  const collectives = await collectiveFlags(machine, libtorch);
  const { flags = [] } = places.variant ?? {};
  const all = targets.flatMap((target) =>
    sources(machine, target.native, /\.cc$/).map((name): Source => {
      const object = join(work, `${target.file}-${basename(name, '.cc')}.o`);
      return { target, source: join(target.native, name), object };
    }),
  );
  const largestFirst = all.toSorted((a, b) => lengthOf(machine, b.source) - lengthOf(machine, a.source));
  await eachInTurn(largestFirst, availableParallelism(), ({ target, source, object }) => {
    const include = target.include.flatMap((folder) => ['-I', folder]);
    const further = [...include, ...flags];
    return compile(machine, [...compiler.command, ...collectives], libtorch, {
      source,
      object,
      flags: further,
    });
  });
  for (const target of targets) {
    const objects = all.filter((one) => one.target === target).map(({ object }) => object);
    const output = join(work, target.file);
    const libraries =
      target.kind === 'plain' ? moduleFlags(machine) : linkFlags(machine, libtorch, places.variant);
    await link(machine, [...compiler.command, ...flags], libtorch, { objects, output, libraries });
  }
}

/** Characters of a source and of the headers beside it that it names. */
function lengthOf(machine: Machine, source: string): number {
  const text = machine.read(source) ?? '';
  const headers = [...text.matchAll(/^#include "([^"]+)"/gm)].map(([, name]) => join(dirname(source), name!));
  return headers.reduce((sum, header) => sum + (machine.read(header)?.length ?? 0), text.length);
}

/** Runs `body` for every item, as many at a time as there are cores: a compiler of libtorch's headers takes 0.7 GB. */
async function eachInTurn<T>(
  items: readonly T[],
  atOnce: number,
  body: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const work = async (): Promise<void> => {
    for (const item of waiting) await body(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
}

const loader = `const [addon, ...others] = process.argv.slice(1);
for (const file of others)
  if (file.endsWith('.node')) require(file);
  else require(addon).loadOperators(file, require('node:path').basename(file, '.so'));
require(addon);`;

/** Why the files do not load, tried in a process of their own. */
async function loadFault(
  { machine, places, libtorch, work }: Making,
  targets: readonly Target[],
): Promise<SetupError | undefined> {
  const files = targets.map(({ file }) => join(work, file));
  const { env = {} } = places.variant ?? {};
  const run = await machine.run(process.execPath, ['-e', loader, ...files], { env });
  if (run.code === 0) return undefined;
  return failed('the addon was built but does not load', run.output, libtorch);
}

function noSources(folder: string): SetupError {
  return new SetupError('the addon’s sources are missing', `*.cc in ${folder}`, 'none', [
    `take the whole repository (git status shows what is gone), ${again}`,
  ]);
}
