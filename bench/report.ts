import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { engineInfo } from '@hidden-schema/torch';
import type { BenchOptions, Measurement } from './measure.ts';

const file = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const [begin, end] = ['<!-- bench:begin -->', '<!-- bench:end -->'];

const shown = (value: number | null): string => (value === null ? '–' : String(value));

function row({ bench, unit, ours, peer, ratio, goal, met }: Measurement): string {
  const reached = met === null ? '' : met ? 'yes' : '**no**';
  return `| ${bench} | ${unit} | ${ours} | ${shown(peer)} | ${shown(ratio)} | ${goal === 'none' ? '' : goal} | ${reached} |`;
}

/** The measurements as Markdown, with what they were measured on. */
export function markdownTable(
  measurements: readonly Measurement[],
  options: Pick<BenchOptions, 'threads' | 'rounds'>,
): string {
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
  const { version } = engineInfo();
  const threads = `${options.threads} thread${options.threads === 1 ? '' : 's'}`;
  return [
    `\`npm run -s bench -- all --threads ${options.threads} --rounds ${options.rounds}\` on ${processor}, ${cpus().length} cores, ${threads}, libtorch ${version}, Node ${process.version}:`,
    '',
    '| what | unit | ours | peer | ratio | goal | reached |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...measurements.map(row),
  ].join('\n');
}

/** Puts a table between the marks of a document, or marks and table at its end. */
export function withTable(document: string, table: string): string {
  const part = `${begin}\n${table}\n${end}`;
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) return `${document.trimEnd()}\n\n${part}\n`;
  return `${document.slice(0, from)}${part}${document.slice(to + end.length)}`;
}

export function writeTable(measurements: readonly Measurement[], options: BenchOptions): void {
  const document = existsSync(file) ? readFileSync(file, 'utf8') : '# Speed\n';
  writeFileSync(`${file}.partial`, withTable(document, markdownTable(measurements, options)));
  renameSync(`${file}.partial`, file);
  process.stderr.write(`the table is in ${file}\n`);
}
