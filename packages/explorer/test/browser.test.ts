import fs from 'node:fs';
import path from 'node:path';
import { readMetrics } from '@hidden-schema/hsn';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { drawnLinks } from '../src/page/graph/scene.ts';
import { decimal } from '../src/page/labels.ts';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import type { Answer } from '../src/shared/api.ts';
import { type Curve, Curves } from '../src/shared/curves.ts';
import { answerOf, launch, openPage as openAt, settled, symbolsIn } from './browse.ts';
import { pixelsOf as countPixels } from './pixels.ts';
import { makeSmallRun, markup, type SmallRun } from './small-run.ts';

let small: SmallRun;
let explorer: Explorer;
let browser: Browser;
let page: Page;
/** Whatever a page complained of, or asked of another server. */
const complaints: string[] = [];

const openPage = (from: Browser, hash = '', width = 1280): Promise<Page> =>
  openAt(from, explorer.url, complaints, { hash, width });
const api = <T>(address: string, body?: unknown): Promise<T> => answerOf<T>(explorer.url, address, body);

beforeAll(async () => {
  small = await makeSmallRun();
  explorer = await startExplorer({ run: small.run });
  browser = await launch();
}, 120_000);
afterEach(async () => {
  const harmed = await page.evaluate('globalThis.harmed ?? null');
  await page.close();
  expect([harmed, complaints]).toEqual([null, []]);
  complaints.length = 0;
});
afterAll(async () => {
  await browser?.close();
  await explorer?.close();
  if (small) fs.rmSync(small.folder, { recursive: true, force: true });
});

const pixelsOf = (picture: Buffer, colour: readonly number[]) => countPixels(browser, picture, colour);
const community = [59, 125, 216] as const; // of the largest community
const walkColour = [240, 162, 2] as const;
/** A busy machine takes its time. */
const poll = <T>(value: () => Promise<T> | T) => expect.poll(value, { timeout: 30_000 });
const text = async (selector: string) =>
  ((await page.locator(selector).first().allInnerTexts())[0] ?? '').trim();

async function find(query: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(query);
  await page.keyboard.press('Enter');
  await page.waitForSelector('article.symbol');
  await settled(page);
}

describe('graph', () => {
  test('is drawn with the right counts, and the slider changes them', async () => {
    page = await openPage(browser);
    const graph = await api<Answer<'graph'>>('/api/graph');
    const shown = drawnLinks(graph, false).length;
    const canvas = page.locator('.canvas');
    expect(await canvas.getAttribute('data-nodes')).toBe('12');
    expect(await canvas.getAttribute('data-links')).toBe(String(shown));
    expect(await text('.counts')).toBe(`12 themes · ${shown} links`);
    await poll(async () => pixelsOf(await canvas.screenshot(), community)).toBeGreaterThan(200);
    await page.getByText('Compare with the true graph').click();
    await page.getByLabel('Least probability of a link').fill('0.01');
    await poll(() => canvas.getAttribute('data-links')).toBe(String(graph.links.length));
    expect(page.url()).toContain('threshold=0.01');
    const truth = new Set(graph.truth!.map(String));
    const correct = graph.links.filter(([i, j]) => truth.has(String([i, j]))).length;
    await poll(() => text('.truth-counts')).toBe(
      `${correct} correct ${graph.links.length - correct} extra ${truth.size - correct} missing`,
    );
  });

  test('flies to a symbol that was searched, which a click then selects', async () => {
    page = await openPage(browser);
    await find('7');
    expect(await text('article.symbol h2')).toContain('no. 7');
    expect(page.url()).toContain('symbol=7');
    await page.keyboard.press('Escape');
    await page.waitForSelector('article.symbol', { state: 'detached' });
    // The symbol now lies in the middle.
    await page.locator('.canvas').click();
    await page.waitForSelector('article.symbol[data-symbol="7"]');
    await page.goBack();
    await page.waitForSelector('article.symbol', { state: 'detached' });
    await page.locator('.canvas').press('n');
    await page.waitForSelector('article.symbol[data-symbol="0"]');
    await page.reload();
    await page.waitForSelector('article.symbol[data-symbol="0"]');
  });

  test('looks the same where there is no WebGL, and the wheel and a drag move it', async () => {
    page = await openPage(browser);
    const picture = () => page.locator('.canvas').screenshot();
    await poll(async () => pixelsOf(await picture(), community)).toBeGreaterThan(200);
    await settled(page);
    expect(Number(await page.locator('.canvas canvas').getAttribute('data-names'))).toBeGreaterThan(10);
    const whole = await picture();
    await page.close();
    const without = await launch(['--disable-3d-apis']);
    try {
      page = await openPage(without);
      await poll(async () => whole.equals(await picture())).toBe(true);
      const { x, y, width, height } = (await page.locator('.canvas').boundingBox())!;
      await page.mouse.move(x + width / 2, y + height / 2);
      await page.mouse.wheel(0, -300);
      await poll(() => page.url()).toMatch(/graphat=0\.5\d*_0\.5\d*_0\.6/);
      await page.mouse.down();
      await page.mouse.move(x + width / 2 + 90, y + height / 2, { steps: 3 });
      await page.mouse.up();
      await poll(() => page.url()).toMatch(/graphat=0\.[1-4]\d*_0\.5\d*_0\.6/);
      expect(whole.equals(await picture())).toBe(false);
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.mouse.move(0, 0);
      await poll(async () => whole.equals(await picture())).toBe(true);
    } finally {
      await page.close().catch(() => undefined);
      await without.close();
      page = await openPage(browser);
    }
  });
});

