import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { tinyLanguage, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { TextFiles } from '@hidden-schema/text';
import { trainedOnTexts } from './small-runs.ts';
import type { Fault, Tally } from './tally.ts';

const names = ['constructor', '__proto__', 'toString', 'valueOf', '=1+1', '+1', '-x', '@sum', "'=1"];
/** Labels cannot begin with these: they are cut off with the other space around. */
const texts = [...names, '=HYPERLINK("x","y")', '\tx', '\rx', '-1.5'];

/** Cells of a CSV as this program writes it. */
function cellsOf(text: string): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(?:,|\r\n)/g))
    cells.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
  return cells;
}

function checkCsv(file: string): void {
  for (const cell of cellsOf(fs.readFileSync(file, 'utf8'))) {
    const number = cell !== '' && Number.isFinite(Number(cell));
    assert.ok(number || !/^[=+\-@\t\r\n]/.test(cell), `${path.basename(file)} holds ${JSON.stringify(cell)}`);
    assert.doesNotMatch(cell, /function|native code|\[object/);
  }
}

/** Row 40: names that every object has, and texts that a spreadsheet would run. */
async function strangeNames(tally: Tally): Promise<void> {
  process.env.HSN_CACHE = tally.path('cache');
  const lines = tinySentences(180).map((line, i) => `${names[i % names.length]}\t${line.split('\t')[1]}`);
  writeTexts(tally.path('texts.tsv'), [...lines, ...names.map((name) => `${name}\t${name} word`)]);
  const run = (await trainedOnTexts(tally, 'run', tinyLanguage())).directory;
  for (const [symbol, name] of ['=cmd', '__proto__', '-1+1'].entries())
    assert.equal((await hsn('rename', '--', run, String(symbol), name)).code, 0);
  for (const args of [
    ['graph', run, '--samples', '4', '--limit', '100', '--out', tally.path('figures')],
    ['labels', run, '--out', tally.path('figures')],
    ['symbols', run, '--out', tally.path('figures')],
    ...['csv', 'json', 'gexf', 'graphml'].map((ending) => [
      ...['graph', run, '--samples', '4', '--limit', '100', '--out', tally.path('figures')],
      ...['--threshold', '0.001', '--export', tally.path('figures', `export.${ending}`)],
    ]),
  ])
    await tally.expect(`hsn ${args[0]} ${args.at(-1)}`, async () => {
      fs.mkdirSync(tally.path('figures'), { recursive: true });
      const ended = await hsn(...args);
      assert.equal(ended.code, 0, ended.stderr);
      assert.doesNotMatch(ended.stdout, /native code|\[object/);
    });
  for (const name of fs.readdirSync(tally.path('figures')))
    await tally.expect(`what ${name} holds`, () => {
      if (name.endsWith('.csv')) checkCsv(tally.path('figures', name));
      else assert.doesNotMatch(fs.readFileSync(tally.path('figures', name), 'latin1'), /native code/);
    });
  await walksAgain(tally, run);
  await fileNames(tally);
}

/** Texts that `hsn encode` wrote are read again as they were. */
async function walksAgain(tally: Tally, run: string): Promise<void> {
  const input = tally.path('strange.jsonl');
  fs.writeFileSync(input, texts.map((text) => `${JSON.stringify({ text })}\n`).join(''));
  for (const format of ['tsv', 'jsonl', 'parquet'])
    await tally.expect(`hsn encode to ${format} and back`, async () => {
      const out = tally.path(`walks.${format}`);
      const ended = await hsn('encode', run, input, '--out', out);
      assert.equal(ended.code, 0, ended.stderr);
      if (format === 'tsv') assert.doesNotMatch(fs.readFileSync(out, 'utf8'), /\t[=+@]/);
      assert.deepEqual(
        await read(tally, out),
        texts.map((text) => text.trim()),
      );
    });
}

async function read(tally: Tally, input: string): Promise<string[]> {
  const files = await TextFiles.find(input, { cache: tally.path('cache'), textColumn: 'text' });
  const all: string[] = [];
  for await (const batch of files.texts()) all.push(...batch);
  return all;
}

async function fileNames(tally: Tally): Promise<void> {
  fs.mkdirSync(tally.path('named'));
  for (const name of names) fs.writeFileSync(tally.path('named', `${name}.txt`), `${name}\n`);
  await tally.expect('files of these names', async () =>
    assert.deepEqual((await read(tally, tally.path('named'))).sort(), [...names].sort()),
  );
}

export const faults: readonly Fault[] = [
  { row: 40, fault: 'names that every object has, and texts that are formulas', inject: strangeNames },
];
