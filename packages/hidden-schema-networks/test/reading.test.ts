import fs from 'node:fs';
import { plantedTexts } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { open, type Schema, texts, train } from '../src/index.ts';

const folder = temporaryFolder('face-reading');
let schema: Schema;

/** Texts in memory, with a date and a column of their own. */
const items = plantedTexts().map(([label, text], n) => ({
  text,
  label,
  day: label === 'music' ? '2005-03-01' : `20${10 + (n % 10)}-0${1 + (n % 9)}-11`,
  side: n % 2,
}));

beforeAll(async () => {
  folder.holdCache();
  const decoder = { width: 16, layers: 1, heads: 2, vocabularySize: 320 };
  await train(texts(items, { time: 'day' }), {
    out: folder.path('run'),
    symbols: 6,
    length: 3,
    stage: 'discover',
    settings: { decoder },
  });
  schema = await open(folder.path('run'));
});
afterAll(() => {
  schema?.free();
  folder.remove();
});

test('texts in memory are found, compared, predicted and dated by their columns', async () => {
  const found = await schema.find('rocket and comet', { top: 2 });
  expect(found.sentences.map(({ label }) => label)).toEqual(['space', 'space']);
  const compared = await schema.compare({ groups: ['food', 'music'] });
  expect(compared.symbols[0]!.corrected).toBeLessThan(1e-6);
  const sides = await schema.compare({ by: 'side' });
  expect(sides.groups).toEqual([
    { group: '0', texts: 60 },
    { group: '1', texts: 60 },
  ]);
  expect((await schema.predict()).accuracy.share).toBeGreaterThan(0.9);
  const { periods, symbols } = await schema.time({ period: 'year' });
  expect([periods[0]!.label, periods.at(-1)!.label]).toEqual(['2005', '2019']);
  expect(symbols.flatMap(({ bursts }) => bursts.map(({ label }) => label))).toContain('2005');
  await expect(schema.compare({ by: 'colour' })).rejects.toThrow('no text has a "colour"');
  await expect(schema.time({ column: 'side' })).rejects.toThrow('as its date; expected a year');
});

test('words carry symbols, and tables go to files', async () => {
  const { words } = await schema.explain('the guitar and the violin');
  expect(words.find(({ word }) => word === 'guitar')!.symbol).not.toBeNull();
  const file = folder.path('texts.jsonl');
  expect(await schema.exportTable('texts', file, { columns: ['day'], unsure: 0.1 })).toBe(120);
  const rows = fs
    .readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(rows.filter(({ unsure }) => unsure)).toHaveLength(12);
  for (const { text, day } of rows) expect(items).toContainEqual(expect.objectContaining({ text, day }));
  await expect(schema.exportTable('texts', folder.path('texts.doc'))).rejects.toThrow(
    'a table goes to a file ending in .csv, .jsonl, .parquet',
  );
});

test("symbols' numbers from before another edit are refused, and the schema's own edits go on", async () => {
  using mine = await open(folder.path('run'));
  using other = await open(folder.path('run'));
  const before = mine.symbols;
  await other.merge(0, 1);
  for (const edit of [() => mine.merge(2, 3), () => mine.split(4), async () => mine.rename(2, 'songs')])
    await expect(edit()).rejects.toThrow('were edited meanwhile, so their numbers are others');
  await other.split(0);
  expect(other.symbols).toBe(before);
  await other.undo();
  await other.undo();
});
