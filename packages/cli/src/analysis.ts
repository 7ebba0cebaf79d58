import path from 'node:path';
import type { OpenedRun } from '@hidden-schema/hsn';
import type { Results } from '@hidden-schema/studies/drawing/results';
import type { Sheet } from '@hidden-schema/studies/drawing/sheets';
import type { EncodedCorpus } from '@hidden-schema/studies/texts/encoded';
import type { Command } from 'commander';
import { outputCheck } from './output-files.ts';
import { stoppable } from './stopping.ts';
import { live, print, say, terminalWidth } from './terminal.ts';
import { wholeNumber } from './text-flags.ts';

/** Options of every verb that looks at a run. */
export interface AnalysisFlags {
  checkpoint: string;
  json?: boolean;
  out?: string;
  limit?: string;
}

export function addAnalysisOptions(command: Command): Command {
  const where = "where tables (CSV, JSON) and figures (SVG, PNG) go (default: the run's figures)";
  command.option('--json', 'print JSON; files are then written only with --out');
  return checkpointOption(command.option('--out <folder>', where));
}

export const checkpointOption = (command: Command): Command =>
  command.option('--checkpoint <which>', 'best, last, or a step', 'best');

export const limitHelp =
  'sentences whose walks are read, those of the test split first (default: 5000, or what is stored)';

const MOST_ATTEMPTS = 4;

/**
 * Opens a run, does the work, and frees it; Ctrl-C stops between sentences. Done again where somebody edited the run's
 * symbols meanwhile: what is shown is the run as it is now.
 */
export function withAnalysed<T>(
  directory: string,
  { checkpoint }: Pick<AnalysisFlags, 'checkpoint'>,
  body: (run: OpenedRun, signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  return unlessChanged(async () => {
    const { openRun } = await import('@hidden-schema/studies/runs/opened');
    const run = await openRun(directory, { checkpoint });
    for (const note of run.notes) say(`${note}\n`);
    const unlessStopped = (signal: AbortSignal): Promise<T | undefined> =>
      body(run, signal).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
    try {
      return await stoppable(unlessStopped, 'result');
    } finally {
      run.model.free();
    }
  });
}

/** Does something again where somebody edited the run's symbols meanwhile. */
export async function unlessChanged<T>(look: () => Promise<T>): Promise<T> {
  const { RunChanged } = await import('@hidden-schema/hsn/run/edit-record');
  for (let attempt = 1; ; attempt++) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof RunChanged) || attempt >= MOST_ATTEMPTS) throw error;
    }
  }
}

/** Bars on stderr for one stage after another. */
export async function progressBars() {
  const { Progress } = await import('@hidden-schema/hsn/run/progress');
  let bar: InstanceType<typeof Progress> | undefined;
  const done = () => {
    bar?.finish();
    bar = undefined;
  };
  const progress = (label: string, unit: string) => {
    done();
    return (count: number, total: number) => {
      bar ??= new Progress({ label, total, unit, output: live });
      bar.update(count);
    };
  };
  return { progress, done };
}

/** A bar on stderr for work that is counted; begun at the first count. */
export async function progressOf(label: string, unit: string) {
  const { progress, done } = await progressBars();
  return { onProgress: progress(label, unit), done };
}

/** The run's sentences with their walks, read now where they are not stored yet. */
export async function encodedOf(
  run: OpenedRun,
  flags: Pick<AnalysisFlags, 'limit'>,
  signal: AbortSignal,
): Promise<EncodedCorpus> {
  const { encodedCorpus } = await import('@hidden-schema/studies/texts/encoded');
  const limit = wholeNumber('--limit', flags.limit);
  const { onProgress, done } = await progressOf('read', 'sentences');
  try {
    return await encodedCorpus(run, { limit, signal, onProgress });
  } finally {
    done();
  }
}

/** Prints tables and words, or JSON, and writes the files. */
export async function deliver(
  directory: string,
  flags: Pick<AnalysisFlags, 'json' | 'out'>,
  results: Results & { text?: string; shown?: readonly Sheet[] },
): Promise<void> {
  const { plainJson, writeResults } = await import('@hidden-schema/studies/drawing/results');
  if (flags.json) print(plainJson(results.data));
  else await showSheets(results.shown ?? results.sheets ?? [], results.text);
  if (flags.json && flags.out === undefined) return;
  const { RunFiles } = await import('@hidden-schema/hsn/run/run-files');
  if (flags.out === undefined) new RunFiles(directory).target('figures');
  const folder = flags.out ?? path.join(directory, 'figures');
  const files = await writeResults(folder, results, await outputCheck());
  const names = files.map((file) => path.basename(file)).sort();
  (flags.json ? say : print)(`written to ${folder}: ${names.join(', ')}\n`);
}

/** Prints tables, and a text after them. */
export async function showSheets(sheets: readonly Sheet[], text?: string): Promise<void> {
  const { plainText, wrapText } = await import('@hidden-schema/base/tables');
  const wrapped = (words: string) => wrapText(words, Math.min(100, terminalWidth() ?? 100)).join('\n');
  const { sheetText } = await import('@hidden-schema/studies/drawing/sheets');
  for (const sheet of sheets) {
    const caption = sheet.caption ? `${wrapped(plainText(sheet.caption))}\n` : '';
    const table = sheetText(cutCells(sheet), 'terminal', terminalWidth());
    print(`${wrapped(plainText(sheet.title))}\n${table}${caption}\n`);
  }
  if (text) print(`${wrapped(text)}\n\n`);
}

const longestCell = 90;

/** On a terminal a row is a line. */
function cutCells(sheet: Sheet): Sheet {
  const cut = (cell: Sheet['rows'][number][number]) =>
    typeof cell === 'string' && cell.length > longestCell ? `${cell.slice(0, longestCell - 1)}…` : cell;
  return { ...sheet, rows: sheet.rows.map((row) => row.map(cut)) };
}
