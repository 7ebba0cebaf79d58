import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { toScreen, WHOLE } from '../src/page/texts/camera.ts';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import type { Answer } from '../src/shared/api.ts';
import { answerOf, launch, openPage, settled, symbolsIn } from './browse.ts';
import { pixelsOf } from './pixels.ts';
import { LENGTH, makeSmallDiscovered, type SmallDiscovered, SYMBOLS } from './small-discovered.ts';

let small: SmallDiscovered;
let explorer: Explorer;
let browser: Browser;
let page: Page;
let places: number[];
let walks: Uint16Array;
let times: Float64Array;
let all: Answer<'encoded'>['sentences'];
const complaints: string[] = [];

const api = <T>(address: string, body?: unknown): Promise<T> => answerOf<T>(explorer.url, address, body);
const poll = <T>(value: () => Promise<T> | T) => expect.poll(value, { timeout: 30_000 });
const bytes = (base64: string) => Uint8Array.from(Buffer.from(base64, 'base64')).buffer;
const selected = async () => Number(await page.locator('.text-canvas').getAttribute('data-selected'));
const open = async (hash = '', late = 0) => {
  page = await openPage(browser, explorer.url, complaints, { hash: `#${hash}`, late });
  await page.waitForSelector(
    hash.includes('show=graph') ? '.canvas canvas' : '.text-canvas[data-texts="120"]',
  );
  await settled(page);
};

beforeAll(async () => {
  small = await makeSmallDiscovered();
  explorer = await startExplorer({ run: small.run });
  browser = await launch();
  const map = await api<Answer<'map'>>('/api/map');
  places = Array.from(new Uint16Array(bytes(map.places)), (value) => value / 65_535);
  walks = new Uint16Array(bytes(map.walks));
  times = new Float64Array(bytes(map.times!));
  all = (await api<Answer<'encoded'>>('/api/encoded?limit=200')).sentences;
}, 180_000);
afterEach(async () => {
  const harmed = await page.evaluate('globalThis.harmed ?? null');
  await page.close();
  expect([harmed, complaints]).toEqual([null, []]);
  complaints.length = 0;
});
afterAll(async () => {
  await browser?.close();
  await explorer?.close();
  small?.remove();
});

const walkOf = (n: number) => Array.from(walks.subarray(n * LENGTH, (n + 1) * LENGTH));
const where = (of: (n: number) => boolean) => all.map(({ index }) => index).filter(of);
/** Where a place of the whole map is on the page, as it lies now. */
async function at(x: number, y: number): Promise<[number, number]> {
  const box = (await page.locator('.text-canvas').boundingBox())!;
  const [left, top] = toScreen(WHOLE, box, [x, y]);
  return [box.x + left, box.y + top];
}
/** Where a text's dot is on the page, on the whole map. */
async function placeOf(n: number): Promise<{ x: number; y: number }> {
  const [x, y] = await at(places[2 * n]!, places[2 * n + 1]!);
  return { x, y };
}
/** Whether two pictures have as many pixels of each of some colours: the frame around them may differ. */
async function sameDots(one: Buffer, other: Buffer): Promise<boolean> {
  const tones = [
    [59, 125, 216],
    [224, 138, 44],
    [63, 155, 108],
    [245, 247, 250],
  ] as const;
  const counts = async (picture: Buffer) =>
    Promise.all(tones.map((tone) => pixelsOf(browser, picture, tone)));
  const [a, b] = [await counts(one), await counts(other)];
  return a.every((count, at) => Math.abs(count - b[at]!) <= 40);
}
/** The open text without the numbers of the steps that its words carry; empty while there is none. */
const openedText = () =>
  page.evaluate<string>(`(() => {
    const copy = document.querySelector('.open-text blockquote')?.cloneNode(true);
    for (const step of copy?.querySelectorAll('sub') ?? []) step.remove();
    return copy?.textContent ?? '';
  })()`);
/** A text whose dot lies away from all others. */
function alone(): number {
  const gap = (n: number) =>
    Math.min(
      ...where((m) => m !== n).map((m) =>
        Math.hypot(places[2 * n]! - places[2 * m]!, places[2 * n + 1]! - places[2 * m + 1]!),
      ),
    );
  return where((n) => all[n]!.text.includes('<')).sort((a, b) => gap(b) - gap(a))[0]!;
}

