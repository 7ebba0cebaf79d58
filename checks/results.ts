// npm run results             writes the tables and drawings of docs from results/*/*.json, which hold what was measured
// npm run results -- --check  fails where a page is not what its files say, or has a figure that is in none of them
import fs from 'node:fs';
import path from 'node:path';
import {
  measuredLine,
  parseResult,
  type ResultFile,
  type ResultTable,
  resultText,
  shownCell,
} from '../paper/src/results/result-file.ts';
import { reportFaults } from './source-files.ts';
import { tracedFigures } from './traced-figures.ts';

const folder = 'results';
const checking = process.argv.includes('--check');
const marker = /<!-- results\/([\w./-]+)\.json -->\n[\s\S]*?<!-- end of results -->/g;

/** A result of a file, or what is wrong with the file. */
function read(name: string): ResultFile {
  const file = path.join(folder, `${name}.json`);
  if (!fs.existsSync(file)) throw new Error(`${file} is not there, and a page of docs is made from it`);
  const text = fs.readFileSync(file, 'utf8');
  try {
    const result = parseResult(text);
    if ('picture' in result && !fs.existsSync(path.join(path.dirname(file), result.picture)))
      throw new Error(`its drawing ${result.picture} is not there`);
    if (!checking && text !== resultText(result)) fs.writeFileSync(file, resultText(result));
    return result;
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

function table({ columns, rows }: ResultTable): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const isText = (at: number) =>
    rows.some((row) => typeof row[at] === 'string') &&
    rows.every((row) => row[at] === null || typeof row[at] === 'string');
  return [
    line(columns.map(({ name }) => name)),
    `|${columns.map((_, at) => (isText(at) ? '---' : '--:')).join('|')}|`,
    ...rows.map((row) => line(row.map((value, at) => shownCell(value, columns[at]!.digits)))),
  ];
}

/** A result as a page shows it: the table or drawing, and how it was made below it. */
function shown(name: string, page: string): string {
  const result = read(name);
  const picture = (file: string) =>
    path.posix.relative(path.posix.dirname(page), path.posix.join(folder, path.posix.dirname(name), file));
  const body = 'picture' in result ? [`![${result.what}](${picture(result.picture)})`] : table(result);
  return [`<!-- results/${name}.json -->`, ...body, '', measuredLine(result), '<!-- end of results -->'].join(
    '\n',
  );
}

const pages = fs
  .readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && !name.startsWith('reference/library'))
  .map((name) => path.posix.join('docs', name));
/** Pages on which every figure names its file. */
const traced = new Set(['docs/paper-map.md', 'docs/research/claims.md', 'docs/research/results.md']);
const used = new Set<string>();
function readAs(name: string): ResultFile {
  used.add(name);
  return read(name);
}
const faults: string[] = [];
for (const page of ['README.md', ...pages]) {
  const text = fs.readFileSync(page, 'utf8');
  const made = text.replaceAll(marker, (_, name: string) => {
    used.add(name);
    return shown(name, page);
  });
  faults.push(...tracedFigures(made, readAs, { all: traced.has(page) }).map((fault) => `${page}: ${fault}`));
  if (made === text) continue;
  if (checking) faults.push(`${page} is not what results/ says: npm run results`);
  else fs.writeFileSync(page, made);
}
const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
for (const file of files.filter((one) => one.endsWith('.json'))) {
  const name = file.slice(0, -'.json'.length);
  read(name);
  if (!used.has(name)) faults.push(`results/${file} stands in no page`);
}
reportFaults(faults);
