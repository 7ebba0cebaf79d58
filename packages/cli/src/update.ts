import type { Command } from 'commander';
import { edit } from './merge.ts';
import { progressOf } from './analysis.ts';
import { print, say } from './terminal.ts';

const examples = `
Examples:
  $ hsn update run more.tsv       texts as those before have them: the same columns
  $ hsn undo run                  takes it back

Symbols keep their numbers and names; only the added texts are encoded. A theme that the added texts have and those before
had not becomes a new symbol after the last, which is announced. The run remembers where the file is and reads it from
there, as it does its corpus.
`;

export function register(program: Command): void {
  program
    .command('update')
    .summary('add texts to a run')
    .description('Add more texts to a run, without discovering its symbols again.')
    .argument('<run>', 'run folder')
    .argument('<file>', 'texts to add')
    .addHelpText('after', examples)
    .action(update);
}

async function update(directory: string, file: string): Promise<void> {
  const { plainText } = await import('@hidden-schema/base');
  const { updateRun } = await import('@hidden-schema/studies');
  const vectors = await progressOf('encode', 'texts');
  const lines: string[] = [];
  let themes: readonly { symbol: number; texts: number }[] = [];
  await edit(directory, async ({ signal }) => {
    const onNote = (text: string) => say(`${plainText(text)}\n`);
    const made = await updateRun(directory, file, { signal, onProgress: vectors.onProgress, onNote }).finally(
      vectors.done,
    );
    themes = made.themes;
    lines.push(`${(100 * made.kept).toFixed(1)} % of the texts before are nearest to the same symbol`);
    return made;
  });
  if (lines.length === 0) return;
  print(`${lines.join('\n')}\n${await announced(directory, themes)}`);
}

/** What new symbols mean, worked out now. */
async function announced(
  directory: string,
  themes: readonly { symbol: number; texts: number }[],
): Promise<string> {
  if (themes.length === 0) return 'no new theme\n';
  const { plainText } = await import('@hidden-schema/base');
  const { openRun, storedMeanings } = await import('@hidden-schema/studies');
  const run = await openRun(directory);
  try {
    const meanings = await storedMeanings(run);
    const lines = themes.map(({ symbol, texts }) => {
      const { name, words } = meanings[symbol]!;
      const told = words.slice(0, 6).map(({ word }) => word);
      return plainText(`new theme: symbol ${symbol}, ${name}, ${texts} added texts: ${told.join(' ')}`);
    });
    return `${lines.join('\n')}\n`;
  } finally {
    run.model.free();
  }
}
