import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeOutput } from '@hidden-schema/cli/output-files';
import { print } from '@hidden-schema/cli/terminal';
import type { Sheet, SheetCell } from '@hidden-schema/studies/drawing/sheets';
import type { Command } from 'commander';
import type { Measured, ResultCell, ResultFile } from '../results/result-file.ts';
import type { Reproduced } from './reproduce.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Where results are kept that docs are made from. */
const resultsFolder = (write: string | true): string =>
  write === true ? path.join(repository, 'results') : write;

/** What was made and how, as `npm run results` reads it: a file for each table and each drawing. */
export async function recordResults(
  made: Reproduced,
  write: string | true,
  facts: Pick<Measured, 'command' | 'preset'>,
): Promise<void> {
  const { resultText } = await import('../results/result-file.ts');
  const { engineInfo } = await import('@hidden-schema/torch/engine');
  const common = { ...facts, date: new Date().toISOString().slice(0, 10), ...source() };
  const hardware = `${processor()}, libtorch ${engineInfo().version}`;
  const measured = { ...common, hardware, seeds: made.seeds === undefined ? [1] : [...made.seeds] };
  const folder = path.join(resultsFolder(write), made.name);
  mkdirSync(folder, { recursive: true });
  const file = (name: string) => path.join(folder, name);
  const put = (name: string, result: ResultFile) => writeOutput(file(`${name}.json`), resultText(result));
  for (const sheet of made.sheets ?? [])
    if (sheet.rows.length > 0)
      await put(sheet.name, { what: `${made.title}: ${sheet.title}`, ...measured, ...tableOf(sheet) });
  const tables = new Set(made.sheets?.map(({ name }) => name));
  for (const { name, title, svg } of made.figures ?? []) {
    const own = tables.has(name) ? `${name}-drawing` : name;
    await writeOutput(file(`${own}.svg`), svg);
    await put(own, { what: `${made.title}: ${title}`, ...measured, picture: `${own}.svg` });
  }
  print(`results: ${path.relative(process.cwd(), folder) || '.'}; npm run results puts them into the docs\n`);
}

function tableOf({ columns, rows }: Sheet) {
  return {
    columns: columns.map(({ title, digits }) => ({
      name: title,
      ...(digits === undefined ? {} : { digits }),
    })),
    rows: rows.map((row) => row.map(cellOf)),
  };
}

function cellOf(cell: SheetCell): ResultCell {
  if (cell === undefined || (typeof cell === 'number' && !Number.isFinite(cell))) return null;
  if (typeof cell !== 'object') return cell;
  if (cell.count === 0 || !Number.isFinite(cell.mean)) return null;
  const { mean, sd, count } = cell;
  return { mean, ...(sd === undefined || !Number.isFinite(sd) ? {} : { sd }), count };
}

/** The command as it was given; of places on this machine only their last part. */
export function commandOf(command: Command, name: string): string {
  const given = command.options.flatMap((option) => {
    const key = option.attributeName();
    if (key === 'write' || key === 'out' || command.getOptionValueSource(key) !== 'cli') return [];
    const value = command.getOptionValue(key) as string | string[] | true;
    if (value === true) return [option.long!];
    return [value].flat().flatMap((one) => [option.long!, one.split(',').map(placeless).join(',')]);
  });
  return ['hsn reproduce', name, ...given].join(' ');
}

/** `NAME=PATH` or a path, without the folders of this machine. */
const placeless = (text: string): string => text.replace(/(^|=)\/.*\/(?=[^/]+\/?$)/, '$1');

function processor(): string {
  const cores = cpus();
  const threads = process.env.HSN_THREADS;
  const model = cores[0]?.model.trim() ?? 'unknown processor';
  return `${cores.length} cores of ${model}${threads === undefined ? '' : `, ${threads} threads`}`;
}

/** The commit of this program, and how many of its source files differ from it. */
function source(): Pick<Measured, 'commit' | 'changes'> {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', 'packages', 'paper', 'experiments');
  const changes = changed === '' ? 0 : changed.split('\n').length;
  return { commit: git('rev-parse', '--short', 'HEAD'), ...(changes === 0 ? {} : { changes }) };
}

/** Before anything is trained: results can only be traced from a clone of the repository. */
export async function checkRecordable(): Promise<void> {
  const { UserError } = await import('@hidden-schema/base');
  if (existsSync(path.join(repository, '.git'))) return;
  throw new UserError('--write notes the commit that made a result: run it in a clone of the repository');
}
