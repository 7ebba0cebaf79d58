import type { Command } from 'commander';
import { print } from './terminal.ts';

const examples = `
Examples:
  $ hsn rename run 17 "complaints about service"
  $ hsn rename run 17 ""          takes the name away

Names are stored in the run (names.json) and shown wherever the symbol appears: tables, figures, exports, the explorer.
`;

export function register(program: Command): void {
  program
    .command('rename')
    .summary('name a symbol')
    .description('Give a symbol a name of your own.')
    .argument('<run>', 'run folder')
    .argument('<symbol>', 'its number or name')
    .argument('<name>', 'its name; an empty one takes it away')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(rename);
}

async function rename(
  directory: string,
  symbol: string,
  name: string,
  { json }: { json?: boolean },
): Promise<void> {
  const { renameSymbol, runSymbols, symbolNamed } = await import('@hidden-schema/studies/names');
  const number = symbolNamed(symbol, directory, runSymbols(directory));
  const now = renameSymbol(directory, number, name);
  if (json) return print(`${JSON.stringify({ symbol: number, name: now })}\n`);
  print(now === null ? `symbol ${number} has no name now\n` : `symbol ${number} is now "${now}"\n`);
}
