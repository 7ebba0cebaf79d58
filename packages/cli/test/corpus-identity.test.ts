import fs from 'node:fs';
import path from 'node:path';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguageFlags } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  contentOf,
  type DatedText,
  datedTexts,
  differing,
  freshCopy,
  refusedLine,
  writeDated,
} from '../../../faults/dated-run.ts';

const folder = temporaryFolder('corpus-identity');
const rows = datedTexts();
const corpus = folder.path('texts', 'dated.csv');
const run = folder.path('runs', 'run');
const table = (of: string, ...more: string[]) =>
  hsn('export', of, '--table', 'texts', '--columns', 'year', '--out', folder.path('table.csv'), ...more);

/** The years of each text, in their order. */
function yearsOf(all: readonly Pick<DatedText, 'text' | 'year'>[]): Record<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const { text, year } of all) groups.set(text, [...(groups.get(text) ?? []), year]);
  return Object.fromEntries(groups);
}

function writtenYears(): Record<string, number[]> {
  const [header, ...lines] = fs.readFileSync(folder.path('table.csv'), 'utf8').trim().split('\r\n');
  const at = (name: string) => header!.split(',').indexOf(name);
  // Names of symbols have commas, and quotes around them then.
  const cells = lines.map((line) =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) => cell!),
  );
  return yearsOf(cells.map((cell) => ({ text: cell[at('text')]!, year: Number(cell[at('year')]) })));
}

beforeAll(async () => {
  folder.holdCache();
  writeDated(corpus, rows);
  const columns = ['--label-column', 'label', '--time-column', 'year'];
  const flags = [...tinyLanguageFlags, '--set', 'warmStart.steps=0'];
  const made = await hsn('train', '--corpus', corpus, '--out', run, ...columns, ...flags);
  expect(made.code, made.stderr).toBe(0);
});
afterAll(folder.remove);

describe('a corpus that was sorted anew', () => {
  test('gives no text the date of another: refused, then right from the copy that is named', async () => {
    const copy = freshCopy(run, folder.path('runs', 'sorted'));
    writeDated(
      corpus,
      [...rows].sort((a, b) => a.year - b.year),
    );
    expect(refusedLine(await table(copy))).toContain('dated.csv has the same 120 texts in another order');
    const kept = writeDated(folder.path('kept.csv'), rows);
    const { code, stderr } = await table(copy, '--corpus', kept);
    expect(code, stderr).toBe(0);
    expect(writtenYears()).toEqual(yearsOf(rows));
    // What is stored stays right, and the place is known.
    freshCopy(copy, folder.path('runs', 'again'));
    expect((await table(folder.path('runs', 'again'))).code).toBe(0);
    expect(writtenYears()).toEqual(yearsOf(rows));
    writeDated(corpus, rows);
  });

  test('a run that goes on with another corpus forgets what was made of the one before', async () => {
    const copy = freshCopy(run, folder.path('runs', 'adopting'));
    expect((await table(copy)).code).toBe(0);
    const later = rows.map((row) => ({ ...row, year: row.year + 100 }));
    const other = writeDated(folder.path('later.csv'), later);
    const resumed = await hsn('train', '--out', copy, '--resume', '--corpus', other, '--force');
    expect(resumed.code, resumed.stderr).toBe(0);
    expect((await table(copy)).code).toBe(0);
    expect(writtenYears()).toEqual(yearsOf(later));
  });
});

describe('a run whose record names a private file', () => {
  test('is not read, even where its hash fits, until the user names it', async () => {
    const secret = folder.path('home', 'deep', 'private.csv');
    writeDated(secret, rows);
    const stranger = freshCopy(run, folder.path('downloads', 'run'));
    const file = path.join(stranger, 'run.json');
    const record = JSON.parse(fs.readFileSync(file, 'utf8'));
    record.corpus.directory = path.relative(stranger, secret);
    fs.writeFileSync(file, JSON.stringify(record));
    const before = process.env.HSN_CACHE;
    process.env.HSN_CACHE = folder.path('cache-of-the-user');
    try {
      fs.utimesSync(secret, new Date(0), new Date());
      expect(refusedLine(await hsn('symbols', stranger))).toContain(
        `names ${secret} as its corpus, and you have not named that to this program; if it is the corpus, name it with --corpus ${secret}`,
      );
      expect(fs.statSync(secret).atimeMs).toBe(0);
      expect((await hsn('symbols', stranger, '--corpus', secret)).code).toBe(0);
      expect((await hsn('find', stranger, 'the cat')).code).toBe(0);
    } finally {
      process.env.HSN_CACHE = before;
    }
  });
});

describe('results', () => {
  test('never go over what is read or what a run keeps', async () => {
    expect((await table(run)).code).toBe(0);
    const link = folder.path('link.csv');
    fs.linkSync(corpus, link);
    const before = contentOf(folder.path('runs'), folder.path('texts'));
    const csv = (out: string) => ['export', run, '--table', 'texts', '--format', 'csv', '--out', out];
    for (const args of [
      csv(corpus),
      csv(link),
      csv(path.join(run, 'run.json')),
      ['encode', run, corpus, '--out', corpus],
      ['symbols', run, '--out', path.join(run, 'analysis')],
      ['train', '--corpus', corpus, '--out', path.dirname(corpus), '--force'],
    ])
      expect(refusedLine(await hsn(...args)), args.join(' ')).toMatch(
        /what is read here|belongs to the run|holds/,
      );
    expect(differing(before, contentOf(folder.path('runs'), folder.path('texts')))).toEqual([]);
  });
});
