// What browser tests share: a Chromium, pages that note every complaint, and the API beside them.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
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
  { hash = '', width = 1280 } = {},
): Promise<Page> {
  const opened = await from.newPage({ viewport: { width, height: 800 }, colorScheme: 'light' });
  // A machine that runs other tests beside may take long to draw.
  opened.setDefaultTimeout(90_000);
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
  await opened.waitForSelector('.canvas[data-kind], .text-canvas');
  return opened;
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
