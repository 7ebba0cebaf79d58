import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { csvText, Random } from '@hidden-schema/base';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { tinyLanguageFlags, tinySentences } from '@hidden-schema/testing/tiny-texts';
import type { Tally } from './tally.ts';

/** A row of a corpus with labels and dates. */
export interface DatedText {
  text: string;
  label: string;
  year: number;
}

/** Texts of which some stand twice, with another year each time. */
export function datedTexts(count = 120, prefix = ''): DatedText[] {
  const random = new Random(9);
  return tinySentences(count).map((line, n) => {
    const [label, text] = line.split('\t') as [string, string];
    return { text: n % 10 === 0 ? text : `${prefix}${text} ${n}`, label, year: 1900 + random.int(100) };
  });
}

/** Writes them as a table. */
export function writeDated(file: string, rows: readonly DatedText[]): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(
    file,
    csvText([['text', 'label', 'year'], ...rows.map(({ text, label, year }) => [text, label, year])]),
  );
  return file;
}

/** A small run of texts with dates, and its corpus, in folders of their own; the cache is the tally's. */
export async function datedRun(tally: Tally): Promise<{ run: string; corpus: string; rows: DatedText[] }> {
  process.env.HSN_CACHE = tally.path('cache');
  const rows = datedTexts();
  const corpus = writeDated(tally.path('texts', 'dated.csv'), rows);
  const run = tally.path('runs', 'run');
  const columns = ['--label-column', 'label', '--time-column', 'year'];
  const { code, stderr } = await hsn(
    ...['train', '--corpus', corpus, '--out', run, ...columns],
    ...[...tinyLanguageFlags, '--set', 'warmStart.steps=0'],
  );
  assert.equal(code, 0, stderr);
  return { run, corpus, rows };
}

/** A copy of a run without what was worked out of its corpus before. */
export function freshCopy(run: string, target: string): string {
  fs.rmSync(target, { recursive: true, force: true });
  fs.cpSync(run, target, { recursive: true });
  fs.rmSync(path.join(target, 'analysis'), { recursive: true, force: true });
  return target;
}

/** Names and contents of all files below folders. */
export function contentOf(...folders: string[]): Record<string, string> {
  const entries = folders.flatMap((folder) =>
    fs.readdirSync(folder, { recursive: true, withFileTypes: true }),
  );
  const files = entries.filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return [file, createHash('sha256').update(fs.readFileSync(file)).digest('hex')];
    }),
  );
}

/** Files that are new, gone or of other content. */
export const differing = (before: Record<string, string>, now: Record<string, string>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((file) => before[file] !== now[file]);

/** The one line that a verb ends with, beside progress and notes. */
export function refusedLine({ code, stderr }: { code: number | null; stderr: string }): string {
  assert.equal(code, 1, `expected exit code 1, got ${code}: ${stderr}`);
  const lines = stderr.split('\n').filter((line) => line.startsWith('hsn: '));
  assert.equal(lines.length, 1, stderr);
  assert.doesNotMatch(stderr, /unexpected|\n {4}at /);
  return lines[0]!;
}