describe('the map of texts', () => {
  test('is drawn, tells the text under the pointer as text, and opens it', async () => {
    // Without the network's discs, which may lie over a dot.
    await open('show=map');
    const canvas = page.locator('.text-canvas');
    const ground = await pixelsOf(browser, await canvas.screenshot(), [245, 247, 250]);
    const { width, height } = (await canvas.boundingBox())!;
    expect(ground).toBeLessThan(width * height - 120 * 12);
    const n = alone();
    const { x, y } = await placeOf(n);
    await page.mouse.move(x, y);
    await poll(() => page.locator('.tip p').first().textContent()).toBe(all[n]!.text);
    expect(await page.locator('.tip .tag').textContent()).toBe(all[n]!.label);
    expect(await page.locator('.tip img, .tip script, .tip svg').count()).toBe(0);
    await page.mouse.click(x, y);
    await poll(openedText).toBe(all[n]!.text);
    expect(await symbolsIn(page.locator('.open-walk .symbol-link'))).toEqual(walkOf(n));
    expect(page.url()).toContain(`point=${n}`);
    await page.reload();
    await poll(openedText).toBe(all[n]!.text);
  });

  test('a box and a lasso light the texts within; the address keeps them', async () => {
    await open('', 200);
    await page.keyboard.down('Shift');
    await page.mouse.move(...(await at(0, 0)));
    await page.mouse.down();
    await page.mouse.move(...(await at(0.3, 0.2)), { steps: 4 });
    await page.mouse.move(...(await at(0.5, 0.7)), { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.waitForSelector('.texts');
    const near = (value: number, edge: number) => Math.abs(value - edge) < 0.01;
    const unsure = where((n) => near(places[2 * n]!, 0.5) || near(places[2 * n + 1]!, 0.7)).length;
    const inside = where((n) => places[2 * n]! < 0.5 && places[2 * n + 1]! < 0.7).length;
    await poll(selected).toBeLessThan(120);
    const found = await selected();
    expect(Math.abs(found - inside)).toBeLessThanOrEqual(unsure);
    expect(found).toBeGreaterThan(0);
    await poll(() => page.locator('.selected-counts').textContent()).toMatch(
      new RegExp(`^${found}\\s*of 120 texts`),
    );
    await page.reload();
    await page.waitForSelector(`.text-canvas[data-selected="${found}"]`);
    await settled(page);
    await page.locator('.map-tools').getByRole('button', { name: 'Clear' }).click();
    await poll(selected).toBe(120);
    expect(page.url()).not.toContain('around');
    await page.getByRole('button', { name: 'Lasso' }).click();
    // At once, be the next frame as late as it may.
    await page.mouse.move(...(await at(0.02, 0.02)));
    await page.mouse.down();
    for (const [x, y] of [
      [0.98, 0.02],
      [0.98, 0.98],
    ] as const)
      await page.mouse.move(...(await at(x, y)), { steps: 6 });
    await page.mouse.up();
    const upper = where((n) => places[2 * n]! > places[2 * n + 1]!).length;
    await poll(async () => Math.abs((await selected()) - upper)).toBeLessThan(12);
    await page.goBack();
    await poll(selected).toBe(120);
  });

  test('moves, zooms and is read by keys; the address says from where it is looked at', async () => {
    await open();
    const canvas = page.locator('.text-canvas');
    await canvas.focus();
    const before = await canvas.screenshot();
    await page.keyboard.press('+');
    await page.keyboard.press('ArrowRight');
    await poll(() => page.url()).toMatch(/mapat=0\.\d+_0\.5_1\.25/);
    await settled(page);
    const nearer = await canvas.screenshot();
    await page.reload();
    await page.waitForSelector('.text-canvas[data-texts="120"]');
    await canvas.focus();
    await poll(async () => sameDots(nearer, await canvas.screenshot())).toBe(true);
    expect(await sameDots(before, nearer)).toBe(false);
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await poll(() => page.locator('.text-half .unseen').textContent()).toBe(`Text 2: ${all[1]!.text}`);
    await page.keyboard.press('Enter');
    await poll(openedText).toBe(all[1]!.text);
    await canvas.focus();
    await page.keyboard.press('0');
    await poll(() => page.url()).not.toContain('mapat');
  });
});

describe('linked choices', () => {
  test('words, labels, symbols and times light texts together, with counts and a way back', async () => {
    await open('panel=texts&period=decade');
    await page.getByLabel('Words').fill('planet');
    const planets = where((n) => /\bplanet/i.test(all[n]!.text));
    await poll(selected).toBe(planets.length);
    const symbol = walkOf(planets[0]!)[1]!;
    await page.getByLabel('Add a theme').fill(String(symbol));
    await page.keyboard.press('Enter');
    const passing = planets.filter((n) => walkOf(n).includes(symbol));
    await poll(selected).toBe(passing.length);
    await page.getByLabel('From', { exact: true }).selectOption({ label: '1950s' });
    const since = passing.filter((n) => times[n]! >= Date.UTC(1950, 0));
    await poll(selected).toBe(since.length);
    expect(since.length).toBeGreaterThan(0);
    const space = page.locator('.label-filter label', { hasText: 'space' });
    await poll(() => space.locator('.number').textContent()).toBe(String(since.length));
    await page.locator('.label-filter label', { hasText: 'food' }).getByRole('checkbox').check();
    await poll(selected).toBe(0);
    await poll(() => page.locator('.empty').textContent()).toContain('No text is all of this');
    await space.getByRole('checkbox').check();
    await poll(selected).toBe(since.length);
    await poll(() => page.locator('.texts .examples .sentence-text').allInnerTexts()).toEqual(
      since.slice(0, 10).map((n) => all[n]!.text.replaceAll(/\s+/g, ' ')),
    );
    await page.reload();
    await page.waitForSelector(`.text-canvas[data-selected="${since.length}"]`);
    await page.locator('.selected-counts').getByRole('button', { name: 'Clear' }).click();
    await poll(selected).toBe(120);
    await poll(() => page.getByLabel('Words').inputValue()).toBe('');
  });

  test('a symbol that is chosen on the map or the network lights its texts', async () => {
    await open();
    await page.locator('.text-canvas').press('s');
    await page.waitForSelector('article.symbol[data-symbol="0"]');
    await poll(selected).toBe(where((n) => walkOf(n).includes(0)).length);
    await page.keyboard.press('Escape');
    await poll(selected).toBe(120);
    await page.getByRole('button', { name: 'Network', exact: true }).click();
    await page.locator('.canvas').press('n');
    await page.waitForSelector('article.symbol[data-symbol="0"]');
  });

  test('the first view is the network on the map; each alone is a press away', async () => {
    await open();
    const canvas = page.locator('.text-canvas');
    expect(await canvas.getAttribute('data-network')).toBe('true');
    expect(await page.locator('.canvas').count()).toBe(0);
    expect(await page.locator('.explained').textContent()).toContain('Each dot is a text');
    await poll(async () => Number(await canvas.locator('canvas').getAttribute('data-names'))).toBeGreaterThan(
      4,
    );
    const both = await canvas.screenshot();
    await page.getByRole('button', { name: 'Map', exact: true }).click();
    await poll(() => canvas.getAttribute('data-network')).toBe('false');
    expect(page.url()).toContain('show=map');
    await poll(async () => both.equals(await canvas.screenshot())).toBe(false);
    await page.getByRole('button', { name: 'Network', exact: true }).click();
    await page.waitForSelector('.canvas canvas');
    expect(await page.locator('.text-canvas').count()).toBe(0);
  });

  test('the main themes stand beside it with a text each, the largest first', async () => {
    await open();
    const rows = page.locator('.themes li');
    await poll(() => rows.count()).toBe(SYMBOLS);
    const texts = (k: number) => where((n) => walkOf(n).includes(k)).length;
    const shown = await rows.evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-symbol'))));
    expect(shown.map(texts)).toEqual(
      Array.from({ length: SYMBOLS }, (_, k) => texts(k)).sort((a, b) => b - a),
    );
    const { examples } = await api<Answer<'symbol'>>(`/api/symbol/${shown[0]}`);
    await poll(() => rows.first().locator('.theme-example').textContent()).toBe(examples[0]!.text);
    await rows.first().getByRole('button').click();
    await page.waitForSelector(`article.symbol[data-symbol="${shown[0]}"]`);
    await poll(() => page.locator('.flows').textContent()).toContain('of its texts');
  });

  test('an open text has its walk drawn and the words marked that carry each step', async () => {
    await open();
    const amber = async () =>
      pixelsOf(browser, await page.locator('.text-canvas').screenshot(), [240, 162, 2]);
    expect(await amber()).toBe(0);
    await page.close();
    const n = where((at) => !all[at]!.text.includes('<'))[0]!;
    await open(`panel=texts&point=${n}`);
    await poll(amber).toBeGreaterThan(100);
    const { words, walk } = await api<Answer<'explain'>>('/api/explain', { text: all[n]!.text });
    expect(walk).toEqual(walkOf(n));
    expect(words.length).toBeGreaterThan(0);
    await poll(() => page.locator('.open-text mark').allTextContents()).toEqual(
      words.map(({ start, end, symbol }) => `${all[n]!.text.slice(start, end)}${walk.indexOf(symbol) + 1}`),
    );
  });
});

test('the network’s place is in the address', async () => {
  await open('show=graph');
  await page.locator('.canvas').press('+');
  await poll(() => page.url()).toMatch(/graphat=0\.5_0\.5_0\.8/);
  await settled(page);
  const picture = await page.locator('.canvas').screenshot();
  await page.reload();
  await page.waitForSelector('.canvas canvas');
  await page.locator('.canvas').focus();
  await poll(async () => picture.equals(await page.locator('.canvas').screenshot())).toBe(true);
  expect(SYMBOLS).toBe(Number(await page.locator('.canvas').getAttribute('data-nodes')));
});
