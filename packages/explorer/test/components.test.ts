// The map and the network in a page of someone else: the example is type-checked, built and pressed in a real browser.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import type { Browser, Page } from 'playwright-core';
import { type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaleOf, toScreen, WHOLE } from '../src/page/texts/camera.ts';
import { launch } from './browse.ts';
import { pixelsOf } from './pixels.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const example = path.join(root, 'examples/embed');
const folder = temporaryFolder('components');
const complaints: string[] = [];
let server: PreviewServer;
let browser: Browser;
let page: Page;

const poll = <T>(value: () => Promise<T> | T) => expect.poll(value, { timeout: 30_000 });

beforeAll(async () => {
  const { build } = await import('vite');
  const outDir = folder.path('site');
  await build({
    ...{ root: example, configFile: false, logLevel: 'warn' },
    build: { outDir, emptyOutDir: true, target: 'es2022' },
  });
  server = await preview({
    ...{ root: example, configFile: false, build: { outDir } },
    preview: { port: 0, host: '127.0.0.1' },
  });
  browser = await launch();
  page = await browser.newPage({ viewport: { width: 900, height: 900 } });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(server.resolvedUrls!.local[0]!);
  await page.waitForSelector('#map canvas[data-names]');
  await page.waitForSelector('#network canvas[data-names]');
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  folder.remove();
});

test('the example type-checks', () => {
  const tsc = path.join(root, 'node_modules/typescript/lib/tsc.js');
  execFileSync(process.execPath, [tsc, '--noEmit', '-p', example], { stdio: 'pipe' });
});

test('a press on a text draws its walk and tells the page; a press on a name chooses the theme in both', async () => {
  const map = page.locator('#map');
  const amber = async () => pixelsOf(browser, await map.screenshot(), [240, 162, 2]);
  expect(await amber()).toBe(0);
  const box = (await map.boundingBox())!;
  const at = (place: [number, number]) => {
    const [x, y] = toScreen(WHOLE, { width: box.width - 2, height: box.height - 2 }, place);
    return [box.x + 1 + x, box.y + 1 + y] as const;
  };
  expect(scaleOf(WHOLE, box)[0]).toBeGreaterThan(100);
  await page.mouse.click(...at([0.2, 0.3]));
  await poll(() => page.locator('#said').textContent()).toBe('Text 1.');
  await poll(amber).toBeGreaterThan(50);
  // The middle of the texts that begin with the third theme is the later of its two.
  await page.mouse.click(...at([0.8, 0.5]));
  await poll(() => page.locator('#said').textContent()).toBe('Theme: family.');
  expect(await page.locator('#network canvas, #network svg').count()).toBeGreaterThan(0);
  expect(await map.getAttribute('aria-label')).toBe('Map of 6 texts and 3 themes');
  expect(await page.locator('#network').getAttribute('aria-label')).toBe('Network of 3 themes and 2 links');
  expect(complaints).toEqual([]);
});
