// One declaration and one line of the table: a method, a verb with help and files, and an endpoint that is described.
import fs from 'node:fs';
import { analysis } from '@hidden-schema/studies';
import { analyses } from '@hidden-schema/studies/analyses';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguageFlags, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { analysisEndpoints } from '../../explorer/src/server/analyses.ts';

const returns = analysis({
  name: 'returns',
  summary: 'how many walks end where they begin',
  description: 'Count the walks that end on the symbol they begin with.',
  needs: ['texts'],
  options: z.strictObject({ step: z.int().min(0).default(0).describe('the step that walks return to') }),
  files: true,
  run: async ({ encoded }, { step }) => {
    const texts = await encoded();
    let count = 0;
    for (let n = 0; n < texts.count; n++) if (texts.walk(n)[step] === texts.walk(n).at(-1)) count++;
    return { texts: texts.count, count };
  },
  tables: async ({ texts, count }) => {
    const columns = [{ title: 'texts' }, { title: 'returning' }];
    return { sheets: [{ name: 'returns', title: 'Walks that return', columns, rows: [[texts, count]] }] };
  },
  examples: [['hsn returns run', 'all walks']],
  notes: 'A walk returns where its last symbol is its first.',
});

const folder = temporaryFolder('own-analysis');
const run = folder.path('run');
afterAll(folder.remove);

beforeAll(async () => {
  folder.holdCache();
  // The line; what is made from the table is loaded after it.
  Object.assign(analyses, { returns: () => Promise.resolve(returns) });
  const sizes = ['--symbols', '6', '--length', '3', ...tinyLanguageFlags, '--set', 'warmStart.steps=0'];
  const made = await hsn('train', '--corpus', writeTexts(folder.path('reviews.tsv')), '--out', run, ...sizes);
  expect(made.code, made.stderr).toBe(0);
}, 300_000);

test('is a method, a verb with files and help, and an endpoint', async () => {
  const { open } = await import('../src/index.ts');
  using schema = await open(run);
  const own = schema as unknown as { returns(options: object): Promise<{ texts: number; count: number }> };
  const library = await own.returns({ step: 0 });
  const walks = (await hsn('encode', run, folder.path('reviews.tsv'), '--json')).stdout.trim().split('\n');
  const read = walks.map((line) => (JSON.parse(line) as { walk: number[] }).walk);
  expect(library).toEqual({ texts: read.length, count: read.filter((walk) => walk[0] === walk[2]).length });
  await expect(own.returns({ step: -1 })).rejects.toThrow(
    'the option step takes a whole number from 0, got -1',
  );

  expect(JSON.parse((await hsn('returns', run, '--json')).stdout)).toEqual(library);
  const printed = await hsn('returns', run, '--step', '0');
  expect(printed.stdout).toContain('Walks that return');
  expect(fs.readFileSync(`${run}/figures/returns.csv`, 'utf8')).toBe(
    `texts,returning\r\n${library.texts},${library.count}\r\n`,
  );
  expect((await hsn('returns', run, '--step', 'x')).stderr).toBe(
    'hsn: --step takes a whole number from 0, got x\n',
  );
  expect((await hsn('help', 'returns')).stdout).toContain('the step that walks return to (default: "0")');
  expect((await hsn('--help')).stdout).toContain('how many walks end where they begin');

  const endpoint = (await analysisEndpoints()).find(({ path }) => path === '/api/analyses/returns')!;
  expect(endpoint.summary).toBe('How many walks end where they begin (needs texts)');
  expect(endpoint.body.parse({})).toEqual({ step: 0 });
}, 300_000);
