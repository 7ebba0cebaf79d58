import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { SetupError } from '../../packages/torch/setup/fault.ts';
import { inspect, type Libtorch } from '../../packages/torch/setup/find.ts';
import type { Machine } from '../../packages/torch/setup/machine.ts';

/** pip's packages with libtorch and with the licence of the MKL inside it. */
export interface Wheel {
  readonly libtorch: Libtorch;
  /** Folder of the packages, `site-packages`. */
  readonly site: string;
}

/** Versions that a release is made of. */
export const PIP_PACKAGES = ['torch==2.13.0', 'onemkl-license==2025.3.0'];
const ask = 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])';

/** The CPU build of torch in a folder, or that of a Python. */
export function findWheel(machine: Machine, given: { torch?: string; python?: string }): Wheel {
  const folder = given.torch ?? (given.python === undefined ? undefined : torchOf(given.python));
  if (folder === undefined)
    throw new UserError(
      `npm run package needs pip's CPU build of torch: --python FILE, a Python with ${PIP_PACKAGES.join(' and ')}, or --torch FOLDER, its torch folder`,
    );
  const libtorch = inspect(machine, 'python', path.resolve(folder));
  if (libtorch === undefined || libtorch instanceof SetupError)
    throw new UserError(`${folder} is no libtorch: ${libtorch?.found ?? 'neither headers nor libraries'}`);
  if (libtorch.cuda)
    throw new UserError(`${folder} has CUDA, which makes the package gigabytes: take the CPU build`);
  return { libtorch, site: path.dirname(path.resolve(folder)) };
}

function torchOf(python: string): string {
  try {
    return execFileSync(python, ['-c', ask], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    throw new UserError(`${python} has no torch: ${python} -m pip install ${PIP_PACKAGES.join(' ')}`);
  }
}

/** The folder in which pip keeps what belongs to an installed package, its licences among it. */
export function distInfo(site: string, name: string): string | undefined {
  const folder = fs.readdirSync(site).find((entry) => new RegExp(`^${name}-[^-]+\\.dist-info$`).test(entry));
  return folder === undefined ? undefined : path.join(site, folder);
}
