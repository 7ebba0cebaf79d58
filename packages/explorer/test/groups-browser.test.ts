import fs from 'node:fs';
import path from 'node:path';
import { hsn } from '@hidden-schema/testing/hsn-process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { percent } from '../src/page/labels.ts';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import type { Answer } from '../src/shared/api.ts';
import { answerOf, followRequests, launch, openPage, settled, symbolsIn } from './browse.ts';
import { makeSmallDiscovered, type SmallDiscovered, SYMBOLS } from './small-discovered.ts';

let small: SmallDiscovered;
let explorer: Explorer;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

const api = <T>(address: string, body?: unknown): Promise<T> => answerOf<T>(explorer.url, address, body);
const poll = <T>(value: () => Promise<T> | T) => expect.poll(value, { timeout: 60_000 });
const open = async (hash = '', width = 1280) => {
  page = await openPage(browser, explorer.url, complaints, { hash: `#${hash}`, width });
  await page.waitForSelector('.text-canvas');
  // An edit of the test before may still be on its way to the page.
  await settled(page);
};
const selected = async () => Number(await page.locator('.text-canvas').getAttribute('data-selected'));
const graph = () => api<Answer<'graph'>>('/api/graph');
/** Edits are folded until someone wants to. */
const openEditing = async () => {
  if ((await page.locator('.editing[open]').count()) === 0) await page.locator('.editing summary').click();
};
const named = async () => ((await page.locator('article.symbol .name').textContent()) ?? '').trim();
const nodes = () => page.locator('.text-canvas').getAttribute('data-nodes');

