import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { cacheFolder, UserError } from '@hidden-schema/base';
import { showProgress } from '../packages/torch/setup/fault.ts';
import { hostMachine } from '../packages/torch/setup/machine.ts';
import { here, setup } from '../packages/torch/setup/main.ts';

/** The engine built for another libtorch, beside the checkout's own: a folder's, or that of the peers' PyTorch. */
export async function addonFor(libtorch: string, python: string | undefined): Promise<string> {
  const folder = libtorch === 'pip' ? torchOf(python) : resolve(libtorch);
  const key = createHash('sha256').update(`${here.native}\n${folder}`).digest('hex').slice(0, 16);
  const places = { ...here, build: join(cacheFolder(), 'bench-engine', key) };
  const machine = hostMachine({ env: { ...process.env, HSN_LIBTORCH: folder } });
  await setup(machine, places, showProgress(process.stderr));
  return join(places.build, 'torch.node');
}

function torchOf(python: string | undefined): string {
  if (python === undefined)
    throw new UserError(
      '--libtorch pip takes the PyTorch of the peers, and there are none; --peers pip installs them',
    );
  const find = 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])';
  const { status, stdout } = spawnSync(python, ['-c', find], { encoding: 'utf8' });
  if (status !== 0) throw new UserError(`${python} has no PyTorch to build with`);
  return stdout.trim();
}
