import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { writeFileAtomic } from '@hidden-schema/base';
import { engineInfo } from '@hidden-schema/torch';
import type { BenchOptions, Measurement } from './measure.ts';
import { peerVersions } from './peers.ts';
import type { Told } from './unattended.ts';

const file = fileURLToPath(new URL('../docs/research/performance.md', import.meta.url));
const kept = fileURLToPath(new URL('results.json', import.meta.url));

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

type Settings = Pick<BenchOptions, 'threads' | 'rounds' | 'python' | 'processorTime' | 'environment'>;

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

/** The command, and what it ran on. */
export function describeRun(what: string, settings: Settings): string {
  const { threads, rounds, python, processorTime, environment } = settings;
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
  const peers = python === undefined ? 'no peers' : `peers ${peerVersions(python)}`;
  const day = new Date().toISOString().slice(0, 10);
  const load = loadavg()[2]! / cpus().length;
  const shared = load > 1.5 ? `, shared with other work (load ${load.toFixed(0)} for each core)` : '';
  const { OPENBLAS_CORETYPE: core } = environment;
  const command = `${core === undefined ? '' : `OPENBLAS_CORETYPE=${core} `}npm run -s bench -- ${what}`;
  return `\`${command} --threads ${threads} --rounds ${rounds}${processorTime ? ' --processor-time' : ''}\` on ${processor}, ${cpus().length} cores${shared}, libtorch ${engineInfo().version}, Node ${process.version}, ${peers}, ${day}`;
}

/** A measurement with the benchmark that it is from, and the number of its run. */
export type ResultLine = Measurement & { readonly from: string; readonly run: number };

/** The newest measurements of every benchmark, as bench/results.json keeps them. */
export interface Results {
  readonly runs: readonly string[];
  readonly lines: readonly ResultLine[];
}

/** Results with those of a run in place of what its benchmarks gave before; runs without lines are forgotten. */
export function withRun(results: Results, told: readonly Told[], run: string): Results {
  const number = results.runs.length;
  const fresh = new Map(
    told.map(({ name, measurements }) => [
      name,
      measurements.map((line) => ({ ...line, from: name, run: number })),
    ]),
  );
  const order = [...new Set([...results.lines.map(({ from }) => from), ...fresh.keys()])];
  const lines = order.flatMap((name) => fresh.get(name) ?? results.lines.filter(({ from }) => from === name));
  const kept = [...new Set(lines.map((line) => line.run))].sort((a, b) => a - b);
  const runs = [...results.runs, run];
  return {
    runs: kept.map((at) => runs[at]!),
    lines: lines.map((line) => ({ ...line, run: kept.indexOf(line.run) })),
  };
}

/** Every measurement, bench by bench, with how many goals are reached; those that answer the list have its number. */
export function resultsTable({ runs, lines }: Results): string {
  const judged = lines.filter(({ list, met, goal }) => list !== undefined && met !== null && goal !== 'none');
  const met = judged.filter((line) => line.met).length;
  const named = (line: ResultLine): Measurement =>
    line.list === undefined ? line : { ...line, bench: `${line.list}, ${goals[line.list]}: ${line.bench}` };
  return [
    `${met} of the ${judged.length} goals of [the list](../../bench/README.md) that were measured are reached. Ratios above 1 are in our favour.`,
    '',
    ...runs.map((run, at) => `- run ${at + 1}: ${run}`),
    '',
    '| what | unit | ours | peer | ratio | MB ours / peer | goal | reached | run |',
    '| --- | --- | --: | --: | --: | --: | --- | --- | --: |',
    ...lines.map((line) => `${row(named(line))} ${line.run + 1} |`),
  ].join('\n');
}

/** Puts a text between the marks of a part of a document, or marks and text at its end. */
export function withPart(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const part = `${begin}\n${text}\n${end}`;
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) return `${document.trimEnd()}\n\n${part}\n`;
  return `${document.slice(0, from)}${part}${document.slice(to + end.length)}`;
}

/** Keeps what was measured, and puts the table into docs/research/performance.md. */
export function writeResults(told: readonly Told[], run: string): void {
  const known = JSON.parse(readFileSync(kept, 'utf8')) as Results;
  const results = withRun(known, told, run);
  writeFileAtomic(kept, `${JSON.stringify(results, null, 2)}\n`);
  writeFileAtomic(file, withPart(readFileSync(file, 'utf8'), 'bench', resultsTable(results)));
  process.stderr.write(`the table is in ${file}\n`);
}
