import type { SymbolEdit } from '@hidden-schema/studies/runs/edits';
import type { Command } from 'commander';
import { progressOf } from './analysis.ts';
import { stoppable } from './stopping.ts';
import { print, say } from './terminal.ts';

interface EditFlags {
  list?: boolean;
  json?: boolean;
}

/** What the verbs that edit symbols differ in. */
interface EditVerb {
  name: string;
  summary: string;
  description: string;
  /** After the run, with what they mean. */
  words: Readonly<Record<string, string>>;
  flags?: Readonly<Record<string, string>>;
  examples: string;
  act(directory: string, ...given: never[]): Promise<void>;
}

const editVerb = ({ name, summary, description, words, flags = {}, examples, act }: EditVerb) => ({
  register: (program: Command): void => {
    const command = program.command(name).summary(summary).description(description);
    command.argument('<run>', 'run folder');
    for (const [word, meaning] of Object.entries(words)) command.argument(word, meaning);
    for (const [flag, meaning] of Object.entries(flags)) command.option(flag, meaning);
    command.option('--json', 'print JSON').addHelpText('after', `\nExamples:\n${examples}`);
    command.action(act as (...given: unknown[]) => Promise<void>);
  },
});

export const rename = editVerb({
  name: 'rename',
  summary: 'name a symbol',
  description: 'Give a symbol a name of your own.',
  words: { '<symbol>': 'its number or name', '<name>': 'its name; an empty one takes it away' },
  examples: `  $ hsn rename run 17 "complaints about service"
  $ hsn rename run 17 ""          takes the name away

Names are stored in the run (names.json) and shown wherever the symbol appears: tables, figures, exports, the explorer.
`,
  act: async (directory, symbol: string, name: string, { json }: EditFlags) => {
    const { renameSymbol } = await import('@hidden-schema/studies/names');
    const [number] = await numbersOf(directory, [symbol]);
    const now = renameSymbol(directory, number!, name);
    if (json) return print(`${JSON.stringify({ symbol: number, name: now })}\n`);
    print(now === null ? `symbol ${number} has no name now\n` : `symbol ${number} is now "${now}"\n`);
  },
});

export const merge = editVerb({
  name: 'merge',
  summary: 'make one symbol of several',
  description: 'Make one symbol of several, without training.',
  words: { '<symbols...>': 'their numbers or names, two or more' },
  examples: `  $ hsn merge run 3 17            17 becomes part of 3
  $ hsn merge run 3 17 22 40
  $ hsn undo run                  takes it back

The merged symbol has the lowest of the numbers, points where the texts of all of them do and has all their links. The
last symbols move into the numbers that became free, under their names; walks, words and figures follow. A decoder that
was trained goes on: it reads symbols as vectors. hsn symbols run --levels 5,10,20 shows what would go together.
`,
  act: async (directory, symbols: string[], flags: EditFlags) => {
    const { mergeSymbols } = await import('@hidden-schema/studies/runs/edits');
    const numbers = await numbersOf(directory, symbols);
    await edit(directory, flags, (watch) => mergeSymbols(directory, numbers, watch));
  },
});

export const split = editVerb({
  name: 'split',
  summary: 'make two symbols of one',
  description: 'Make two symbols of one, without training.',
  words: { '<symbol>': 'its number or name' },
  examples: `  $ hsn split run 8
  $ hsn undo run                  takes it back

The texts that begin with the symbol fall into two clusters: the larger keeps the number, the other becomes a new symbol
after the last. Links from and to both are those that texts travel; all other symbols and links stay as they are.
`,
  act: async (directory, symbol: string, flags: EditFlags) => {
    const { splitSymbol } = await import('@hidden-schema/studies/runs/edits');
    const [number] = await numbersOf(directory, [symbol]);
    await edit(directory, flags, (watch) => splitSymbol(directory, number!, watch));
  },
});

