// Every piece that is made from texts, on models that train in a moment; and kept when asked for again.
import fs from 'node:fs';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguageFlags, tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = temporaryFolder('reproduce-all');
beforeAll(() => {
  folder.holdCache();
});
afterAll(folder.remove);

const pieces = [
  'table2',
  'table4',
  'table7',
  'table8',
  'table9',
  'figure2',
  'figure3',
  'figure4',
  'figure11',
];
const out = folder.path('pages');

test('hsn reproduce all makes one page, and keeps what it has made', async () => {
  const lines = tinySentences().map((line) => line.replace(/^good/, '<img src=x>'));
  const corpus = `tiny=${writeTexts(folder.path('tiny.tsv'), lines)}`;
  const given = ['--corpus', corpus, '--only', pieces.join(','), '--out', out];
  const args = ['reproduce', 'all', '--quick', ...given, ...tinyLanguageFlags];
  const first = await hsn(...args);
  expect(first.code, first.stderr).toBe(0);
  expect(first.stdout).toContain(`${pieces.length} of ${pieces.length} made`);
  const page = fs.readFileSync(folder.path('pages', 'index.html'), 'utf8');
  for (const title of [
    'Tables 2 and 6',
    'Table 4',
    'Table 7 and Figures 7 to 10',
    'Table 8',
    'Tables 9 and 10',
  ])
    expect(page).toContain(`<h2>${title}`);
  expect(page.match(/<svg/g)!.length).toBeGreaterThan(12);
  const markdown = fs.readFileSync(folder.path('pages', 'index.md'), 'utf8');
  expect(markdown.match(/(?<!\\)<img/)).toBeNull();
  expect(page).not.toContain('<img');
  expect(page).toContain('&lt;img src=x&gt;');
  expect(markdown).toMatch(/\| HSN\(100, 20\) +\| ours +\| +1 \|/);
  const drawings = [...markdown.matchAll(/\]\(([^)]+\.svg)\)/g)].map(([, file]) => file!);
  expect(drawings.length).toBeGreaterThan(12);
  for (const file of drawings) expect(fs.existsSync(folder.path('pages', file)), file).toBe(true);
  const again = await hsn(...args);
  expect(again.stderr.match(/made before: kept/g)).toHaveLength(pieces.length);
  const other = await hsn(...args, '--set', 'decoder.width=8', '--only', 'figure3');
  expect(other.stderr).not.toContain('kept');
}, 600_000);

test.each([
  [['--seeds', '2'], /^hsn: all does not use --seeds; it takes --quick/],
  [['--quick', '--only', 'table99'], /^hsn: --only takes of table1, .*got "table99"\n$/],
  [['--quick', '--corpus', 'ptb=/nowhere'], /^hsn: --corpus has ptb=\/nowhere, which is not there\n$/],
  [[], /^hsn: all at full size needs --corpus with texts and atomic=/],
])('refuses %s', async (flags, message) => {
  const ended = await hsn('reproduce', 'all', '--out', folder.path('none'), ...flags);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(message);
  expect(fs.existsSync(folder.path('none'))).toBe(false);
});
