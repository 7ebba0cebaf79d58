// What a colleague does first, in a real browser: look, point, compare, merge and undo, change the run, on a phone as well.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { title } from '../src/page/labels.ts';
import { toScreen, WHOLE } from '../src/page/texts/camera.ts';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import type { Answer } from '../src/shared/api.ts';
import { answerOf, launch, openPage, settled } from './browse.ts';
import { pixelsOf } from './pixels.ts';
import { LENGTH, makeSmallDiscovered, type SmallDiscovered, SYMBOLS } from './small-discovered.ts';

const FEW = 60;
const AMBER = [240, 162, 2] as const;
let small: SmallDiscovered;
let explorer: Explorer;
let browser: Browser;
let page: Page;
let graph: Answer<'graph'>;
let places: number[];
let walks: Uint16Array;
let all: Answer<'encoded'>['sentences'];
const complaints: string[] = [];

const api = <T>(address: string, body?: unknown): Promise<T> => answerOf<T>(explorer.url, address, body);
const poll = <T>(value: () => Promise<T> | T) => expect.poll(value, { timeout: 30_000 });
const bytes = (base64: string) => Uint8Array.from(Buffer.from(base64, 'base64')).buffer;
const canvas = () => page.locator('.text-canvas');
const open = async (hash = '', width = 1280) => {
  page = await openPage(browser, explorer.url, complaints, { hash: `#${hash}`, width });
  await settled(page);
};

beforeAll(async () => {
  small = await makeSmallDiscovered(FEW);
  explorer = await startExplorer({ run: [small.run, small.other] });
  browser = await launch();
  graph = await api<Answer<'graph'>>('/api/graph?run=planted');
  const map = await api<Answer<'map'>>('/api/map?run=planted');
  places = Array.from(new Uint16Array(bytes(map.places)), (value) => value / 65_535);
  walks = new Uint16Array(bytes(map.walks));
  all = (await api<Answer<'encoded'>>('/api/encoded?run=planted&limit=200')).sentences;
}, 240_000);
afterEach(async () => {
  await page.close();
  expect(complaints).toEqual([]);
  complaints.length = 0;
});
afterAll(async () => {
  await browser?.close();
  await explorer?.close();
  small?.remove();
});

/** What the page may show while it loads is noted: the network alone must not come before the map. */
const noteNetworks = () =>
  page.evaluate(`
    globalThis.networks = 0;
    new MutationObserver(() => { networks += document.querySelectorAll('.graph-side').length })
      .observe(document.body, { childList: true, subtree: true })`);
const networks = () => page.evaluate<number>('networks');
const nameOf = (symbol: number) => title(graph.nodes[symbol]!);
const stepsOf = (n: number) => [...new Set(walks.subarray(n * LENGTH, (n + 1) * LENGTH))];
/** Where a text's dot is on the page, on the whole map. */
async function placeOf(n: number): Promise<[number, number]> {
  const box = (await canvas().boundingBox())!;
  const [x, y] = toScreen(WHOLE, box, [places[2 * n]!, places[2 * n + 1]!]);
  return [box.x + x, box.y + y];
}
/** The text whose dot is farthest from all others. */
function alone(): number {
  const gap = (n: number) =>
    Math.min(
      ...all
        .filter(({ index }) => index !== n)
        .map(({ index: m }) =>
          Math.hypot(places[2 * n]! - places[2 * m]!, places[2 * n + 1]! - places[2 * m + 1]!),
        ),
    );
  return all
    .filter(({ text }) => !text.includes('<'))
    .map(({ index }) => index)
    .sort((a, b) => gap(b) - gap(a))[0]!;
}

test('the first view says what it is and opens on the map at once, never on the network', async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
    globalThis.networks = 0;
    new MutationObserver(() => { networks += document.querySelectorAll('.graph-side').length })
      .observe(document.body, { childList: true, subtree: true });
  })`);
  await page.goto(`${explorer.url}#run=planted`);
  await page.waitForSelector('.text-canvas[data-texts="120"]', { timeout: 90_000 });
  await poll(() => page.locator('.themes li').count()).toBe(SYMBOLS);
  expect(await networks()).toBe(0);
  expect(await page.locator('.explained').textContent()).toContain('each name is a theme');
  expect(await page.locator('.empty').count()).toBe(0);
  for (const word of ['symbol', 'community', 'log-prob', 'none'])
    expect(((await page.locator('body').textContent()) ?? '').toLowerCase()).not.toContain(word);
});

test('pointing at a text draws its walk, lists it in words, and marks the words that carry each step', async () => {
  await open('run=planted&show=map');
  const n = alone();
  const amber = async () => pixelsOf(browser, await canvas().screenshot(), AMBER);
  expect(await amber()).toBe(0);
  await page.mouse.move(...(await placeOf(n)));
  await poll(() => page.locator('.tip-step').allInnerTexts()).toEqual(
    stepsOf(n).map((symbol, at) => `${at + 1} ${nameOf(symbol)}`),
  );
  const { words } = await api<Answer<'explain'>>('/api/explain?run=planted', {
    text: all[n]!.text,
  });
  await poll(() => page.locator('.tip mark').count()).toBe(words.length);
  expect(words.length).toBeGreaterThan(0);
  await poll(amber).toBeGreaterThan(50);
});

