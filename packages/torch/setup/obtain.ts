import { join } from 'node:path';
import { ensureBlas, installLibtorch } from './apt.ts';
import { choiceOf, mayInstall, onlyFound } from './choice.ts';
import { archiveUrl, downloadLibtorch, hashRemedy } from './download.ts';
import { again, type Progress, SetupError } from './fault.ts';
import { findLibtorch, type Libtorch, systemLibtorch, wanted } from './find.ts';
import { isDebian, isMusl, libraryFile, type Machine } from './machine.ts';

/** Finds libtorch, or installs it from the distribution, or downloads the official archive. */
export async function obtainLibtorch(
  machine: Machine,
  archiveRoot: string,
  progress: Progress,
): Promise<Libtorch> {
  const { libtorch, faults } = await findLibtorch(machine, archiveRoot);
  for (const fault of faults) progress.say(`passed over: ${fault.message}: ${fault.found}`);
  if (libtorch) {
    if (isMusl(machine) && (await needsGlibc(machine, libtorch))) throw foreignLibrary(libtorch.root);
    await ensureBlas(machine, libtorch, progress);
    return libtorch;
  }
  const installed = mayInstall(machine) ? await fromApt(machine, progress) : undefined;
  if (installed && !(installed instanceof SetupError)) return installed;
  // The user who states the archive's hash has asked for the archive.
  if (machine.env.HSN_LIBTORCH_SHA256 && !onlyFound(machine))
    return downloadLibtorch(machine, archiveRoot, progress);
  throw installed ?? faults.at(-1) ?? nothingFound(machine);
}

async function needsGlibc(machine: Machine, { libDirs }: Libtorch): Promise<boolean> {
  const files = libDirs.map((dir) => join(dir, libraryFile(machine, 'torch_cpu')));
  return (await machine.run('grep', ['-q', 'libc\\.so\\.6', ...files])).code === 0;
}

/** Where the C library is musl, libtorch's own builds do not load. */
function foreignLibrary(root?: string): SetupError {
  const found =
    root === undefined ? 'musl, as on Alpine, and no libtorch' : `musl, and a libtorch for glibc in ${root}`;
  return new SetupError(
    'this system’s C library is musl',
    `glibc, which libtorch’s builds are made for, or a libtorch built for musl`,
    found,
    [
      'use an image with glibc (Debian, Ubuntu, Fedora), such as node:22-bookworm in place of node:22-alpine',
      `set HSN_LIBTORCH to the folder of a libtorch built for musl, ${again}`,
    ],
  );
}

async function fromApt(machine: Machine, progress: Progress): Promise<Libtorch | SetupError> {
  const fault = await installLibtorch(machine, progress);
  if (fault) return fault;
  const seen = systemLibtorch(machine);
  if (seen instanceof SetupError) return seen;
  if (seen) return { ...seen, origin: 'apt' };
  const found = 'apt-get ended well, but no libtorch is under /usr';
  return new SetupError('libtorch is not where it should be', wanted, found, `pip install torch, ${again}`);
}

function nothingFound(machine: Machine): SetupError {
  if (isMusl(machine)) return foreignLibrary();
  const debian = isDebian(machine);
  const choice = choiceOf(machine);
  if (choice === 'pip') return noPython();
  const reason = !debian
    ? 'none, and this is not Debian or Ubuntu, where apt-get has it'
    : onlyFound(machine)
      ? `none, and HSN_LIBTORCH=${choice} keeps apt-get from installing it`
      : machine.isRoot
        ? 'none, and as a dependency nothing is installed on the system'
        : 'none, and only root may install it with apt-get';
  const looked =
    choice === 'system' || choice === 'apt' ? 'the system’s' : '$LIBTORCH, python3’s torch, the system’s';
  return new SetupError('libtorch is missing', `${wanted} (${looked})`, reason, [
    ...(debian ? [`sudo apt-get install libtorch-dev libopenblas0-pthread, ${again}`] : []),
    `pip install torch, ${again}`,
    `set LIBTORCH to the folder of an unpacked libtorch, ${again}`,
    ...(archiveUrl(machine) && !onlyFound(machine) ? [hashRemedy(machine)] : []),
  ]);
}

function noPython(): SetupError {
  const found = 'none, and HSN_LIBTORCH=pip keeps set-up from looking elsewhere';
  return new SetupError('python3 has no PyTorch', `${wanted}, as python3’s torch`, found, [
    `pip install torch for the python3 on the PATH, ${again}`,
    `unset HSN_LIBTORCH to look elsewhere, ${again}`,
  ]);
}
