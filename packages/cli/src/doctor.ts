import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import type { EngineInfo } from '@hidden-schema/torch';
import type { Command } from 'commander';
import { formatBytes, formatRows, paintFor, type Row } from './check-list.ts';
import { findWeights, missingWeights, type Problem, type Weights, weightLines } from './doctor-weights.ts';
import { anotherWouldBring, bfloat16Line, encoderLine, type Kernels, kernelsOf } from './kernels.ts';
import { print, printPainted, visible } from './terminal.ts';

/** What `hsn doctor --json` prints. */
export interface Diagnosis {
  readonly ok: boolean;
  readonly libtorch: { version: string | null; origin: string | null; path: string | null };
  /** The engine that npm installed ready-made, whether it is used, and why it is not. */
  readonly prebuilt: { name: string; version: string; used: boolean; reason: string | null } | null;
  readonly blas: string | null;
  readonly kernels: Kernels | null;
  /** What another libtorch would bring on this processor. */
  readonly another: readonly string[];
  readonly threads: number | null;
  readonly devices: readonly string[];
  /** Whether libtorch was built with CUDA; null where it does not load. */
  readonly cuda: boolean | null;
  readonly memory: { total_bytes: number; free_bytes: number };
  readonly disk: { path: string; free_bytes: number };
  readonly weights: readonly Weights[];
  readonly node: string;
  readonly problems: readonly Problem[];
}

export function register(program: Command): void {
  program
    .command('doctor')
    .description('check the installation: libtorch, kernels, threads, weights')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: boolean }) => {
      const diagnosis = await diagnose();
      if (options.json) print(`${JSON.stringify(diagnosis, null, 2)}\n`);
      else printPainted(describe(diagnosis));
      if (!diagnosis.ok) process.exitCode = 1;
    });
}

/** Looks at everything the engine needs; never throws because something is missing. */
export async function diagnose(): Promise<Diagnosis> {
  const built = await readBuildInfo();
  const engine = await loadEngine();
  const running = engine instanceof Error ? undefined : engine;
  const blas = running ? loadedBlas(readProc('self/maps'), running.config) : null;
  const { packedProductsHere } = await import('@hidden-schema/torch');
  const kernels = running ? kernelsOf(running.config, readProc('cpuinfo'), packedProductsHere()) : null;
  const weights = findWeights(process.cwd());
  const problems = [
    ...(engine instanceof Error ? [notWorking(engine)] : []),
    ...blasProblems(blas, running),
    ...missingWeights(weights),
  ];
  const limit = process.constrainedMemory();
  const total = limit > 0 && limit < totalmem() ? limit : totalmem();
  const disk = await statfs(process.cwd());
  return {
    ok: running !== undefined,
    libtorch: {
      version: running?.version ?? built.version,
      origin: built.origin,
      path: built.libDirs[0] ?? built.root,
    },
    prebuilt: built.prebuilt,
    blas,
    kernels,
    another: running && kernels ? anotherWouldBring(running.version, blas, kernels) : [],
    threads: running?.threads ?? null,
    devices: running?.devices ?? [],
    cuda: running?.cuda ?? null,
    memory: { total_bytes: total, free_bytes: Math.min(total, freemem()) },
    disk: { path: process.cwd(), free_bytes: disk.bavail * disk.bsize },
    weights,
    node: process.versions.node,
    problems,
  };
}

interface Built {
  readonly version: string | null;
  readonly origin: string | null;
  readonly root: string | null;
  readonly libDirs: readonly string[];
  readonly prebuilt: Diagnosis['prebuilt'];
}

async function readBuildInfo(): Promise<Built> {
  const { engineFiles, prebuiltBeside } = await import('@hidden-schema/torch');
  const { prebuilt: used, passedOver = null } = engineFiles();
  if (used) {
    const { name, version, libtorch } = used.manifest;
    const prebuilt = { name, version, used: true, reason: null };
    const folders = { root: used.folder, libDirs: [join(used.folder, 'lib')] };
    return { version: libtorch, origin: 'prebuilt', ...folders, prebuilt };
  }
  const other = prebuiltBeside()?.manifest;
  const reason = passedOver ?? 'HSN_ADDON names another';
  const prebuilt = other ? { name: other.name, version: other.version, used: false, reason } : null;
  return { ...(await readCompiled()), prebuilt };
}

async function readCompiled(): Promise<Omit<Built, 'prebuilt'>> {
  const { here } = await import('@hidden-schema/torch/setup');
  const nothing = { version: null, origin: null, root: null, libDirs: [] };
  try {
    const info: unknown = JSON.parse(readFileSync(join(here.build, 'info.json'), 'utf8'));
    return typeof info === 'object' && info !== null ? { ...nothing, ...info } : nothing;
  } catch {
    return nothing;
  }
}

