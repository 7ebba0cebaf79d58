import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Random } from '@hidden-schema/base';
import { Run } from '@hidden-schema/hsn';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts } from '@hidden-schema/testing/planted-subjects';
import {
  contentOf,
  type DatedText,
  datedRun,
  datedTexts,
  differing,
  freshCopy,
  refusedLine,
  writeDated,
} from './dated-run.ts';
import type { Fault, Tally } from './tally.ts';

type Change = (rows: DatedText[]) => DatedText[];

function shuffled(rows: DatedText[], seed: number): DatedText[] {
  const random = new Random(seed);
  const left = [...rows];
  return rows.map(() => left.splice(random.int(left.length), 1)[0]!);
}

/** What may happen to a corpus, and what is said of it. */
const changes: Readonly<Record<string, { change: Change; said: RegExp }>> = {
  'sorted by text': {
    change: (rows) => [...rows].sort((a, b) => (a.text < b.text ? -1 : 1)),
    said: /the same 120 texts in another order/,
  },
  'sorted by date': {
    change: (rows) => [...rows].sort((a, b) => a.year - b.year),
    said: /the same 120 texts in another order/,
  },
  reversed: { change: (rows) => rows.toReversed(), said: /the same 120 texts in another order/ },
  shuffled: { change: (rows) => shuffled(rows, 3), said: /the same 120 texts in another order/ },
  'shuffled otherwise': { change: (rows) => shuffled(rows, 4), said: /the same 120 texts in another order/ },
  'a row added': {
    change: (rows) => [...rows, { text: 'one more', label: 'good', year: 2000 }],
    said: /has 1 new text and lacks 0 of the 120/,
  },
  'a row removed': { change: (rows) => rows.slice(1), said: /has 0 new texts and lacks 1 of the 120/ },
  'a text changed': {
    change: (rows) => [{ ...rows[0]!, text: 'another' }, ...rows.slice(1)],
    said: /has 1 new text and lacks 1 of the 120/,
  },
  'replaced by as many others': {
    change: (rows) =>
      datedTexts(rows.length, 'once ').map((row, n) => ({ ...row, text: `${row.text} ${n}` })),
    said: /has 120 new texts and lacks 120 of the 120/,
  },
  'dates moved by a row': {
    change: (rows) => rows.map((row, n) => ({ ...row, year: rows[(n + 1) % rows.length]!.year })),
    said: /the same 120 texts, and something else in other columns/,
  },
};

/** Verbs that read rows of a corpus. */
const readers = (run: string, out: string): string[][] => [
  ['export', run, '--table', 'texts', '--columns', 'year', '--out', out],
  ['time', run, '--json'],
  ['compare', run, '--by', 'year', '--json'],
  ['labels', run, '--json'],
  ['predict', run, '--by', 'label', '--json'],
  ['symbols', run, '--json'],
  ['find', run, 'the cat', '--json'],
  ['report', run],
  ['eval', run],
];

/** Row 46: a corpus that is another than it was is never read as what it was. */
async function changed(tally: Tally): Promise<void> {
  const { run, corpus, rows } = await datedRun(tally);
  const was = fs.readFileSync(corpus);
  const out = tally.path('table.csv');
  const all = Object.entries(changes).flatMap(([name, one]) =>
    readers(tally.path('runs', 'copy'), out).map((args) => ({ name, ...one, args })),
  );
  for (const { name, change, said, args } of all.slice(0, tally.count(all.length, 4)))
    await tally.expect(`${name}: hsn ${args[0]}`, async () => {
      freshCopy(run, tally.path('runs', 'copy'));
      writeDated(corpus, change(rows));
      const record = fs.readFileSync(tally.path('runs', 'copy', 'run.json'));
      const line = refusedLine(await hsn(...args));
      assert.match(line, said);
      assert.match(line, /put it back as it was, name a copy of that with --corpus, or train a new run/);
      assert.deepEqual(fs.readFileSync(tally.path('runs', 'copy', 'run.json')), record);
      assert.ok(!fs.existsSync(out));
      fs.writeFileSync(corpus, was);
    });
  fs.writeFileSync(corpus, was);
  await stored(tally, { run, corpus, rows });
}

