import fs from 'node:fs';
import path from 'node:path';
import { symbolNames } from '@hidden-schema/studies';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { drawnLinks } from '../src/page/graph/scene.ts';
import { decimal, percent, title } from '../src/page/labels.ts';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import type { Answer } from '../src/shared/api.ts';
import { answerOf, launch, openPage, settled, symbolsIn } from './browse.ts';
import { pixelsOf } from './pixels.ts';
import { labelNames, makeSmallLanguage, type SmallLanguage } from './small-language.ts';
import { markup } from './small-run.ts';

let small: SmallLanguage;
let explorer: Explorer;
let browser: Browser;
let page: Page;
const complaints: string[] = [];
const sentence = `the cat was too salty ${markup[0]}`;

const open = async (hash = '', width = 1280) => {
  page = await openPage(browser, explorer.url, complaints, { hash: `#${hash}`, width });
};
const api = <T>(address: string, body?: unknown): Promise<T> => answerOf<T>(explorer.url, address, body);
const text = async (selector: string) =>
  ((await page.locator(selector).first().allInnerTexts())[0] ?? '').trim();
/** Text as a page shows it: white space runs together. */
const shown = (written: string) => written.replaceAll(/\s+/g, ' ').trim() || '(nothing)';
/** A busy machine takes its time. */
const poll = <T>(value: () => Promise<T> | T) => expect.poll(value, { timeout: 30_000 });
const saved = async (title: string): Promise<Buffer> => {
  const download = page.waitForEvent('download');
  await page.getByTitle(`Download ${title}`).first().click();
  return fs.readFileSync(await (await download).path());
};

beforeAll(async () => {
  small = await makeSmallLanguage();
  explorer = await startExplorer({ run: small.runs });
  browser = await launch();
  await api('/api/graph');
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
  small?.remove();
});

describe('graph and labels', () => {
  test('two labels side by side, each with its own map', async () => {
    await open('panel=labels&show=graph');
    await page.waitForSelector('.labels table');
    const labels = await api<Answer<'labels'>>('/api/labels');
    for (const { label, typical } of labels.maps) {
      const rows = page.locator(`table[data-label=${JSON.stringify(label)}] tbody tr`);
      expect(await symbolsIn(rows.locator('.symbol-link'))).toEqual(
        typical.slice(0, 5).map(({ symbol }) => symbol),
      );
      expect(await rows.first().locator('td').nth(2).textContent()).toBe(typical[0]!.lift.toFixed(1));
    }
    const cells = await page.locator('.heat g g text').allTextContents();
    expect(cells).toEqual(labels.divergence.flat().map((value) => value.toFixed(2)));
    await page.getByRole('button', { name: 'Two labels side by side' }).click();
    await poll(() => page.locator('.canvas').count()).toBe(2);
    const drawn = await page
      .locator('.canvas')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-map')));
    expect(drawn).toEqual(labels.maps.map(({ label }) => label));
    expect(await page.locator('.map-title b').allInnerTexts()).toEqual(drawn);
    await page.reload();
    await poll(() => page.locator('.canvas').count()).toBe(2);
    const shot = () => page.locator('.canvas').first().screenshot();
    await poll(async () => pixelsOf(browser, await shot(), [47, 111, 208])).toBeGreaterThan(50);
    await page.getByLabel('Second label, drawn beside').selectOption('');
    await poll(() => page.locator('.canvas').count()).toBe(1);
    await page.getByLabel('Colour by').selectOption('label');
    await page.getByLabel('Label whose texts are drawn').selectOption('');
    await poll(() => page.locator('.legend li').allInnerTexts()).toEqual(
      labels.maps.map(({ label }) => label),
    );
  });

  test('is saved as SVG, PNG and CSV', async () => {
    await open('show=graph');
    const svg = (await saved('graph.svg')).toString();
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(svg.match(/<circle/g)).toHaveLength(8);
    expect((await saved('graph.png')).subarray(1, 4).toString()).toBe('PNG');
    const { links } = await api<Answer<'graph'>>('/api/graph');
    const lines = (await saved('graph.csv')).toString().trim().split('\r\n');
    expect(lines).toHaveLength(links.length + 1);
    expect(lines[1]!.endsWith(`,${links[0]![2]}`)).toBe(true);
  });
});

