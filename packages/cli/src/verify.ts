import type { Command } from 'commander';
import { print } from './terminal.ts';

const examples = `
Examples:
  $ hsn verify run
  $ hsn verify run --json

Every file of every checkpoint, and every other file that answers are made of, is compared with the sha256 sums that were
written with it; lines of metrics and events have checksums of their own. The exit code is 0 where all is well, 1 where something is not.
`;

export function register(program: Command): void {
  program
    .command('verify')
    .summary('check every file of a run')
    .description('Check every hash of a run, and that everything else in it can be read.')
    .argument('<run>', 'run folder')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(verify);
}

async function verify(directory: string, flags: { json?: boolean }): Promise<void> {
  const { verifyRun } = await import('@hidden-schema/hsn/run/run-summary');
  const verification = verifyRun(directory);
  const { checked, faults, notes } = verification;
  if (faults.length > 0) process.exitCode = 1;
  if (flags.json) return print(`${JSON.stringify(verification, null, 2)}\n`);
  const checkpoints = checked.filter((name) => name.startsWith('checkpoints/step-')).length;
  const other = checked.length - checkpoints;
  const verdict = faults.length === 0 ? 'all as written' : `${faults.length} damaged`;
  const lines = [
    ...notes.map((note) => `note: ${note}`),
    ...faults,
    `${directory}: ${checkpoints} checkpoints and ${other} other files checked, ${verdict}`,
  ];
  print(`${lines.join('\n')}\n`);
}