describe('symbol', () => {
  test('shows what the library says, markup as text', async () => {
    page = await openPage(browser, '#symbol=1');
    const symbol = await api<Answer<'symbol'>>('/api/symbol/1');
    await page.waitForSelector('article.symbol[data-symbol="1"]');
    const tokens = await page.locator('.tokens li').allInnerTexts();
    expect(tokens.map((line) => line.replace(/ \d+%$/, ''))).toEqual(symbol.tokens.map(({ token }) => token));
    expect(tokens.join(' ')).toContain(markup[1]);
    const neighbours = await symbolsIn(page.locator('.neighbours .symbol-link'));
    expect(neighbours.map(Number)).toEqual(symbol.neighbours.slice(0, 12).map((next) => next.symbol));
    expect(await page.locator('.examples li').allInnerTexts()).toEqual(
      symbol.examples.map((example) => example.text),
    );
    expect(await text('.examples mark')).toBe(symbol.examples[0]!.tokens![symbol.examples[0]!.positions[0]!]);
  });

  test('is renamed, here and everywhere, and stays so', async () => {
    page = await openPage(browser, '#symbol=2');
    const name = `<b onclick=window.harmed=1>${markup[0]}`;
    await page.locator('.editing summary').click();
    await page.getByLabel('Name of this theme').fill(name);
    await page.getByRole('button', { name: 'Save' }).click();
    await poll(() => text('article.symbol h2')).toBe(`${name} no. 2`);
    expect(JSON.parse(fs.readFileSync(path.join(small.run, 'names.json'), 'utf8')).names).toEqual({
      2: name,
    });
    await page.reload();
    await poll(() => text('article.symbol h2')).toBe(`${name} no. 2`);
    await find(name.slice(0, 12));
    expect(await page.locator('article.symbol').getAttribute('data-symbol')).toBe('2');
    await page.locator('.editing summary').click();
    await page.getByLabel('Name of this theme').fill('');
    await page.keyboard.press('Enter');
    await poll(() => text('article.symbol h2')).toContain('no. 2');
    await poll(() => text('article.symbol h2')).not.toContain(name);
  });
});

describe('sentence', () => {
  test('lights its walk up, the one the library reads', async () => {
    page = await openPage(browser, '#panel=sentence');
    const { sentences } = await api<Answer<'sentences'>>('/api/sentences?limit=3');
    const typed = sentences[2]!.text;
    const encoded = await api<Answer<'reading'>>('/api/encode', { text: typed });
    const symbols = encoded.walk!.steps.map(({ symbol }) => symbol);
    const canvas = page.locator('.canvas');
    expect(await pixelsOf(await canvas.screenshot(), walkColour)).toBe(0);
    await page.locator('#sentence').fill(typed);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.walk');
    expect(await page.locator('.walk').getAttribute('data-walk')).toBe(symbols.join(' '));
    const shown = await symbolsIn(page.locator('.walk .symbol-link'));
    expect(shown.map(Number)).toEqual(symbols);
    await settled(page);
    expect(await pixelsOf(await canvas.screenshot(), walkColour)).toBeGreaterThan(300);
    await page.locator('.picker li button').first().click();
    const right = (await api<Answer<'reading'>>('/api/encode', { text: sentences[0]!.text })).walk!.steps;
    const hits = right.filter(({ symbol }, at) => symbol === sentences[0]!.walk![at]).length;
    await poll(() => text('.walk p')).toContain(`${hits} of 6 themes are the true ones`);
  });

  test('with unknown tokens is explained', async () => {
    page = await openPage(browser, '#panel=sentence');
    await page.locator('#sentence').fill(`${markup[0]} <i>no</i> such`);
    await page.getByRole('button', { name: 'Read it' }).click();
    await page.waitForSelector('.failure');
    expect(await text('.failure p')).toContain('Not in the vocabulary: “<i>no</i>”, “such”.');
    const unknown = await page.locator('.unknown').allInnerTexts();
    expect(unknown.map((word) => word.trim())).toEqual(['<i>no</i>', 'such']);
  });
});