/** What was read before stays as it was read; a copy that is named is read, wherever it lies. */
async function stored(
  tally: Tally,
  { run, corpus, rows }: { run: string; corpus: string; rows: readonly DatedText[] },
): Promise<void> {
  const out = tally.path('table.csv');
  const table = ['export', run, '--table', 'texts', '--columns', 'year', '--out', out];
  await tally.expect('dates are those of their texts', async () => {
    assert.equal((await hsn(...table)).code, 0);
    checkDates(out, rows);
  });
  await tally.expect('dates that are stored, after the corpus was sorted', async () => {
    writeDated(
      corpus,
      [...rows].sort((a, b) => a.year - b.year),
    );
    assert.equal((await hsn(...table)).code, 0);
    checkDates(out, rows);
  });
  await tally.expect('a copy that is named', async () => {
    const copy = freshCopy(run, tally.path('runs', 'copy'));
    const kept = writeDated(tally.path('kept', 'elsewhere.csv'), rows);
    const args = ['export', copy, '--table', 'texts', '--columns', 'year', '--out', out];
    refusedLine(await hsn(...args, '--corpus', corpus));
    assert.equal((await hsn(...args, '--corpus', kept)).code, 0);
    checkDates(out, rows);
    // Named once, it is known.
    freshCopy(copy, tally.path('runs', 'again'));
    assert.equal((await hsn('find', tally.path('runs', 'again'), 'the cat')).code, 0);
  });
}

/** Every text with its own years and labels; equal texts have theirs between them, in their order in each split. */
function checkDates(file: string, rows: readonly DatedText[]): void {
  const [header, ...lines] = fs.readFileSync(file, 'utf8').trim().split(/\r\n/);
  const names = header!.split(',');
  // Names of symbols have commas, and quotes around them then.
  const cells = lines.map((line) =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) => cell!),
  );
  const of = (cell: string[], name: string) => cell[names.indexOf(name)]!;
  assert.equal(cells.length, rows.length);
  for (const text of new Set(rows.map((row) => row.text)))
    assert.deepEqual(
      cells.filter((cell) => of(cell, 'text') === text).map((cell) => [of(cell, 'year'), of(cell, 'label')]),
      rows.filter((row) => row.text === text).map(({ year, label }) => [String(year), label]),
    );
}

const small = [
  ...['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'],
  ...['training.steps=2', 'training.batch=16', 'training.evaluateEvery=2', 'training.warmup=1'],
];

/** A run whose symbols are discovered in the first of its planted texts, with what adds files to it. */
async function growingRun(tally: Tally) {
  process.env.HSN_CACHE = tally.path('cache');
  const lines = plantedTexts().map(([subject, text]) => `${subject}\t${text}`);
  const write = (name: string, some: readonly string[]) => {
    fs.mkdirSync(path.dirname(tally.path(name)), { recursive: true });
    fs.writeFileSync(tally.path(name), `${some.join('\n')}\n`);
    return tally.path(name);
  };
  const base = write('texts/base.tsv', lines.slice(0, 60));
  const run = tally.path('runs', 'run');
  const made = await hsn(
    ...['train', '--stage', 'discover', '--corpus', base, '--out', run, '--symbols', '4', '--length', '3'],
    ...small.flatMap((setting) => ['--set', setting]),
  );
  assert.equal(made.code, 0, made.stderr);
  const refused = (what: string, file: string, said: RegExp) =>
    tally.expect(what, async () => {
      const before = contentOf(run);
      assert.match(refusedLine(await hsn('update', run, file)), said);
      assert.deepEqual(differing(before, contentOf(run)), []);
    });
  return { run, lines, write, refused };
}

/** Row 46: files of an update are told by their content. */
async function updated(tally: Tally): Promise<void> {
  const { run, lines, write, refused } = await growingRun(tally);
  const [old, fresh] = [lines.slice(0, 60), lines.slice(60)];
  const same = /has the texts of base\.tsv, which .* has already; nothing was added/;
  await refused('the same content under another name', write('copy.tsv', old), same);
  await refused('the same content in another folder', write('other/base.tsv', old), same);
  await refused('the same texts in another order', write('turned.tsv', old.toReversed()), same);
  write('texts/base.tsv', old.toReversed());
  const more = write('other/base.tsv', fresh);
  await refused('sorted before an update', more, /base\.tsv has the same 60 texts in another order/);
  write('texts/base.tsv', old);
  await tally.expect('other content under the same name', async () => {
    const { code, stderr } = await hsn('update', run, more);
    assert.equal(code, 0, stderr);
    const { text } = Run.open(run).record as { text?: { files: { sentences: number }[] } };
    const counts = text!.files.map(({ sentences }) => sentences);
    assert.deepEqual(counts, [old.length, fresh.length]);
    const { stdout } = await hsn('eval', run, '--json', '--no-stability');
    assert.equal(JSON.parse(stdout).symbols.texts, lines.length);
  });
  await refused('an added file once more', write('again.tsv', fresh), same);
  write('other/base.tsv', fresh.slice(1));
  await refused('an added file lost a row', write('new.tsv', ['a\tb c']), /lacks 1 of the /);
}

export const faults: readonly Fault[] = [
  { row: 46, fault: 'a corpus sorted anew, replaced or changed', inject: changed },
  { row: 46, fault: 'equal content added again; added to a corpus that changed', inject: updated },
];