async function loadEngine(): Promise<EngineInfo | Error> {
  try {
    const { engineInfo } = await import('@hidden-schema/torch');
    return engineInfo();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What the kernel says; nothing where it says nothing. */
function readProc(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** The BLAS in this process: by its file where it has one, else what libtorch says it was built with. */
export function loadedBlas(maps: string, config: string): string | null {
  const files = [...new Set(maps.match(/\/\S*$/gm))];
  // Debian's OpenBLAS calls itself libblas.so.3 too: its folder tells them apart.
  const known: readonly (readonly [string, RegExp])[] = [
    ['openblas', /openblas/i],
    ['mkl', /libmkl_/i],
    ['blis', /blis/i],
    ['accelerate', /Accelerate\.framework/],
    ['reference', /\/libblas\.so/],
  ];
  for (const [name, pattern] of known) if (files.some((file) => pattern.test(file))) return name;
  const stated = /BLAS_INFO=(\w+)/.exec(config)?.[1]?.toLowerCase();
  if (stated === 'open') return 'openblas';
  return stated ?? (/Math Kernel Library/.test(config) ? 'mkl' : null);
}

function notWorking(error: Error): Problem {
  const first = error.message.split('\n')[0]!;
  const what = error.name === 'EngineError' ? first : `the engine does not load: ${first}`;
  return { what, remedy: 'run npx hsn setup and follow what it says' };
}

function blasProblems(blas: string | null, engine: EngineInfo | undefined): Problem[] {
  if (!engine || (blas !== 'reference' && blas !== null)) return [];
  const what = blas ? 'libtorch uses the slow reference BLAS' : 'no BLAS was recognised';
  return [{ what, remedy: 'sudo apt-get install libopenblas0-pthread, or take another libtorch' }];
}

function describe(diagnosis: Diagnosis): string {
  const { libtorch, blas, threads, memory, disk, weights, ok, problems } = diagnosis;
  const paint = paintFor(process.stdout);
  const engine = ok ? 'yes' : 'no';
  const fast = !ok ? 'note' : blas === null || blas === 'reference' ? 'no' : 'yes';
  const place = libtorch.path ? [paint.faint(visible(libtorch.path))] : [];
  const rows: Row[] = [
    { mark: engine, name: 'libtorch', lines: [versionLine(diagnosis), ...place] },
    { mark: fast, name: 'BLAS', lines: [blas ?? 'unknown'] },
    ...kernelRows(diagnosis),
    { mark: ok ? 'yes' : 'note', name: 'threads', lines: [threads === null ? 'unknown' : String(threads)] },
    { mark: ok ? 'yes' : 'note', name: 'devices', lines: [devicesLine(diagnosis)] },
    { mark: 'yes', name: 'memory', lines: [freeOf(memory.free_bytes, memory.total_bytes)] },
    { mark: 'yes', name: 'disk', lines: [`${formatBytes(disk.free_bytes)} free in ${visible(disk.path)}`] },
    { mark: weights.length > 0 ? 'yes' : 'note', name: 'weights', lines: weightLines(weights) },
    { mark: 'yes', name: 'Node', lines: [diagnosis.node] },
  ];
  const advised = problems.map(({ what, remedy }) => {
    return `  ${paint.faint('→')} ${visible(what)}\n    ${paint.faint(visible(`do: ${remedy}`))}\n`;
  });
  const advice = advised.join('');
  const verdict = ok ? paint.good('The engine works.') : paint.bad('The engine does not work.');
  return `\n${formatRows(rows, paint)}\n${advice}${advice && '\n'}${verdict}\n`;
}

/** Where tensors can be: `--device` takes these. */
function devicesLine({ devices, cuda }: Diagnosis): string {
  if (devices.length === 0) return 'unknown';
  if (devices.length > 1) return devices.join(', ');
  return `${devices[0]}; CUDA: ${cuda ? 'no device (neither graphics card nor driver found)' : 'not in this libtorch'}`;
}

/** Which libtorch is used and where it came from, or why the one that npm installed is not. */
function versionLine({ libtorch, prebuilt }: Diagnosis): string {
  const whose = prebuilt ? `${prebuilt.name} ${prebuilt.version}` : '';
  const from = prebuilt?.used ? `prebuilt, ${whose}` : (libtorch.origin ?? 'origin unknown');
  const passed = prebuilt && !prebuilt.used ? `; not ${whose}: ${prebuilt.reason}` : '';
  return visible(`${libtorch.version ? `${libtorch.version} (${from})` : 'not built'}${passed}`);
}

/** Who computes what, and what another libtorch would change. */
function kernelRows({ kernels, another }: Diagnosis): Row[] {
  if (!kernels) return [];
  const { attention, update, vectors, onednn, bfloat16 } = kernels;
  const own = `libtorch's own operators: ${vectors ?? 'unknown'}${onednn ? `, oneDNN ${onednn}` : ''}`;
  const lines = [`attention: ${attention}`, `update: ${update}`, encoderLine(kernels), own];
  return [
    { mark: 'yes', name: 'kernels', lines },
    { mark: bfloat16.length > 0 ? 'yes' : 'note', name: 'bfloat16', lines: [bfloat16Line(kernels)] },
    { mark: 'note', name: 'another', lines: [...another] },
  ];
}

const freeOf = (free: number, total: number): string => `${formatBytes(free)} free of ${formatBytes(total)}`;
