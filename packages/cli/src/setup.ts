import type { Command } from 'commander';

const examples = `
Examples:
  $ hsn setup                          find or install libtorch, and build the addon for it
  $ HSN_LIBTORCH=system hsn setup      install no packages: use only the libtorch that is found

npm install does this by itself, unless scripts were off (--ignore-scripts, pnpm) or HSN_LIBTORCH=none. HSN_LIBTORCH=apt
lets apt-get install libtorch, as is usual on Debian and Ubuntu as root. LIBTORCH names the folder of a libtorch.
`;

export function register(program: Command): void {
  program
    .command('setup')
    .description('find or install libtorch and build the engine, as npm install does')
    .addHelpText('after', examples)
    .action(async () => {
      const { setUpEngine } = await import('@hidden-schema/torch/setup');
      if (!(await setUpEngine())) process.exitCode = 1;
    });
}
