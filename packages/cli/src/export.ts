import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { reasonOf, UserError } from '@hidden-schema/base/errors';
import type { RunTable } from '@hidden-schema/studies/runs/tables';
import type { Command } from 'commander';
import { encodedOf, limitHelp, withAnalysed } from './analysis.ts';
import { outputCheck } from './output-files.ts';
import { print, say } from './terminal.ts';
import { byEnding, oneOf } from './text-flags.ts';

interface ExportFlags {
  out: string;
  checkpoint: string;
  table?: string;
  format?: string;
  unsure?: string;
  columns?: string;
  limit?: string;
  json?: boolean;
}

const examples = `
Examples:
  $ hsn export run --table texts --out texts.csv          a row a text: walk, names, weights, unsure
  $ hsn export run --table texts --columns year,party --out texts.parquet
  $ hsn export run --table symbols --format jsonl --out symbols.jsonl
  $ hsn export run --table texts,symbols,links,vectors --out tables      a Parquet file each, for pandas
  $ hsn export run --out model      model/decoder, and model/encoder where it was trained along

Tables: texts, symbols, links, words (of symbols), examples (texts of symbols) and vectors (of texts and symbols), as CSV that spreadsheets take as text,
JSONL, or Parquet. Every text has a walk; unsure marks the least certain 5 %, or another share with --unsure. The graph
with its layout goes to Gephi and others with "hsn graph RUN --export run.gexf".
`;

export function register(program: Command): void {
  program
    .command('export')
    .summary("tables of a run, or a language model's parts as Hugging Face folders")
    .description(
      'Write a table of a run (--table), or the decoder, and the encoder where it was fine-tuned, as folders with config.json, tokenizer.json and model.safetensors.',
    )
    .argument('<run>', 'run folder')
    .requiredOption('--out <where>', 'file to write a table to, or folder for several or for models')
    .option('--table <names>', 'texts, symbols, links, words, examples, vectors; several with commas between')
    .option('--format <name>', 'csv, jsonl or parquet (default: by the ending of --out; parquet for several)')
    .option('--json', 'print JSON of what was written')
    .option('--unsure <share>', 'texts: share that is marked as unsure (default: 5%)')
    .option('--columns <names>', "texts: further columns of the corpus' table, with commas between")
    .option('--limit <n>', limitHelp)
    .option('--checkpoint <which>', 'best, last, or a step', 'best')
    .addHelpText('after', examples)
    .action(exportRun);
}

async function exportRun(directory: string, flags: ExportFlags): Promise<void> {
  if (flags.table !== undefined) return exportTables(directory, flags.table, flags);
  const stray = (['format', 'unsure', 'columns', 'limit'] as const).find((name) => flags[name] !== undefined);
  if (stray) throw new UserError(`--${stray} is for tables: name one with --table`);
  const { openLanguage } = await import('@hidden-schema/hsn/tasks/language/open');
  const { exportLanguage } = await import('@hidden-schema/studies/runs/export');
  const opened = await openLanguage(directory, { checkpoint: flags.checkpoint });
  for (const note of opened.notes) say(`${note}\n`);
  const folders = exportLanguage(opened, flags.out);
  if (flags.json) print(`${JSON.stringify({ folders })}\n`);
  else for (const folder of folders) print(`${folder}\n`);
  if (opened.model.encoder.frozen)
    say(`the encoder was not trained: ${opened.config.encoder.name} as it is\n`);
}

async function exportTables(directory: string, asked: string, flags: ExportFlags): Promise<void> {
  const { RUN_TABLES, runTable } = await import('@hidden-schema/studies/runs/tables');
  const { shareNumber } = await import('@hidden-schema/studies/texts/unsure');
  const { storedMeanings } = await import('@hidden-schema/studies/symbols/stored-meanings');
  const { textColumn } = await import('@hidden-schema/studies/texts/text-columns');
  const { writeTable } = await import('@hidden-schema/studies/runs/table-files');
  const { plainJson } = await import('@hidden-schema/studies/drawing/results');
  const tables = asked.split(',').map((name) => oneOf('--table', name.trim(), RUN_TABLES));
  const files = await filesOf(tables, flags);
  const stray = (['unsure', 'columns'] as const).find((name) => flags[name] !== undefined);
  if (stray && !tables.includes('texts'))
    throw new UserError(`--${stray} is for --table texts, got --table ${asked}`);
  const unsure = flags.unsure === undefined ? undefined : shareNumber('--unsure', flags.unsure);
  await withAnalysed(directory, flags, async (run, signal) => {
    using encoded = await encodedOf(run, flags, signal);
    const meanings = await storedMeanings(run, { encoded, signal });
    const columns: Record<string, (string | null)[]> = {};
    for (const name of flags.columns?.split(',') ?? [])
      columns[name.trim()] = await textColumn(run, encoded, name.trim(), { signal });
    const source = { run, encoded, meanings, columns, unsure };
    const written: { table: RunTable; file: string; rows: number }[] = [];
    for (const { table, file, format } of files) {
      const rows = await writeTable(file, format, await runTable(table, source));
      written.push({ table, file, rows });
    }
    if (flags.json) return print(plainJson({ texts: encoded.total, written }));
    for (const { table, file, rows } of written) {
      const partly = encoded.count < encoded.total && table === 'texts';
      const more = partly ? ` of ${encoded.total} texts; --limit reads more` : '';
      print(`${rows} rows${more} written to ${file}\n`);
    }
  });
}

/** One table goes to a file; several go to a folder, under their names. */
async function filesOf(tables: readonly RunTable[], { out, format: asked }: ExportFlags) {
  const { TABLE_FORMATS } = await import('@hidden-schema/studies/runs/table-files');
  const ending = tables.length === 1 ? byEnding(out, TABLE_FORMATS) : 'parquet';
  const format = asked === undefined ? ending : oneOf('--format', asked, TABLE_FORMATS);
  if (!format)
    throw new UserError(
      `--out takes a file ending in .${TABLE_FORMATS.join(', .')}, or say --format; got ${out}`,
    );
  if (tables.length === 1) return [{ table: tables[0]!, file: out, format }];
  const files = tables.map((table) => ({ table, file: path.join(out, `${table}.${format}`), format }));
  const check = await outputCheck();
  for (const { file } of files) check(file);
  try {
    mkdirSync(out, { recursive: true });
  } catch (error) {
    throw new UserError(`cannot make the folder ${out}: ${reasonOf(error)}`);
  }
  return files;
}
