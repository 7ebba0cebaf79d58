// npm run package -- --python FILE    makes the packages to publish as tarballs in packaging/out: hidden-schema-networks,
//                                     and the engine for this machine with the libtorch of a Python's torch (CPU build)
// npm run package -- --torch FOLDER   the same with the torch folder of a wheel
// npm run package -- … --fresh        compiles the addon anew, also where the cache has it
// Prints each file of the engine with its size and why it is in, then the tarballs with their SHA-256.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { UserError } from '@hidden-schema/base';
import { SetupError, showProgress } from '../../packages/torch/setup/fault.ts';
import { hostMachine } from '../../packages/torch/setup/machine.ts';
import { buildPackage } from '../build.ts';
import { ENGINE_LIMIT, OUT, TARBALLS } from '../packages.ts';
import { makeEngine, megabytes } from './make.ts';
import { pack, type Tarball } from './pack.ts';
import { findWheel } from './wheel.ts';

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      python: { type: 'string' },
      torch: { type: 'string' },
      out: { type: 'string', default: TARBALLS },
      fresh: { type: 'boolean', default: false },
    },
  });
  const machine = hostMachine();
  const { torch, python, fresh } = values;
  const wheel = findWheel(machine, { ...(torch ? { torch } : {}), ...(python ? { python } : {}) });
  const folder = path.join(path.resolve(values.out), `engine-${machine.platform}-${machine.arch}`);
  const progress = showProgress(process.stderr);
  const { files, libtorch } = await makeEngine({ machine, wheel, progress, fresh }, folder);
  say(`libtorch ${libtorch}:`);
  for (const { name, bytes, why } of files)
    say(`${megabytes(bytes).padStart(7)} MB  ${name.padEnd(17)} ${why}`);
  const engine = pack(folder, values.out);
  tell(engine);
  if (engine.bytes > ENGINE_LIMIT)
    throw new UserError(
      `the engine is ${megabytes(engine.bytes)} MB packed, more than ${megabytes(ENGINE_LIMIT)}`,
    );
  await buildPackage();
  tell(pack(OUT, values.out));
}

function tell({ file, bytes, sha256 }: Tarball): void {
  say(`${megabytes(bytes).padStart(7)} MB  ${path.basename(file)}  sha256 ${sha256}`);
}

try {
  await main();
} catch (error) {
  if (error instanceof SetupError) process.stderr.write(`${error.explain()}\n`);
  else if (error instanceof UserError) process.stderr.write(`${error.message}\n`);
  else throw error;
  process.exitCode = 1;
}
