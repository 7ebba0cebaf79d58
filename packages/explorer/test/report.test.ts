import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launch } from './browse.ts';

const folder = temporaryFolder('report-page');
const hostile = '</script><script>document.title="taken"</script><img src=x onerror="document.title=1">';
const complaints: string[] = [];
const title = 'What 120 texts of planted.jsonl are about';
let browser: Browser;
let page: Page;

beforeAll(async () => {
  folder.holdCache();
  const corpus = folder.path('planted.jsonl');
  const rows = plantedTexts().map(([label, text], n) => ({
    text: n === 7 ? `${text} ${hostile}` : text,
    label: n === 7 ? `${label}<b>` : label,
    year: 2000 + (n % 12),
  }));
  fs.writeFileSync(corpus, rows.map((row) => JSON.stringify(row)).join('\n'));
  const small = ['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'];
  const settings = ['--symbols', '6', '--length', '3', ...small.flatMap((one) => ['--set', one])];
  const run = folder.path('run');
  const trained = await hsn(
    'train',
    '--corpus',
    corpus,
    '--time-column',
    'year',
    '--stage',
    'discover',
    '--no-clean',
    '--out',
    run,
    ...settings,
  );
  expect(trained.code, trained.stderr).toBe(0);
  const written = await hsn('report', run, '--samples', '5', '--out', folder.path('report.html'));
  expect(written.code, written.stderr).toBe(0);
  browser = await launch();
  page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
  page.setDefaultTimeout(90_000);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('request', (sent) => {
    if (!sent.url().startsWith('file:')) complaints.push(`asked ${sent.url()}`);
  });
  await page.goto(pathToFileURL(folder.path('report.html')).href);
});
afterAll(async () => {
  await browser?.close();
  folder.remove();
});

const shown = () => page.locator('#texts li').count();

describe('the report in a browser', () => {
  test('has its charts, and nothing of a text became markup', async () => {
    for (const heading of ['Search', 'All themes', 'Labels compared', 'Over time', 'About this run'])
      expect(await page.locator('summary h2', { hasText: heading }).count()).toBe(1);
    expect(await page.locator('figure svg').count()).toBeGreaterThanOrEqual(4);
    expect(await page.title()).toBe(title);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('begins with what was read, the picture, themes with texts, groups and times, all within two screens', async () => {
    expect(await page.locator('.lede').first().textContent()).toContain('120 texts');
    // Dots of texts, names of themes, lines between them.
    const picture = page.locator('.picture svg');
    expect(await picture.locator('text').count()).toBe(6);
    const dots = await picture
      .locator('path[stroke-linecap]')
      .evaluateAll((paths) => paths.map((path) => path.getAttribute('d')!.split('h0').length - 1));
    expect(dots.reduce((sum, count) => sum + count, 0)).toBe(120);
    const themes = page.locator('.themes > li');
    expect(await themes.count()).toBe(6);
    expect(await page.locator('.themes .example').count()).toBe(12);
    const shares = (await themes.locator('.share').allTextContents()).map((share) =>
      Number.parseInt(share, 10),
    );
    expect(shares).toEqual(shares.toSorted((a, b) => b - a));
    const groups = await page.locator('#differences li b').allTextContents();
    expect(groups.toSorted()).toEqual(['food', 'music', 'space']);
    expect(await page.locator('details[open]').count()).toBe(0);
    const most = await page.evaluate('document.getElementById("more-heading").getBoundingClientRect().top');
    expect(most).toBeLessThan(2 * 900);
    expect(fs.statSync(folder.path('report.html')).size).toBeLessThan(3e6);
  });

  test('writes walks in words', async () => {
    await page.locator('#s1 summary').click();
    const names = await page.locator('.picture svg text').allTextContents();
    const walks = await page.locator('#s1 td:nth-child(3)').allTextContents();
    expect(walks.length).toBeGreaterThan(5);
    for (const walk of walks) for (const step of walk.split(' → ')) expect(names).toContain(step);
    await page.locator('#s1 summary').click();
  });

  test('prints its first screen, and folds only where they are open', async () => {
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#s0').isVisible()).toBe(false);
    expect(await page.locator('.themes').isVisible()).toBe(true);
    await page.emulateMedia({ media: null });
    expect(await page.locator('#s0').isVisible()).toBe(true);
  });

  test('finds texts by words, and symbols with them', async () => {
    await page.locator('#search summary').click();
    expect(await shown()).toBe(0);
    await page.fill('#q', 'rocket moon');
    const expected = plantedTexts().filter(
      ([, text]) => text.includes('rocket') && text.includes('moon'),
    ).length;
    expect(await page.locator('#found').textContent()).toContain(`${expected} texts`);
    expect(await shown()).toBe(Math.min(25, expected));
    await page.fill('#q', 'rocket');
    expect(await page.locator('#symbols li').count()).toBeGreaterThan(0);
  });

  test('a text with markup is shown as it is written, and runs nothing', async () => {
    await page.fill('#q', 'onerror');
    expect(await shown()).toBe(1);
    expect(await page.locator('#texts li p').first().textContent()).toContain(hostile);
    expect(await page.title()).toBe(title);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('narrows by label, symbol and certainty, and shows more on demand', async () => {
    await page.fill('#q', '');
    await page.selectOption('#l', 'music');
    expect(await shown()).toBe(25);
    await page.click('#more');
    expect(await shown()).toBe(40);
    await page.check('#u');
    const unsure = await page.locator('#found').textContent();
    expect(unsure).toMatch(/0 themes, \d texts?/);
    await page.uncheck('#u');
    await page.selectOption('#l', '');
    await page.fill('#q', 'rocket');
    await page.locator('#texts .walk button').first().click();
    expect(await page.inputValue('#k')).not.toBe('');
  });

  test('loads nothing, complains of nothing, and lets no other script run', async () => {
    const ran = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "taken"';
      document.head.append(script);
      return document.title;
    });
    expect(ran).toBe(title);
    // The only complaint is about the script just refused.
    expect(complaints.filter((text) => !text.includes('Content Security Policy'))).toEqual([]);
    expect(complaints).toHaveLength(1);
  });
});