describe('page', () => {
  test('training: a curve for every number', async () => {
    page = await openPage(browser, '#panel=training');
    await page.waitForSelector('.chart polyline');
    await settled(page);
    const { curves } = await api<{ curves: Curve[] }>('/api/curves');
    const logged = new Curves();
    for (const row of readMetrics(path.join(small.run, 'metrics.jsonl')).rows) logged.add(row);
    expect(curves).toEqual(logged.list());
    const names = await page
      .locator('.chart')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-metric')));
    expect(names).toEqual(curves.map(({ name }) => name));
    expect(await text('.chart[data-metric="loss"] figcaption .number')).toBe(
      `${decimal(curves[0]!.y.at(-1)!)} step 20`,
    );
    // Pointing tells the value there; dragging shows a part, and two clicks show all again.
    const plot = page.locator('.chart[data-metric="loss"] .plot');
    const number = () => text('.chart[data-metric="loss"] figcaption .number');
    const steps = async () => (await plot.locator('polyline').getAttribute('points'))!.split(' ').length;
    const { x, y, width } = (await plot.boundingBox())!;
    await page.mouse.move(x + 50, y + 60);
    await poll(number).toBe(`${decimal(curves[0]!.y[0]!)} step ${curves[0]!.x[0]}`);
    const all = await steps();
    expect(all).toBe(curves[0]!.x.length);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + 60, { steps: 4 });
    await page.mouse.up();
    await poll(steps).toBeLessThan(all);
    await page.mouse.dblclick(x + width / 2, y + 60);
    await poll(steps).toBe(all);
  });

  test('run: the figures of the evaluation', async () => {
    page = await openPage(browser, '#panel=run');
    await page.waitForSelector('.evaluation');
    const figures = await api<Record<string, number>>('/api/evaluation');
    for (const [name, value] of Object.entries(figures))
      expect(await text(`tr[data-figure="${name}"] td.number`)).toBe(decimal(value));
    const download = page.waitForEvent('download');
    await page.getByTitle('Download evaluation.csv').click();
    const saved = fs.readFileSync(await (await download).path(), 'utf8');
    expect(saved).toContain(`auc,${figures.auc},ROC AUC of link probabilities`);
  });

  test('light and dark, by the system and by choice; small windows; keys', async () => {
    page = await openPage(browser, '', 600);
    const theme = () => page.locator('html').getAttribute('data-theme');
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect([await theme(), await ground()]).toEqual(['light', 'rgb(245, 247, 250)']);
    await page.emulateMedia({ colorScheme: 'dark' });
    await poll(theme).toBe('dark');
    expect(await ground()).toBe('rgb(14, 19, 25)');
    await page.getByRole('button', { name: 'Use light colours' }).click();
    await poll(theme).toBe('light');
    await page.reload();
    await page.waitForSelector('.canvas canvas');
    expect(await theme()).toBe('light');
    for (const panel of ['symbol', 'sentence', 'training', 'runs', 'run']) {
      await page.evaluate(`location.hash = '#panel=${panel}'`);
      await settled(page);
      expect(await page.evaluate<number>('document.scrollingElement.scrollWidth')).toBeLessThanOrEqual(600);
    }
    await page.locator('#place-model').press('ArrowRight');
    await poll(() => page.locator('#place-themes').getAttribute('aria-selected')).toBe('true');
  });

  test('says when the server is gone', async () => {
    const other = await startExplorer({ run: small.run });
    page = await browser.newPage();
    await page.goto(other.url);
    await page.waitForSelector('.canvas canvas');
    await other.close();
    await page.locator('#place-texts').click();
    await page.waitForSelector('.failure');
    expect(await text('.failure')).toContain('does not answer. Is “hsn serve” still running?');
  });
});
