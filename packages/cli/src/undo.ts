import type { Command } from 'commander';
import { print } from './terminal.ts';

const examples = `
Examples:
  $ hsn undo run                  takes the last merge, split, update or naming back
  $ hsn undo run --list           what could be taken back, the last first

Everything is as it was before, figures and analyses included; names that you gave since stay with their symbols.
`;

export function register(program: Command): void {
  program
    .command('undo')
    .summary('take the last merge, split, update or naming back')
    .description('Take the last edit of a run back; again and again up to the run as it was trained.')
    .argument('<run>', 'run folder')
    .option('--list', 'only list what could be taken back')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(undo);
}

async function undo(directory: string, flags: { list?: boolean; json?: boolean }): Promise<void> {
  const { plainText } = await import('@hidden-schema/base');
  const { plainJson } = await import('@hidden-schema/studies/analysis/results');
  const { runEdits, undoEdit } = await import('@hidden-schema/studies/analysis/edits');
  if (flags.list) {
    const edits = runEdits(directory).reverse();
    if (flags.json) return print(plainJson(edits.map(({ made, what }) => ({ made, what }))));
    print(edits.map(({ made, what }) => `${made}  ${plainText(what)}\n`).join('') || 'no edits\n');
    return;
  }
  const { undone, symbols, undoable } = await undoEdit(directory);
  if (flags.json) return print(plainJson({ undone, symbols, undoable }));
  const left = undoable === 0 ? '' : `, ${undoable} more can be undone`;
  print(`undone: ${plainText(undone)}\n${symbols} symbols${left}\n`);
}
