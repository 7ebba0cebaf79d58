import fs from 'node:fs';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { tinyPathFlags, tinyReasoningFlags } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-table3');
afterAll(folder.remove);

interface Row {
  model: string;
  search?: { how: string; count: number };
}

test('table3 --quick trains what it compares from tuples alone, and has every row', async () => {
  const tuples = folder.path('tuples');
  writePlanted(tuples, plantedTuples({ kinds: 2, events: 10, relations: 2 }));
  const out = folder.path('tables');
  const few = [...tinyReasoningFlags, ...tinyPathFlags, '--steps', '4'];
  const ended = await hsn('reproduce', 'table3', '--quick', '--corpus', tuples, '--out', out, ...few);
  expect(ended).toMatchObject({ code: 0 });
  const { rows, paths } = JSON.parse(fs.readFileSync(`${out}/table3.json`, 'utf8'));
  const searches = ['greedy1', 'beam5', 'beam10', 'sample10', 'rank50'];
  const named = (rows as Row[]).map(({ model, search }) =>
    search ? `${model} ${search.how}${search.count}` : model,
  );
  expect(named).toEqual([
    ...['constant', 'nearest', 'vote', 'kernel', 'posterior', 'alone greedy1'],
    ...['comet', 'bart', 'ar-counts', 'ar-lstm', 'ar-counts+lstm'].flatMap((model) =>
      searches.map((search) => `${model} ${search}`),
    ),
  ]);
  expect(paths.map(({ path }: { path: string }) => path)).toEqual(['counts', 'lstm']);
  const page = fs.readFileSync(`${out}/table3.md`, 'utf8');
  expect(page).toContain('| COMET (BART) ');
  expect(page).toContain('of what guessing misses');
  // Runs that are there are kept: only the questions are asked again.
  const again = await hsn('reproduce', 'table3', '--quick', '--corpus', tuples, '--out', out, ...few);
  expect(again.code).toBe(0);
  expect(again.stderr).not.toMatch(/train +\d/);
}, 600_000);