test('pointing at a theme tells its words, its share and what follows it', async () => {
  await open('run=planted');
  const { nodes } = graph;
  const box = (await canvas().boundingBox())!;
  const centre = (symbol: number): [number, number] => {
    const own = all.filter(({ index }) => walks[index * LENGTH] === symbol).map(({ index }) => index);
    const middle = (axis: number) =>
      own.map((n) => places[2 * n + axis]!).sort((a, b) => a - b)[own.length >> 1]!;
    const [x, y] = toScreen(WHOLE, box, [middle(0), middle(1)]);
    return [box.x + x, box.y + y];
  };
  const first = nodes.find(({ symbol }) => all.some(({ index }) => walks[index * LENGTH] === symbol))!;
  await page.mouse.move(...centre(first.symbol));
  await poll(() => page.locator('.tip b').first().textContent()).toBe(title(first));
  expect(await page.locator('.tip').textContent()).toMatch(/% of texts/);
  await page.mouse.click(...centre(first.symbol));
  await page.waitForSelector(`article.symbol[data-symbol="${first.symbol}"]`);
  await poll(() => page.locator('article.symbol').textContent()).toMatch(/Often followed by/);
  // Groups and years stand beside the words.
  expect(await page.locator('.label-shares tr').count()).toBeGreaterThan(0);
  await poll(() => page.locator('article.symbol .time-chart').count()).toBe(1);
});

test('Compare opens with two groups and says in words how they differ', async () => {
  await open('run=planted&panel=compare');
  await page.waitForSelector('.in-words li');
  const chosen = await page
    .locator('.group-choice select')
    .evaluateAll((selects) =>
      selects.map(
        (select) =>
          (select as unknown as { selectedOptions: { textContent: string }[] }).selectedOptions[0]!
            .textContent,
      ),
    );
  expect(new Set(chosen).size).toBe(2);
  for (const name of chosen) expect(['space', 'food', 'music']).toContain(name);
  const said = await page.locator('.in-words li').allInnerTexts();
  expect(said).toHaveLength(2);
  for (const [at, line] of said.entries()) {
    expect(line).toContain(`${chosen[at]} has more of`);
    // The first share named is the group's own, and the greater.
    const [own, others] = line
      .match(/\((\d+(?:\.\d+)?)% against (\d+(?:\.\d+)?)%/)!
      .slice(1)
      .map(Number);
    expect(own).toBeGreaterThan(others!);
  }
});

test('a merge and its undo keep the map in view, with every text where it was', async () => {
  await open('run=planted&symbol=1');
  await page.waitForSelector('.editing');
  await noteNetworks();
  await page.locator('.editing summary').click();
  await page.getByRole('button', { name: 'Merge with …' }).click();
  await page.getByLabel('Theme to merge with').fill('2');
  await page.getByLabel('Theme to merge with').press('Enter');
  await poll(() => canvas().getAttribute('data-nodes')).toBe(String(SYMBOLS - 1));
  await page.getByRole('button', { name: 'Undo' }).click();
  await poll(() => canvas().getAttribute('data-nodes')).toBe(String(SYMBOLS));
  expect(await networks()).toBe(0);
  const map = await api<Answer<'map'>>('/api/map?run=planted');
  expect(Array.from(new Uint16Array(bytes(map.places)), (value) => value / 65_535)).toEqual(places);
}, 180_000);

test('another run is shown without anything of the one before', async () => {
  await open('run=planted');
  await page.waitForSelector('.text-canvas[data-texts="120"]');
  await page.waitForSelector('.themes li');
  // Texts of the other run come late: meanwhile nothing of this one may stand there.
  await page.route('**/api/map?run=planted-few', async (route) => {
    await new Promise((done) => setTimeout(done, 1500));
    await route.continue();
  });
  await page.getByLabel('Run', { exact: true }).selectOption('planted-few');
  await poll(() => page.locator('.text-canvas, .themes li').count()).toBe(0);
  expect(await page.locator('.waiting').count()).toBeGreaterThan(0);
  await page.waitForSelector(`.text-canvas[data-texts="${FEW}"]`);
  expect(page.url()).toContain('run=planted-few');
});

test('on a phone the map comes first and what is drawn is folded', async () => {
  await open('run=planted', 390);
  await page.waitForSelector('.text-canvas[data-texts="120"]');
  const box = (await canvas().boundingBox())!;
  // Of a screen of 800: a head of two lines, one line that says what one sees, then the map.
  expect(box.y).toBeLessThan(200);
  expect(box.height).toBeGreaterThan(300);
  expect(await page.getByRole('button', { name: 'Network', exact: true }).isVisible()).toBe(false);
  await page.getByText('What is drawn').click();
  await page.getByRole('button', { name: 'Network', exact: true }).click();
  await page.waitForSelector('.canvas canvas');
  expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBeLessThanOrEqual(390);
});

test('the map goes out as a picture with every text and every name', async () => {
  await open('run=planted');
  await page.waitForSelector('.text-canvas[data-texts="120"]');
  const download = page.waitForEvent('download');
  await page.locator('.controls').getByRole('button', { name: 'SVG' }).click();
  const stream = await (await download).createReadStream();
  let svg = '';
  for await (const part of stream) svg += String(part);
  expect(svg.match(/h0/g)).toHaveLength(120);
  const parsed = svg.replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>');
  for (const { symbol } of graph.nodes) expect(parsed).toContain(`>${nameOf(symbol)}<`);
});
