import { ensureBlas, installLibtorch } from './apt.ts';
import { mayInstall, onlyFound } from './choice.ts';
import { archiveUrl, downloadLibtorch, hashRemedy } from './download.ts';
import { again, SetupError } from './fault.ts';
import { findLibtorch, isDebian, type Libtorch, systemLibtorch, wanted } from './find.ts';
import type { Machine } from './machine.ts';
import type { Progress } from './progress.ts';

/** Finds libtorch, or installs it from the distribution, or downloads the official archive. */
export async function obtainLibtorch(
  machine: Machine,
  archiveRoot: string,
  progress: Progress,
): Promise<Libtorch> {
  const { libtorch, faults } = await findLibtorch(machine, archiveRoot);
  for (const fault of faults) progress.say(`passed over: ${fault.message}: ${fault.found}`);
  if (libtorch) {
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
  const debian = isDebian(machine);
  const reason = !debian
    ? 'none, and this is not Debian or Ubuntu, where apt-get has it'
    : onlyFound(machine)
      ? `none, and HSN_LIBTORCH=${machine.env.HSN_LIBTORCH} keeps apt-get from installing it`
      : 'none, and only root may install it with apt-get';
  return new SetupError(
    'libtorch is missing',
    `${wanted} ($LIBTORCH, python3’s torch, the system’s)`,
    reason,
    [
      ...(debian ? [`sudo apt-get install libtorch-dev libopenblas0-pthread, ${again}`] : []),
      `pip install torch, ${again}`,
      `set LIBTORCH to the folder of an unpacked libtorch, ${again}`,
      ...(archiveUrl(machine) && !onlyFound(machine) ? [hashRemedy(machine)] : []),
    ],
  );
}
