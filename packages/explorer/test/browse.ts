// What browser tests share: a Chromium, pages that note every complaint, and the API beside them.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core';
import { findChromium } from './chromium.ts';
import { json, request } from './requests.ts';

const flags = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  ...['--disable-sync', '--no-first-run'],
];

function chromiumPath(): string {
  const found = findChromium();
  if (!found)
    throw new Error(
      'Chromium is needed for this test: apt-get install chromium (or set CHROMIUM to its path)',
    );
  return found;
}

export const launch = (more: string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath(), args: [...flags, ...more] });

/** Opens an explorer's page; whatever it complains of, or asks of another server, is added to `complaints`. */
export async function openPage(
  from: Browser,
  url: string,
  complaints: string[],
  { hash = '', width = 1280, late = 0 } = {},
): Promise<Page> {
  const opened = await from.newPage({ viewport: { width, height: 800 }, colorScheme: 'light' });
  // A machine that runs other tests beside may take long to draw.
  opened.setDefaultTimeout(90_000);
  followRequests(opened);
  if (late > 0) await opened.addInitScript(lateBy(late));
  opened.on('pageerror', (error) => complaints.push(error.message));
  opened.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  opened.on('dialog', (dialog) => complaints.push(`dialog ${dialog.message()}`));
  opened.on('request', (sent) => {
    if (!sent.url().startsWith(url) && !sent.url().startsWith('blob:'))
      complaints.push(`asked ${sent.url()}`);
  });
  await opened.goto(`${url}${hash}`);
  await opened.waitForSelector('.canvas canvas, .text-canvas');
  return opened;
}

/** Makes frames and timers of a page come so many milliseconds late, as on a machine that has much else to do. */
const lateBy = (milliseconds: number) => `{
  const [timer, frame] = [setTimeout, requestAnimationFrame];
  globalThis.setTimeout = (act, wait = 0, ...more) => timer(act, wait + ${milliseconds}, ...more);
  globalThis.requestAnimationFrame = (act) => timer(() => frame(act), ${milliseconds});
  globalThis.cancelAnimationFrame = clearTimeout;
}`;

/** What each page has asked of its server and has no answer to yet. */
const asked = new WeakMap<Page, Set<Request>>();

/** Counts a page's requests from now on, for `settled`. */
export function followRequests(page: Page): void {
  const open = new Set<Request>();
  asked.set(page, open);
  page.on('request', (request) => open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

/** Two frames and what they call for; then whether the network has come to where it flies. */
const DRAWN = `new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))),
).then(() => document.querySelector('[data-flying]') === null)`;

/** Waits until a page asks nothing, twice in a row, and has drawn what it was told: until then its parts still move. */
export async function settled(page: Page): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    const stands = await page.evaluate<boolean>(DRAWN);
    quiet = stands && asked.get(page)!.size === 0 ? quiet + 1 : 0;
  }
}

export const answerOf = async <T>(url: string, address: string, body?: unknown): Promise<T> =>
  JSON.parse((await request(url, address, body === undefined ? {} : json(body))).text) as T;

/** The symbols that links of the page lead to. */
export const symbolsIn = (links: Locator): Promise<number[]> =>
  links.evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-symbol'))));

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe-core finds wrong with a page for those who use keys or hear it: the rule, and the first element that breaks it. */
export async function accessFaults(page: Page): Promise<string[]> {
  await page.evaluate(fs.readFileSync(axe, 'utf8'));
  return page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes[0].target.join(' ') + ' ' + nodes[0].html.slice(0, 120)))`,
  );
}
