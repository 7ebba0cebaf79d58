import type { Command } from 'commander';
import { type EditFlags, edit } from './merge.ts';

const examples = `
Examples:
  $ hsn split run 8
  $ hsn undo run                  takes it back

The texts that begin with the symbol fall into two clusters: the larger keeps the number, the other becomes a new symbol
after the last. Links from and to both are those that texts travel; all other symbols and links stay as they are.
`;

export function register(program: Command): void {
  program
    .command('split')
    .summary('make two symbols of one')
    .description('Make two symbols of one, without training.')
    .argument('<run>', 'run folder')
    .argument('<symbol>', 'its number or name')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(split);
}

async function split(directory: string, symbol: string, flags: EditFlags): Promise<void> {
  const { runSymbols, symbolNamed } = await import('@hidden-schema/studies/analysis/names');
  const { splitSymbol } = await import('@hidden-schema/studies/analysis/edits');
  const number = symbolNamed(symbol, directory, runSymbols(directory));
  await edit(directory, flags, (watch) => splitSymbol(directory, number, watch));
}
