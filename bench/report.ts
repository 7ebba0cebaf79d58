import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { writeFileAtomic } from '@hidden-schema/base';
import { engineInfo } from '@hidden-schema/torch';
import type { BenchOptions, Measurement } from './measure.ts';
import { peerVersions } from './peers.ts';
import type { Told } from './unattended.ts';

const file = fileURLToPath(new URL('../docs/research/performance.md', import.meta.url));

/** The list of goals, by its numbers in bench/README.md. */
const goals: Readonly<Record<number, string>> = {
  2: 'against PyTorch',
  3: 'encoding',
  4: 'first picture',
  5: 'growth',
  6: "decoder's stage",
  7: 'two processes',
  8: 'start',
};

type Settings = Pick<BenchOptions, 'threads' | 'rounds' | 'python'>;
type Wrote = Settings & { minutes: number };

const shown = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : `${value}`;
/** A name or a message may hold what would end a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const memory = ({ oursMB, peerMB }: Measurement): string =>
  oursMB === undefined && peerMB === undefined ? '' : `${shown(oursMB)} / ${shown(peerMB)}`;

function reached({ met, ours, goal }: Measurement): string {
  if (ours === null) return 'not measured';
  return goal === 'none' || met === null ? '' : met ? 'yes' : '**no**';
}

function row(line: Measurement): string {
  const { bench, unit, ours, peer, ratio, goal, note } = line;
  const cells = [cell(note === undefined ? bench : `${bench} (${note})`), unit];
  const figures = [shown(ours), shown(peer), shown(ratio), memory(line)];
  return `| ${[...cells, ...figures, goal === 'none' ? '' : goal, reached(line)].join(' | ')} |`;
}

const columns = [
  '| what | unit | ours | peer | ratio | MB ours / peer | goal | reached |',
  '| --- | --- | --: | --: | --: | --: | --- | --- |',
];

/** What was measured, how and on what, in one sentence. */
function heading(count: number, what: string, { threads, rounds, python }: Settings): string {
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
  const peers = python === undefined ? 'no peers' : `peers ${peerVersions(python)}`;
  const day = new Date().toISOString().slice(0, 10);
  return `${count} lines of \`npm run -s bench -- ${what} --threads ${threads} --rounds ${rounds}\` on ${processor}, ${cpus().length} cores, libtorch ${engineInfo().version}, Node ${process.version}, ${peers}, ${day}; ratios above 1 are in our favour:`;
}

/** Every measurement, bench by bench. */
export function wholeTable(told: readonly Told[], about: Wrote): string {
  const rows = told.flatMap(({ measurements }) => measurements.map(row));
  return [heading(rows.length, `all --budget ${about.minutes}`, about), '', ...columns, ...rows].join('\n');
}

/** The measurements that answer the list of goals, in its order, and how many are reached. */
export function shortTable(told: readonly Told[]): string {
  const answers = told.flatMap(({ measurements }) => measurements).filter(({ list }) => list !== undefined);
  const judged = answers.filter(({ met, goal }) => met !== null && goal !== 'none');
  const met = judged.filter((line) => line.met).length;
  const rows = Object.entries(goals).flatMap(([number, name]) =>
    answers
      .filter(({ list }) => list === Number(number))
      .map((line) => row({ ...line, bench: `${number}, ${name}: ${line.bench}` })),
  );
  return [`${met} of ${judged.length} goals that were measured are reached:`, '', ...columns, ...rows].join(
    '\n',
  );
}

/** Puts a text between the marks of a part of a document, or marks and text at its end. */
export function withPart(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const part = `${begin}\n${text}\n${end}`;
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) return `${document.trimEnd()}\n\n${part}\n`;
  return `${document.slice(0, from)}${part}${document.slice(to + end.length)}`;
}

/** Puts both tables into docs/research/performance.md. */
export function writeTables(told: readonly Told[], about: Wrote): void {
  const document = existsSync(file) ? readFileSync(file, 'utf8') : '# Speed\n';
  const short = withPart(document, 'bench-short', shortTable(told));
  writeFileAtomic(file, withPart(short, 'bench', wholeTable(told, about)));
  process.stderr.write(`the tables are in ${file}\n`);
}

/** Puts benchmarks that were run by name beside the tables of all, in place of those that were run so before. */
export function writeAgain(told: readonly Measurement[], names: string, about: Settings): void {
  const text = [heading(told.length, names, about), '', ...columns, ...told.map(row)].join('\n');
  writeFileAtomic(file, withPart(readFileSync(file, 'utf8'), 'bench-again', text));
  process.stderr.write(`the table is in ${file}\n`);
}
