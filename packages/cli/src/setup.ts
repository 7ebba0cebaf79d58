import type { Command } from 'commander';

const examples = `
Examples:
  $ hsn setup                          check the prebuilt engine; without one, find or install libtorch and compile
  $ HSN_LIBTORCH=system hsn setup      compile for the libtorch of the system, and install no packages
  $ HSN_LIBTORCH=pip hsn setup         for the PyTorch of python3
  $ HSN_LIBTORCH=/opt/libtorch hsn setup
  $ HSN_LIBTORCH=prebuilt hsn setup    the prebuilt engine or none

Where npm installed a prebuilt engine for this platform, it is used and nothing is compiled. HSN_LIBTORCH asks for another
libtorch; later starts keep to what was compiled for it, until hsn setup runs without HSN_LIBTORCH. Without a prebuilt
engine, python3's PyTorch is taken, then the system's; then apt-get installs it, on Debian and Ubuntu as root.
HSN_LIBTORCH=apt is the system's, installed where it is missing; LIBTORCH names the folder of a libtorch too. In a checkout
npm install does all this by itself, unless scripts were off or HSN_LIBTORCH=none. What was built is kept in the cache
folder (HSN_CACHE, ~/.cache/hsn), so that a second build takes seconds.
`;

export function register(program: Command): void {
  program
    .command('setup')
    .description('check the prebuilt engine, or find or install libtorch and compile one')
    .addHelpText('after', examples)
    .action(async () => {
      const { setUpEngine } = await import('@hidden-schema/torch/setup');
      if (!(await setUpEngine())) process.exitCode = 1;
    });
}