beforeAll(async () => {
  small = await makeSmallDiscovered();
  explorer = await startExplorer({ run: small.run });
  browser = await launch();
  await graph();
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

/** One bit for each text of a label. */
async function groupOf(label: string) {
  const { sentences } = await api<Answer<'encoded'>>('/api/encoded?limit=200');
  const bytes = Buffer.alloc(15);
  for (const { index, label: own } of sentences) if (own === label) bytes[index >> 3]! |= 1 << (index & 7);
  return { name: label, texts: bytes.toString('base64') };
}

describe('compare', () => {
  test('two labels, then selected texts beside all others; shares, intervals and corrected tests are the server’s', async () => {
    await open('panel=compare');
    await page.getByLabel('First group').selectOption('food');
    await page.getByLabel('Second group').selectOption('space');
    const first = await groupOf('food');
    const found = await api<Answer<'compare'>>('/api/compare', { first, second: await groupOf('space') });
    const rows = page.locator('table.compared[data-what="symbols"] tbody tr');
    const sure = found.symbols.filter(({ corrected }) => corrected < 0.05);
    // Until the second group was chosen, the first stood beside another.
    await settled(page);
    await poll(() => symbolsIn(rows.locator('.symbol-link'))).toEqual(
      sure.slice(0, 12).map(({ symbol }) => symbol),
    );
    expect(await rows.first().locator('.share-line .number').allInnerTexts()).toEqual([
      ...[percent(sure[0]!.own.share), percent(sure[0]!.others.share)],
    ]);
    const [low, high] = sure[0]!.differenceInterval.map((x) => `${x > 0 ? '+' : ''}${(100 * x).toFixed(1)}`);
    expect(await rows.first().locator('.interval').textContent()).toBe(`${low} to ${high}`);
    const text = await page.locator('.compare').textContent();
    expect(text).toContain(`${found.sure.symbols} of ${found.tests.symbols} themes`);
    expect(text).toContain('Benjamini–Hochberg');
    await page.reload();
    await poll(() => rows.count()).toBe(Math.min(12, sure.length));
    await page.locator('#place-texts').click();
    await page.getByLabel('Words').fill('soup');
    await poll(selected).toBeLessThan(120);
    const count = await selected();
    await page.locator('#place-compare').click();
    await page.getByLabel('First group').selectOption('selected');
    await page.getByLabel('Second group').selectOption('');
    await poll(() => page.locator('.compare').textContent()).toContain(
      `${count} texts against ${120 - count}.`,
    );
    expect(await page.getByLabel('First group').locator('option:checked').textContent()).toBe('“soup”');
  });
});

describe('time', () => {
  test('charts of what changes most, bursts, and their texts', async () => {
    await open('panel=time&period=decade');
    const time = await api<Answer<'time'>>('/api/time?period=decade');
    await page.waitForSelector('.time-chart');
    expect(await page.locator('.time-chart').count()).toBe(8);
    const bursts = time.symbols
      .flatMap(({ symbol, bursts: own }) => own.map((burst) => ({ symbol, ...burst })))
      .sort((a, b) => b.weight - a.weight);
    expect(bursts.length).toBeGreaterThan(0);
    const row = page.locator('.bursts tbody tr').first();
    expect(await row.locator('td').nth(2).textContent()).toBe(percent(bursts[0]!.inside.share));
    await row.getByTitle('Show these texts').click();
    await poll(selected).toBe(bursts[0]!.inside.count);
    expect(page.url()).toMatch(/since=-?\d+/);
    await page.close();
    await open(`panel=time&period=decade&symbol=${bursts[0]!.symbol}`);
    await poll(() => page.locator('.time-chart').count()).toBe(1);
    expect(await page.locator('.time-chart').getAttribute('aria-label')).toContain(bursts[0]!.label);
  });
});

describe('levels and edits', () => {
  test('symbols are drawn as groups; a group lights its texts', async () => {
    await open('panel=levels');
    await page.getByLabel('How many groups themes are drawn as').fill('3');
    await poll(nodes).toBe('3');
    const { levels } = await api<Answer<'levels'>>('/api/levels?counts=3');
    const names = page.locator('.groups h4 .plain');
    await poll(() => names.allInnerTexts()).toEqual(levels[0]!.groups.map(({ name }) => name));
    await names.first().click();
    const { sentences } = await api<Answer<'encoded'>>('/api/encoded?limit=200');
    const members = new Set(levels[0]!.groups[0]!.symbols);
    await poll(selected).toBe(sentences.filter(({ walk }) => walk.some((k) => members.has(k))).length);
    expect(page.url()).toContain('level=3');
    await page.reload();
    await poll(nodes).toBe('3');
    await page.getByRole('button', { name: `All ${SYMBOLS} themes` }).click();
    await poll(nodes).toBe(String(SYMBOLS));
  });

  test('a name and its undoing', async () => {
    const before = (await graph()).nodes[3]!.name;
    await open('symbol=3');
    await openEditing();
    await page.getByLabel('Name of this theme').fill('<b>mine</b>');
    await page.getByRole('button', { name: 'Save' }).click();
    await poll(named).toBe('<b>mine</b>');
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(named).toBe(before);
    expect((await graph()).nodes[3]!.name).toBe(before);
    await poll(() => page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  });

  test('two symbols become one, and two again', async () => {
    await open('symbol=1');
    await openEditing();
    await page.getByRole('button', { name: 'Merge with …' }).click();
    await page.getByLabel('Theme to merge with').fill('2');
    const places = async () => (await api<Answer<'map'>>('/api/map')).places;
    const before = await places();
    // Enter takes the first that was found.
    await page.getByLabel('Theme to merge with').press('Enter');
    await poll(nodes).toBe(String(SYMBOLS - 1));
    expect(await places()).toBe(before);
    expect((await graph()).nodes).toHaveLength(SYMBOLS - 1);
    expect(await page.locator('.undo').textContent()).toContain('merged');
    await poll(() => page.locator('.text-canvas').getAttribute('data-texts')).toBe('120');
    // Another page finds it so, and can take it back.
    await page.reload();
    await page.waitForSelector('.undo');
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(nodes).toBe(String(SYMBOLS));
    await poll(() => page.locator('.undo').count()).toBe(0);
  }, 120_000);

  test('a group becomes one symbol, and is taken apart again', async () => {
    const { levels } = await api<Answer<'levels'>>('/api/levels?counts=3');
    const size = levels[0]!.groups[0]!.symbols.length;
    await open('panel=levels&level=3');
    await poll(nodes).toBe('3');
    await page.locator('.groups h4 .plain').first().click();
    await page.getByRole('button', { name: `Merge these ${size} into one theme` }).click();
    await poll(nodes).toBe(String(SYMBOLS - size + 1));
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(nodes).toBe(String(SYMBOLS));
    await poll(() => page.locator('.undo').count()).toBe(0);
  }, 120_000);

  test('an edit in a page that is older than one in a terminal is refused; the page shows what there is now', async () => {
    await open('symbol=2');
    await openEditing();
    await page.getByRole('button', { name: 'Merge with …' }).click();
    await page.getByLabel('Theme to merge with').fill('4');
    const press = page.locator('.symbol-edits .chips button').first();
    await press.waitFor();
    // As in a tab that is not looked at: what the page knows stays as old as it is.
    await page.route('**/api/run?*', () => new Promise<void>(() => undefined));
    await page.route('**/api/run', () => new Promise<void>(() => undefined));
    expect((await hsn('merge', small.run, '1', '2')).code).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await press.click();
    const failure = page.locator('.edit-bar .failure');
    await poll(() => failure.textContent()).toContain(
      'symbols were edited since this page was loaded; reload and try again',
    );
    await poll(nodes).toBe(String(SYMBOLS - 1));
    expect(page.url()).not.toContain('symbol=');
    expect((await graph()).nodes).toHaveLength(SYMBOLS - 1);
    expect(await page.locator('.undo').textContent()).toContain('merged');
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(nodes).toBe(String(SYMBOLS));
    expect(complaints.splice(0).every((text) => text.includes('409'))).toBe(true);
  }, 120_000);

  /** Makes the page hear of another checkpoint, at which it reads everything again; waits until it has. */
  const readAgain = async (step: number) => {
    await page.route('**/api/run', async (route) => {
      const answer = await route.fetch();
      const run = (await answer.json()) as Answer<'run'>;
      await route.fulfill({ response: answer, json: { ...run, opened: { ...run.opened, step } } });
    });
    await page.waitForRequest((request) => request.url().includes('/api/symbol/3'));
    await settled(page);
  };

  test('a damaged file is told and stays as it is; a name that is typed meanwhile is not lost', async () => {
    const file = path.join(small.run, 'names.json');
    const whole = fs.readFileSync(file);
    // A page that knew the run as it was before the last undo would be refused for that.
    await poll(async () => {
      const { identity, opened } = await api<Answer<'run'>>('/api/run');
      return opened?.identity === identity;
    }).toBe(true);
    await open('symbol=3');
    await openEditing();
    const field = page.getByLabel('Name of this theme');
    await field.fill('mine');
    const before = await named();
    fs.writeFileSync(file, '{');
    await readAgain(1001);
    expect(await named()).not.toBe(before);
    expect(await field.inputValue()).toBe('mine');
    await page.route('**/api/symbol/3*', (route) => route.abort());
    await readAgain(1002);
    expect(await page.locator('#panel > .failure').count()).toBe(1);
    expect(await field.inputValue()).toBe('mine');
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Save' }).click();
    await poll(() => page.locator('.edit-bar .failure').textContent()).toContain('names.json is damaged');
    expect(fs.readFileSync(file, 'utf8')).toBe('{');
    expect(await field.inputValue()).toBe('mine');
    fs.writeFileSync(file, whole);
    await page.getByRole('button', { name: 'Save' }).click();
    await poll(named).toBe('mine');
    await page.getByRole('button', { name: 'Undo' }).click();
    await poll(() => page.locator('.edit-bar .failure, .undo').count()).toBe(0);
    // The name that holds again stands in the field, not what was typed.
    expect(await field.inputValue()).toBe(await named());
    // The refusal is a complaint of the browser too, as is what was not answered.
    expect(complaints.splice(0).every((text) => /409|ERR_FAILED/.test(text))).toBe(true);
  }, 120_000);
});

describe('small windows and dark ground', () => {
  test('every panel fits a phone, and a finger opens a text', async () => {
    const phone = await browser.newContext({
      ...{
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
        colorScheme: 'dark' as const,
      },
    });
    page = await phone.newPage();
    followRequests(page);
    for (const panel of ['texts', 'compare', 'time', 'levels', 'symbol']) {
      await page.goto(
        `${explorer.url}#show=map&colour=label&panel=${panel}&symbol=1&level=0&first=label%3Dfood`,
      );
      await page.reload();
      await page.waitForSelector('.text-canvas[data-texts="120"]');
      await settled(page);
      const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect([panel, wider]).toEqual([panel, 0]);
    }
    const box = (await page.locator('.text-canvas').boundingBox())!;
    const opened = () => page.url().includes('point=');
    // Row by row, closer than a finger is wide, so that no layout lets every tap miss.
    const [step, columns] = [25, Math.floor((box.width - 40) / 25)];
    for (let turn = 0; turn < columns * Math.floor((box.height - 100) / step) && !opened(); turn++)
      await page.touchscreen.tap(
        box.x + 20 + step * (turn % columns),
        box.y + 60 + step * Math.floor(turn / columns),
      );
    await page.waitForSelector('.open-text blockquote');
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(14, 19, 25)');
  });
});
