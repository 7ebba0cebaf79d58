import type { Command } from 'commander';
import { progressOf } from './analysis.ts';
import { type EditFlags, edit } from './merge.ts';
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
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(update);
}

async function update(directory: string, file: string, flags: EditFlags): Promise<void> {
  const { plainText } = await import('@hidden-schema/base');
  const { updateRun } = await import('@hidden-schema/studies/analysis/edits');
  const vectors = await progressOf('encode', 'texts');
  const onNote = (text: string) => say(`${plainText(text)}\n`);
  await edit(directory, flags, async ({ signal }) => {
    const options = { signal, onProgress: vectors.onProgress, onNote };
    const made = await updateRun(directory, file, options).finally(vectors.done);
    const { added, repeated, kept, themes } = made;
    const lines = themes.map(({ symbol, texts, words }) =>
      plainText(`new theme: symbol ${symbol}, ${texts} added texts: ${words.join(' ')}`),
    );
    const told = lines.length > 0 ? lines : ['no new theme'];
    if (repeated > 0)
      say(`${repeated} of the ${added} added texts were in the run before, and are in it once more now\n`);
    if (flags.json) return made;
    print(
      `${[`${(100 * kept).toFixed(1)} % of the texts before are nearest to the same symbol`, ...told].join('\n')}\n`,
    );
    return made;
  });
}