test('symbol: words, labels, sentences page by page, and its name everywhere', async () => {
  const { nodes } = await api<Answer<'graph'>>('/api/graph');
  const answers = await Promise.all(nodes.map(({ symbol: k }) => api<Answer<'symbol'>>(`/api/symbol/${k}`)));
  // One that all sentences pass has no words of its own.
  const symbol = answers.filter(({ words }) => words.length > 0).toSorted((a, b) => b.usage - a.usage)[0]!;
  const k = symbol.symbol;
  await open(`symbol=${k}`);
  await page.waitForSelector('article.symbol');
  const chips = await page.locator('.tokens').first().locator('li').allInnerTexts();
  expect(chips).toEqual(symbol.words.map(({ word }) => word));
  for (const { label, share } of symbol.labels)
    expect(await text(`.label-shares tr[data-label=${JSON.stringify(label)}] .number`)).toBe(percent(share));
  expect(await page.locator('.examples li .sentence-text').allInnerTexts()).toEqual(
    symbol.examples.map((example) => example.text),
  );
  await page.getByRole('button', { name: 'All texts that pass here' }).click();
  await page.getByLabel('Label of the texts').selectOption(labelNames[1]);
  const query = `symbol=${k}&limit=10&label=${encodeURIComponent(labelNames[1])}`;
  const passing = await api<Answer<'encoded'>>(`/api/encoded?${query}`);
  await poll(() => page.locator('.passing .sentence-text').allInnerTexts()).toEqual(
    passing.sentences.map((one) => one.text),
  );
  expect(await text('.passing .pages span')).toContain(`of ${passing.total}`);
  await page.getByText('Rename this theme').click();
  await page.getByLabel('Name of this theme').fill(markup[3]!);
  await page.keyboard.press('Enter');
  await poll(() => text('article.symbol h2')).toBe(`${markup[3]} no. ${k}`);
  expect(symbolNames(small.run).get(k)).toBe(markup[3]);
  await page.locator('#place-model').click();
  await page.locator('#tab-compose').click();
  await page.getByLabel('Theme to add').fill(String(k));
  await page.keyboard.press('Enter');
  await poll(() => text('.steps .symbol-link')).toBe(markup[3]);
});

test('sentence: walk, reconstruction, attention and nearest sentences are the library’s', async () => {
  await open(`panel=sentence&text=${encodeURIComponent(sentence)}`);
  const encoded = await api<Answer<'reading'>>('/api/encode', { text: sentence });
  const walk = encoded.walk!.steps.map(({ symbol }) => symbol);
  await page.waitForSelector('.walk');
  expect(await page.locator('.walk').getAttribute('data-walk')).toBe(walk.join(' '));
  const first = encoded.walk!.steps[0]!;
  const graph = await api<Answer<'graph'>>('/api/graph');
  expect(await text('.walk tbody tr .bar .number')).toBe(percent(first.probability));
  expect(await page.locator('.walk tbody tr').first().locator('.else button').allInnerTexts()).toEqual(
    first.alternatives
      .filter(({ probability }) => probability >= 0.005)
      .map((other) => `${title(graph.nodes[other.symbol]!)} ${percent(other.probability)}`),
  );
  const written = await api<Answer<'generate'>>('/api/generate', { walk, force: true });
  await poll(() => text('blockquote.written')).toBe(shown(written.samples[0]!.text));
  const heat = await api<Answer<'attention'>>('/api/attention', { text: sentence });
  await page.waitForSelector('.heat');
  const titles = await page.locator('.heat g g rect title').allTextContents();
  expect(titles.map((line) => line.split(': ').at(-1))).toEqual(heat.weights.flat().map(decimal));
  const near = await api<Answer<'nearest'>>('/api/nearest', { walk, limit: 8 });
  await poll(() => page.locator('.nearest .sentence-text').allInnerTexts()).toEqual(
    near.sentences.map((one) => one.text),
  );
  await page.getByLabel('Layer').selectOption({ value: '1' });
  const layer = await api<Answer<'attention'>>('/api/attention', { text: sentence, layer: 1 });
  await poll(async () =>
    (await page.locator('.heat g g rect title').allTextContents())[0]!.split(': ').at(-1),
  ).toBe(decimal(layer.weights[0]![0]!));
  expect(page.url()).toContain('layer=1');
  const csv = (await saved('attention.csv')).toString();
  expect(csv.split('\r\n')[1]).toContain(String(layer.weights[0]![0]));
});

