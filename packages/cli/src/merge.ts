import type { SymbolEdit } from '@hidden-schema/studies';
import type { Command } from 'commander';
import { progressOf } from './analysis.ts';
import { stoppable } from './stopping.ts';
import { print } from './terminal.ts';

const examples = `
Examples:
  $ hsn merge run 3 17            17 becomes part of 3
  $ hsn merge run 3 17 22 40
  $ hsn undo run                  takes it back

The merged symbol has the lowest of the numbers, points where the texts of all of them do and has all their links. The
last symbols move into the numbers that became free, under their names; walks, words and figures follow. A decoder that
was trained goes on: it reads symbols as vectors. hsn symbols run --levels 5,10,20 shows what would go together.
`;

export function register(program: Command): void {
  program
    .command('merge')
    .summary('make one symbol of several')
    .description('Make one symbol of several, without training.')
    .argument('<run>', 'run folder')
    .argument('<symbols...>', 'their numbers or names, two or more')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(merge);
}

async function merge(directory: string, symbols: string[], flags: EditFlags): Promise<void> {
  const { mergeSymbols } = await import('@hidden-schema/studies/analysis/edits');
  const { runSymbols, symbolNamed } = await import('@hidden-schema/studies/analysis/names');
  const numbers = symbols.map((symbol) => symbolNamed(symbol, directory, runSymbols(directory)));
  await edit(directory, flags, (watch) => mergeSymbols(directory, numbers, watch));
}

export interface EditFlags {
  json?: boolean;
}

interface Watch {
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/** Does an edit, and says what it did. */
export async function edit(
  directory: string,
  { json }: EditFlags,
  body: (watch: Watch) => Promise<SymbolEdit>,
): Promise<void> {
  const { plainText } = await import('@hidden-schema/base');
  const { onProgress, done } = await progressOf('read', 'sentences');
  const made = await stoppable((signal) => body({ signal, onProgress }).finally(done), 'result');
  if (!made) return;
  if (json) return print(`${JSON.stringify(made, null, 2)}\n`);
  const { what, symbols, renumbered, undoable } = made;
  const moved = renumbered.map(([before, now]) => `symbol ${before} is ${now} now\n`).join('');
  const edits = undoable === 1 ? 'it' : `${undoable} edits`;
  print(`${plainText(what)}\n${moved}${symbols} symbols; hsn undo ${directory} takes ${edits} back\n`);
}
