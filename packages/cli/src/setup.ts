import type { Command } from 'commander';

const examples = `
Examples:
  $ hsn setup                          find or install libtorch, and build the addon for it
  $ HSN_LIBTORCH=system hsn setup      install no packages: use only the libtorch of the system
  $ HSN_LIBTORCH=pip hsn setup         the PyTorch of python3
  $ HSN_LIBTORCH=/opt/libtorch hsn setup

In a checkout npm install does this by itself, unless scripts were off (--ignore-scripts, pnpm) or HSN_LIBTORCH=none. As a
dependency it installs nothing on the system, unless HSN_LIBTORCH=apt: it builds where a libtorch is there. Where HSN_LIBTORCH
says nothing, python3's PyTorch is taken, then the system's; then apt-get installs it, on Debian and Ubuntu as root.
HSN_LIBTORCH=apt is the system's, installed where it is missing; LIBTORCH names the folder of a libtorch too. What was
built is kept in the cache folder (HSN_CACHE, ~/.cache/hsn), so that a second install takes seconds.
`;

export function register(program: Command): void {
  program
    .command('setup')
    .description('find or install libtorch and build the engine, as npm install does in a checkout')
    .addHelpText('after', examples)
    .action(async () => {
      const { setUpEngine } = await import('@hidden-schema/torch/setup');
      if (!(await setUpEngine())) process.exitCode = 1;
    });
}