export const undo = editVerb({
  name: 'undo',
  summary: 'take the last merge, split, update or naming back',
  description: 'Take the last edit of a run back; again and again up to the run as it was trained.',
  words: {},
  flags: { '--list': 'only list what could be taken back' },
  examples: `  $ hsn undo run                  takes the last merge, split, update or naming back
  $ hsn undo run --list           what could be taken back, the last first

Everything is as it was before, figures and analyses included; names that you gave since stay with their symbols.
`,
  act: async (directory, { list, json }: EditFlags) => {
    const { plainText } = await import('@hidden-schema/base/tables');
    const { plainJson } = await import('@hidden-schema/studies/drawing/results');
    const { runEdits, undoEdit } = await import('@hidden-schema/studies/runs/edits');
    if (list) {
      const edits = runEdits(directory).reverse();
      if (json) return print(plainJson(edits.map(({ made, what }) => ({ made, what }))));
      return print(edits.map(({ made, what }) => `${made}  ${plainText(what)}\n`).join('') || 'no edits\n');
    }
    const { undone, symbols, undoable } = await undoEdit(directory);
    if (json) return print(plainJson({ undone, symbols, undoable }));
    const left = undoable === 0 ? '' : `, ${undoable} more can be undone`;
    print(`undone: ${plainText(undone)}\n${symbols} symbols${left}\n`);
  },
});

export const update = editVerb({
  name: 'update',
  summary: 'add texts to a run',
  description: 'Add more texts to a run, without discovering its symbols again.',
  words: { '<file>': 'texts to add' },
  examples: `  $ hsn update run more.tsv       texts as those before have them: the same columns
  $ hsn undo run                  takes it back

Symbols keep their numbers and names; only the added texts are encoded. A theme that the added texts have and those before
had not becomes a new symbol after the last, which is announced. The run remembers where the file is and reads it from
there, as it does its corpus.
`,
  act: async (directory, file: string, flags: EditFlags) => {
    const { plainText } = await import('@hidden-schema/base/tables');
    const { updateRun } = await import('@hidden-schema/studies/runs/edits');
    const { onProgress, done } = await progressOf('encode', 'texts');
    const onNote = (text: string) => say(`${plainText(text)}\n`);
    await edit(directory, flags, async ({ signal }) => {
      const made = await updateRun(directory, file, { signal, onProgress, onNote }).finally(done);
      const { added, repeated, kept, themes } = made;
      const told = themes.map(({ symbol, texts, words }) =>
        plainText(`new theme: symbol ${symbol}, ${texts} added texts: ${words.join(' ')}`),
      );
      if (repeated > 0)
        say(`${repeated} of the ${added} added texts were in the run before, and are in it once more now\n`);
      const nearest = `${(100 * kept).toFixed(1)} % of the texts before are nearest to the same symbol`;
      if (!flags.json) print(`${[nearest, ...(told.length > 0 ? told : ['no new theme'])].join('\n')}\n`);
      return made;
    });
  },
});

/** Symbols of a run by their numbers or names. */
async function numbersOf(directory: string, symbols: readonly string[]): Promise<number[]> {
  const { runSymbols, symbolNamed } = await import('@hidden-schema/studies/names');
  return symbols.map((symbol) => symbolNamed(symbol, directory, runSymbols(directory)));
}

interface Watch {
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/** Does an edit, and says what it did. */
async function edit(
  directory: string,
  { json }: EditFlags,
  body: (watch: Watch) => Promise<SymbolEdit>,
): Promise<void> {
  const { plainText } = await import('@hidden-schema/base/tables');
  const { onProgress, done } = await progressOf('read', 'sentences');
  const made = await stoppable((signal) => body({ signal, onProgress }).finally(done), 'result');
  if (!made) return;
  if (json) return print(`${JSON.stringify(made, null, 2)}\n`);
  const { what, symbols, renumbered, undoable } = made;
  const moved = renumbered.map(([before, now]) => `symbol ${before} is ${now} now\n`).join('');
  const edits = undoable === 1 ? 'it' : `${undoable} edits`;
  print(`${plainText(what)}\n${moved}${symbols} symbols; hsn undo ${directory} takes ${edits} back\n`);
}