test('compose: a walk by clicks and keys, a missing link forced, samples as the library writes them', async () => {
  const { links } = await api<Answer<'graph'>>('/api/graph');
  const probable = new Set(links.filter(([, , p]) => p >= 0.5).map(([i, j]) => `${i} ${j}`));
  const pairs = Array.from({ length: 64 }, (_, at) => [Math.floor(at / 8), at % 8] as const);
  const [i, j] = pairs.find(([a, b]) => a < b && !probable.has(`${a} ${b}`))!;
  await open('panel=compose&show=graph');
  await poll(() => text('.empty')).toBe('No step yet.');
  const canvas = page.locator('.canvas');
  for (let at = 0; at <= i; at++) await canvas.press('n');
  await canvas.press('Enter');
  await poll(() => page.locator('.steps').getAttribute('data-walk')).toBe(String(i));
  // The symbol under the keys was flown to, so it lies in the middle.
  await settled(page);
  await canvas.click();
  await poll(() => page.locator('.steps').getAttribute('data-walk')).toBe(`${i} ${i}`);
  await page.getByRole('button', { name: 'Take the last away' }).click();
  await page.getByLabel('Theme to add').fill(String(j));
  await page.keyboard.press('Enter');
  await poll(() => symbolsIn(page.locator('.steps .symbol-link'))).toEqual([i, j]);
  expect(await text('.no-link .link-note')).toMatch(/^no link \(/);
  const write = page.locator('button.primary', { hasText: /^Write$/ });
  expect(await write.isDisabled()).toBe(true);
  await page.getByText('Write all the same').click();
  await page.getByLabel('Samples').fill('3');
  await page.getByLabel('Seed').fill('7');
  await write.click();
  const body = { walk: [i, j], count: 3, temperature: 0.8, topP: 0.9, seed: 7, force: true };
  const { samples } = await api<Answer<'generate'>>('/api/generate', body);
  // A model this small writes odd spaces and controls too, which a page lays out in its own way.
  const visible = (one: string) => one.replace(/[\s\p{C}]/gu, '');
  await poll(async () => (await page.locator('.samples li').allInnerTexts()).map(visible)).toEqual(
    samples.map((one) => visible(one.text)),
  );
  expect(page.url()).toMatch(/walk=\d-\d&count=3&seed=7/);
});

test('interpolate: every step with its text, or why there is none', async () => {
  const [from, to] = [sentence, 'my friend seems cheap'];
  await open('panel=interpolate');
  await poll(() => text('.between .empty')).toContain('Two sentences');
  await page.locator('#from').fill(from);
  await page.locator('#to').fill(to);
  await page.getByRole('button', { name: 'Go' }).click();
  const way = await api<Answer<'interpolate'>>('/api/interpolate', { from, to });
  if (way.unreachable !== null) {
    await poll(() => text('.between .failure')).toBe(way.unreachable);
    return;
  }
  await poll(() => page.locator('.way .sentence .sentence-text').allInnerTexts()).toEqual(
    way.steps.map((step) => shown(step.text)),
  );
  expect(await page.locator('.way .end .sentence-text').allInnerTexts()).toEqual([from, to]);
});

test('training: live curves, loss terms, symbols in use, reconstructions', async () => {
  await open('panel=training');
  await page.waitForSelector('.chart');
  const names = await page
    .locator('.chart')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-metric')));
  expect(names).toEqual(
    expect.arrayContaining(['loss', 'reconstruction', 'kl_walk', 'kl_graph', 'symbols_used']),
  );
  const metrics = await api<Answer<'metrics'>>('/api/metrics');
  const used = metrics.rows.findLast((row) => typeof row.symbols_used === 'number')!.symbols_used!;
  expect(await text('[data-used]')).toContain(`${used} of 8 themes in use`);
  const { samples } = await api<Answer<'samples'>>('/api/samples?limit=5');
  await poll(() => page.locator('.reconstructions .written').allInnerTexts()).toEqual(
    samples.map(({ written }) => shown(written)),
  );
  expect((await saved('loss.svg')).toString()).toContain('<polyline');
  // A row that training writes now appears by itself.
  const file = path.join(small.run, 'metrics.jsonl');
  const before = fs.readFileSync(file);
  try {
    const row = { step: 7, epoch: 0, time: 1, loss: 12.5 };
    fs.appendFileSync(file, `${JSON.stringify(row)}\n`);
    await poll(() => text('.chart[data-metric="loss"] figcaption .number')).toBe('12.5 step 7');
  } finally {
    fs.writeFileSync(file, before);
  }
});

test('runs: two side by side, in figures, settings and curves; and from one to the other', async () => {
  await open('panel=runs&show=graph');
  await page.waitForSelector('.run-list');
  for (const id of ['first', 'second']) await page.getByLabel(`Compare ${id}`).check();
  const { runs } = await api<Answer<'runs'>>('/api/runs');
  await page.waitForSelector('.comparison');
  for (const [name, value] of Object.entries(runs[0]!.figures)) {
    const row = page.locator(`[data-table="figures"] tr[data-row="${name}"] td`);
    expect(await row.allInnerTexts()).toEqual([value, runs[1]!.figures[name]!].map((x) => decimal(x!)));
  }
  const rows = page.locator('[data-table="settings"] tbody tr');
  expect(await rows.evaluateAll((all) => all.map((one) => one.getAttribute('data-row')))).toEqual(['seed']);
  await page.waitForSelector('.chart[data-metric="loss"]');
  await page.locator('tr[data-run="second"] button').click();
  await poll(() => page.getByLabel('Run', { exact: true }).inputValue()).toBe('second');
  expect(page.url()).toContain('run=second');
  await page.waitForSelector('.canvas canvas');
  const graph = await api<Answer<'graph'>>('/api/graph?run=second');
  const drawn = drawnLinks(graph, false).length;
  await poll(() => page.locator('.canvas').getAttribute('data-links')).toBe(String(drawn));
});

test('small windows: every panel fits', async () => {
  await open('', 420);
  for (const panel of ['symbol', 'sentence', 'compose', 'interpolate', 'labels', 'training', 'runs', 'run']) {
    await page.evaluate(`location.hash = ${JSON.stringify(`#panel=${panel}&walk=1-2&text=${sentence}`)}`);
    await settled(page);
    const width = await page.evaluate<number>('document.scrollingElement.scrollWidth');
    expect([panel, width <= 420]).toEqual([panel, true]);
  }
});
