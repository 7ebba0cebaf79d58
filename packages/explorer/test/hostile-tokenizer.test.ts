import fs from 'node:fs';
import path from 'node:path';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { until } from '@hidden-schema/testing/processes';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { launch } from './browse.ts';
import { makeBrokenRuns, withBelievedTokenizer, withTokenizer } from './hostile-files.ts';
import { request } from './requests.ts';
import { makeSmallLanguage, type SmallLanguage } from './small-language.ts';

let small: SmallLanguage;
let explorer: Explorer;
let browser: Browser;
const ask = async (address: string) => {
  const { status, text } = await request(explorer.url, address);
  return { status, ...JSON.parse(text) };
};

beforeAll(async () => {
  small = await makeSmallLanguage();
  fs.rmSync(small.other, { recursive: true });
  withTokenizer(small.run, path.join(small.runs, 'refused'), 'a template token that is missing');
  withBelievedTokenizer(small.run, path.join(small.runs, 'aborts'), 'a junk charsmap');
  makeBrokenRuns(small.run, small.runs, ['cut-run']);
  explorer = await startExplorer({ run: small.runs, limits: { idle: 600_000 } });
  browser = await launch();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await explorer?.close();
  small?.remove();
});

const broken =
  /^this run is broken: its process ended while opening the model \(Precompiled: .*Cannot parse precompiled_charsmap.*\); other runs are not touched$/;

test('a tokenizer that aborts the process is one run’s fault, and the server answers on', async () => {
  const reply = await ask('/api/graph?run=aborts');
  expect([reply.status, reply.error.code]).toEqual([409, 'broken']);
  expect(reply.error.message).toMatch(broken);
  await until(async () => (await ask('/api/run?run=aborts')).problem !== null);
  expect((await ask('/api/run?run=aborts')).problem).toMatch(broken);
  expect((await ask('/api/graph?run=first')).status).toBe(200);
  // It is opened again once its files are well.
  const good = path.join(small.run, 'tokenizer.json');
  fs.copyFileSync(good, path.join(small.runs, 'aborts', 'tokenizer.json'));
  expect((await ask('/api/graph?run=aborts')).status).toBe(200);
}, 240_000);

test('one that is known to be hostile is refused before it is opened', async () => {
  const reply = await ask('/api/graph?run=refused');
  expect([reply.status, reply.error.code]).toEqual([409, 'run']);
  expect(reply.error.message).toMatch(
    /tokenizer\.json is not a tokenizer\.json of .*: TemplateProcessing in/,
  );
}, 240_000);

test('the page says what is wrong with a run, and leads on to others', async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(90_000);
  await page.goto(`${explorer.url}#run=refused`);
  await page.waitForSelector('.stage .failure');
  expect(await page.locator('.stage .failure').textContent()).toContain('which is not among its tokens');
  expect(await page.getByLabel('Run', { exact: true }).inputValue()).toBe('refused');
  await page.goto(`${explorer.url}#run=cut-run`);
  await page.waitForSelector('.no-run');
  expect(await page.locator('.no-run .failure').textContent()).toContain(
    'run.json is damaged: expected JSON',
  );
  expect(await page.getByLabel('Run', { exact: true }).inputValue()).toBe('cut-run');
  await page.waitForSelector('.other-runs button');
  await page.getByRole('button', { name: 'first' }).click();
  await page.waitForSelector('.text-canvas[data-texts]');
  await page.goto(`${explorer.url}#run=first&panel=runs`);
  await page.waitForSelector('tr[data-run="cut-run"] .fault');
  expect(await page.locator('tr[data-run="cut-run"]').textContent()).toMatch(
    /damaged.*run\.json is damaged/s,
  );
  expect(await page.getByLabel('Compare cut-run').isDisabled()).toBe(true);
  expect(await page.locator('tr[data-run="refused"] .fault').textContent()).toContain('not among its tokens');
  await page.close();
}, 240_000);

test('hsn encode gives an error, not an abort', async () => {
  const { code, stderr } = await hsn(
    'encode',
    path.join(small.runs, 'refused'),
    path.join(small.folder, 'reviews.tsv'),
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^hsn: .*refused\/tokenizer\.json is not a tokenizer\.json of Hugging Face's tokenizers: TemplateProcessing in post_processor: the template names "\[CLS\]", which is not among its tokens\n$/,
  );
}, 120_000);
