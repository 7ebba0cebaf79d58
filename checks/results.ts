// npm run results             writes the tables of docs from results/*.json, which hold what was measured
// npm run results -- --check  fails where a table of docs is not what its file says
import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { reportFaults } from './source-files.ts';

/** A measured value, a word, a value with its share in brackets, or nothing. */
const cell = z.union([z.number(), z.string(), z.tuple([z.number(), z.number()]), z.null()]);

/** What was measured, how, when and on what: enough to measure it again. */
const resultFile = z
  .strictObject({
    what: z.string().min(10),
    command: z.string().min(3),
    date: z.iso.date(),
    commit: z.string().regex(/^[0-9a-f]{7,40}$/),
    hardware: z.string().min(3),
    seeds: z.array(z.int()).min(1),
    columns: z.array(z.strictObject({ name: z.string(), digits: z.int().min(0).max(6).optional() })).min(1),
    rows: z.array(z.array(cell)).min(1),
  })
  .refine(({ columns, rows }) => rows.every((row) => row.length === columns.length), 'a row misses a column');

type ResultFile = z.infer<typeof resultFile>;

const marker = /<!-- results\/([\w-]+)\.json -->\n[\s\S]*?<!-- end of results -->/g;

function read(name: string): ResultFile {
  const file = `results/${name}.json`;
  const parsed = resultFile.safeParse(JSON.parse(fs.readFileSync(file, 'utf8')));
  if (!parsed.success)
    throw new Error(`${file}: ${parsed.error.issues.map(({ message }) => message).join('; ')}`);
  return parsed.data;
}

function shown(value: z.infer<typeof cell>, digits: number | undefined): string {
  if (value === null) return '–';
  if (typeof value === 'string') return value;
  const number = (x: number, places = digits) => (places === undefined ? String(x) : x.toFixed(places));
  return Array.isArray(value) ? `${number(value[0])} (${number(value[1], 2)})` : number(value);
}

/** A result as a table, with how it was measured below it. */
function table({ columns, rows, command, date, commit, hardware, seeds }: ResultFile): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const isText = (at: number) => rows.every((row) => typeof row[at] === 'string');
  return [
    line(columns.map(({ name }) => name)),
    `|${columns.map((_, at) => (isText(at) ? '---' : '--:')).join('|')}|`,
    ...rows.map((row) => line(row.map((value, at) => shown(value, columns[at]!.digits)))),
    '',
    `*\`${command}\`, ${seeds.length === 1 ? 'one seed' : `mean of ${seeds.length} seeds`}, ${date}, commit ${commit}, ${hardware}.*`,
  ].join('\n');
}

const pages = fs
  .readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && !name.startsWith('reference/library'))
  .map((name) => path.join('docs', name));
const used = new Set<string>();
const faults: string[] = [];
for (const page of pages) {
  const text = fs.readFileSync(page, 'utf8');
  const made = text.replaceAll(marker, (_, name: string) => {
    used.add(name);
    return `<!-- results/${name}.json -->\n${table(read(name))}\n<!-- end of results -->`;
  });
  if (made === text) continue;
  if (process.argv.includes('--check')) faults.push(`${page} is not what results/ says: npm run results`);
  else fs.writeFileSync(page, made);
}
for (const file of fs.readdirSync('results')) {
  const name = path.basename(file, '.json');
  read(name);
  if (!used.has(name)) faults.push(`results/${file} stands in no page`);
}
reportFaults(faults);
