import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { fileCrc, fileHash, type PrebuiltFile } from '../../packages/torch/src/engine-files.ts';
import { faultsOf, ownLibraries } from './requirements.ts';

/** Why each file is in the package; one that is not listed is refused, so that none comes in unnoticed. */
const REASONS: readonly [RegExp, string][] = [
  [/^torch\.node$/, 'the addon: Node-API functions over libtorch, fused operators, groups of processes'],
  [/^hsn\.so$/, 'operators of Hidden Schema Networks: walks, links, pair sums'],
  [/^lock\.node$/, 'locks on files, without libtorch, so that short commands start at once'],
  [
    /^libtorch_cpu\./,
    'libtorch: operators, autograd, Gloo, with MKL (x64) and oneDNN inside; the addon links it',
  ],
  [/^libc10\./, 'libtorch: memory of tensors, types, errors; the addon and libtorch_cpu link it'],
  [/^libgomp\.so/, 'OpenMP threads of libtorch and of the addon; minimal systems have none'],
  [/^libomp\.dylib$/, 'OpenMP threads of libtorch; macOS has none'],
  [/^lib(?:arm_compute|gfortran|openblas|quadmath)/, 'matrix products of libtorch_cpu on this processor'],
];

export function reasonFor(name: string): string {
  const reason = REASONS.find(([pattern]) => pattern.test(name))?.[1];
  if (reason === undefined)
    throw new UserError(
      `${name} is needed by the engine, and packaging/engine/contents.ts gives no reason for it`,
    );
  return reason;
}

/** Copies built files, and the libraries that they need out of `libraries`, into a folder; strips and checks them. */
export function collect(
  built: readonly string[],
  libraries: readonly string[],
  out: string,
  platform: NodeJS.Platform = process.platform,
): PrebuiltFile[] {
  fs.mkdirSync(out, { recursive: true });
  const names: string[] = [];
  const take = (file: string): void => {
    const name = path.basename(file);
    if (names.includes(name)) return;
    names.push(name);
    const to = path.join(out, name);
    fs.copyFileSync(fs.realpathSync(file), to);
    strip(to, platform);
    for (const library of ownLibraries(to, platform))
      if (!names.includes(library)) take(found(library, libraries, name));
  };
  for (const file of built) take(file);
  if (platform === 'linux') refuseFaults(out, names);
  return names.sort().map((name) => {
    const file = path.join(out, name);
    return {
      name,
      bytes: fs.statSync(file).size,
      sha256: fileHash(file),
      crc32: fileCrc(file),
      why: reasonFor(name),
    };
  });
}

function found(library: string, folders: readonly string[], by: string): string {
  const file = folders.map((folder) => path.join(folder, library)).find((one) => fs.existsSync(one));
  if (file === undefined)
    throw new UserError(`${by} needs ${library}, which is not in ${folders.join(', ')}`);
  return file;
}

/** Removes symbols for debugging and linking, which nothing reads at run time. */
function strip(file: string, platform: NodeJS.Platform): void {
  fs.chmodSync(file, 0o755);
  if (platform !== 'darwin') {
    execFileSync('strip', [file]);
    return;
  }
  execFileSync('strip', ['-x', file], { stdio: ['ignore', 'ignore', 'ignore'] });
  // A signature covers every byte, and macOS loads nothing without one.
  execFileSync('codesign', ['--force', '--sign', '-', file], { stdio: ['ignore', 'ignore', 'ignore'] });
}

function refuseFaults(folder: string, names: readonly string[]): void {
  const faults = names.flatMap((name) =>
    faultsOf(path.join(folder, name), names).map((fault) => `${name} ${fault}`),
  );
  if (faults.length > 0) throw new UserError(`the engine does not run everywhere:\n  ${faults.join('\n  ')}`);
}
