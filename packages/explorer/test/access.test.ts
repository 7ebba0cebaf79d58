// Every place of the explorer, wide and on a phone, light and dark: axe-core finds nothing, and keys reach everything.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { accessFaults, followRequests, launch, settled } from './browse.ts';
import { makeSmallDiscovered, type SmallDiscovered } from './small-discovered.ts';

let small: SmallDiscovered;
let explorer: Explorer;
let browser: Browser;

const looks = [
  { look: 'wide', width: 1440, height: 900, colorScheme: 'light' },
  { look: 'phone, dark', width: 390, height: 844, colorScheme: 'dark' },
] as const;

/** What the address asks for, and what has to be there before it is looked at. */
const states: readonly (readonly [hash: string, ready: string])[] = [
  ['', '.themes li'],
  ['symbol=1', 'article.symbol'],
  ['panel=levels&level=3', '.groups li'],
  ['panel=texts&point=2', '.open-text'],
  ['panel=sentence&text=the moon and the planets', '.walk'],
  ['panel=compare', '.compared'],
  ['panel=labels', '.labels table'],
  ['panel=time', '.time-chart'],
  ['panel=run', '.facts'],
  ['panel=training', '.charts'],
  ['panel=runs', '#panel'],
  ['show=graph', '.canvas canvas'],
  ['colour=label', '.legend'],
];

beforeAll(async () => {
  small = await makeSmallDiscovered();
  explorer = await startExplorer({ run: small.run });
  browser = await launch();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await explorer?.close();
  small?.remove();
});

async function open({ width, height, colorScheme }: (typeof looks)[number], hash: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  followRequests(page);
  page.setDefaultTimeout(90_000);
  await page.goto(`${explorer.url}#${hash}`);
  await page.waitForSelector('.text-canvas, .canvas canvas');
  return page;
}

describe.each(looks)('$look', (look) => {
  test.each(states)('axe-core finds nothing wrong: %s', async (hash, ready) => {
    const page = await open(look, hash);
    await page.waitForSelector(ready);
    await settled(page);
    expect(await accessFaults(page)).toEqual([]);
    expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBeLessThanOrEqual(look.width);
    await page.close();
  });
});

test('a fault would be found', async () => {
  const page = await open(looks[0], '');
  await page.evaluate(
    "document.querySelector('.theme').removeAttribute('aria-label'); document.querySelector('.theme').textContent = ''",
  );
  expect(await accessFaults(page)).toEqual([expect.stringContaining('button-name')]);
  await page.close();
});

test('the tab key comes to the map, to every place and to the first theme, and Enter opens it', async () => {
  const page = await open(looks[0], '');
  await page.waitForSelector('.themes li');
  const reached: string[] = [];
  for (let press = 0; press < 40; press++) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate("document.activeElement.className + ' ' + document.activeElement.id"));
    if (reached.at(-1)!.includes('theme-name')) break;
  }
  for (const part of ['text-canvas', 'search', 'place-themes', 'theme-name'])
    expect(reached.some((one) => one.includes(part))).toBe(true);
  await page.keyboard.press('Enter');
  await page.waitForSelector('article.symbol');
  await page.locator('#place-themes').focus();
  const places: string[] = [];
  for (let press = 0; press < 4; press++) {
    await page.keyboard.press('ArrowRight');
    places.push((await page.locator('[role="tab"][aria-selected="true"]').textContent())!);
  }
  expect(places).toEqual(['Texts', 'Compare', 'Time', 'Model']);
  await page.close();
});
