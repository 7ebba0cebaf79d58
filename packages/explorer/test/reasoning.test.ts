import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  countPath,
  createPathRun,
  createReasoningRun,
  openReasoner,
  openReasoning,
  openTuples,
  PathTask,
  preparePath,
  prepareReasoning,
  ReasoningTask,
  Session,
} from '@hidden-schema/hsn';
import {
  encodedCorpus,
  explainedCandidates,
  explainerOf,
  languageRun,
  openRun,
  RunSource,
  runReport,
  storedMeanings,
} from '@hidden-schema/studies';
import { tinyPath, tinyReasoning } from '@hidden-schema/testing/planted-run';
import { plantedTuples, writePlanted } from '@hidden-schema/testing/planted-tuples';
import { setThreads } from '@hidden-schema/torch';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { type Answer, endpoints } from '../src/shared/api.ts';
import { accessFaults, answerOf, launch, openPage, symbolsIn } from './browse.ts';
import { json, request } from './requests.ts';

setThreads(1);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-explorer-reason-'));
const run = path.join(folder, 'run');
const quiet = { output: { write: () => true } };
const few = { steps: 4, evaluateEvery: 2 };
const event = 'someone bak ban don';
let explorer: Explorer;
let browser: Browser;

/** A network over tuples and its path model, trained for a few steps: enough to be shown. */
async function trainBoth(): Promise<void> {
  writePlanted(path.join(folder, 'tuples'), plantedTuples({ kinds: 3, relations: 2, events: 20 }));
  const config = tinyReasoning({ symbols: 8, warmStart: { steps: 4 }, training: few });
  const prepared = await prepareReasoning(config, path.join(folder, 'tuples'));
  const made = createReasoningRun(run, prepared);
  await new Session(made, new ReasoningTask(prepared), quiet).train();
  made.close();
  const opened = await openReasoning(run);
  const small = tinyPath('lstm');
  const settings = { ...small, symbols: 8, training: { ...small.training, ...few } };
  const pathPrepared = await preparePath(settings, opened, await openTuples(opened));
  const pathRun = createPathRun(opened, settings);
  await new Session(pathRun, new PathTask(pathPrepared), quiet).train();
  pathRun.close();
  countPath({ ...settings, path: { ...settings.path, kind: 'counts' } }, opened, await openTuples(opened));
  opened.model.free();
}

beforeAll(async () => {
  await trainBoth();
  explorer = await startExplorer({ run });
  browser = await launch();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await explorer?.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('reasoning: objects, paths and scores are the library’s', async () => {
  await answerOf(explorer.url, '/api/graph');
  const facts = await answerOf<Answer<'run'>>(explorer.url, '/api/run');
  expect(facts).toMatchObject({ model: 'reasoning', problem: null });
  expect(facts.opened!.features).toEqual(['labels', 'reason']);
  const [relation] = facts.opened!.relations;
  const answer = await answerOf<Answer<'reason'>>(explorer.url, '/api/reason', { event, count: 3 });
  expect(endpoints.reason.response.parse(answer)).toEqual(answer);
  const reasoner = await openReasoner(run);
  const explainer = explainerOf(reasoner.opened);
  const asked = { event, relation: relation!.name };
  const expected = await explainedCandidates({ reasoner, explainer }, asked, { count: 3 });
  expect(answer.path).toBe('counts+lstm');
  // Sums of float32 logarithms: the server asks all relations at once and may have other threads, so that their last digit differs.
  const rounded = (candidates: unknown) =>
    JSON.parse(JSON.stringify(candidates), (key, value) =>
      key === 'objectLogProb' || key === 'score' ? Number(value.toFixed(4)) : value,
    );
  expect(rounded(answer.results[0]!.candidates)).toEqual(rounded(expected));
  expect(answer.results[0]!.candidates[0]!.like[0]).toMatchObject({ same: expect.any(Number) });
  reasoner.free();
  const refused = await request(explorer.url, '/api/reason', json({ event, relations: ['none'] }));
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('unknown relation')]);
  const graph = await answerOf<Answer<'graph'>>(explorer.url, '/api/graph');
  const { words, walk } = answer.results[0]!.candidates[0]!;
  expect(walk.map((symbol) => graph.nodes[symbol]!.tokens)).toEqual(words);
  expect(graph.nodes.reduce((sum, { usage }) => sum + usage, 0)).toBeCloseTo(1, 5);
  const labels = await answerOf<Answer<'labels'>>(explorer.url, '/api/labels');
  expect(labels.maps.map(({ label }) => label)).toEqual(facts.opened!.labels);
});

test('what a run cannot do is refused, and why', async () => {
  const refusal = async (url: string, address: string, body: unknown) => {
    const { status, text } = await request(url, address, json(body));
    const { code, message } = JSON.parse(text).error;
    return [status, code, message];
  };
  const never = [404, 'not_offered', 'this kind of run does not offer that'];
  expect(await refusal(explorer.url, '/api/encode', { text: event })).toEqual(never);
  expect(await refusal(explorer.url, '/api/generate', { walk: [1, 2] })).toEqual(never);
  const bare = path.join(folder, 'bare');
  fs.cpSync(run, bare, { recursive: true });
  fs.rmSync(path.join(bare, 'paths'), { recursive: true });
  const other = await startExplorer({ run: bare });
  try {
    const yet = [409, 'not_yet', 'this run has no path model yet; hsn reason train makes one'];
    expect(await refusal(other.url, '/api/reason', { event })).toEqual(yet);
    const { opened } = await answerOf<Answer<'run'>>(other.url, '/api/run');
    expect(opened!.features).toEqual(['labels']);
    expect(opened!.notes).toEqual([expect.stringContaining('has no path model yet')]);
  } finally {
    await other.close();
  }
});

test('analyses read tuples as they read texts; relations are their labels', async () => {
  const opened = await openRun(run);
  const encoded = await encodedCorpus(opened, { limit: 40 });
  try {
    expect([encoded.count, encoded.labels]).toEqual([40, opened.labels]);
    const { text, walk, label } = encoded.sentence(0);
    expect(text.split('\t')[1]).toBe(label);
    expect((await opened.texts.read([text])).walks[0]!.walk).toEqual(walk);
    const meanings = await storedMeanings(opened, { encoded });
    const words = meanings.flatMap((meaning) => meaning.words.map(({ word }) => word));
    expect(words).not.toHaveLength(0);
    expect(words.filter((word) => opened.labels.some((name) => name.toLowerCase() === word))).toEqual([]);
    expect(await runReport(new RunSource(opened, { encoded }), { samples: 3 })).toContain(
      '<h2>Each label</h2>',
    );
    expect(() => languageRun(opened, 'hsn attend')).toThrow(
      'is the run of tuples; hsn attend takes a language',
    );
  } finally {
    encoded.close();
    opened.model.free();
  }
});

/** Symbols that a walk may step to. */
const neighbours = ({ links }: Answer<'graph'>, of: number): number[] =>
  links.flatMap(([i, j, p]) => (p < 0.5 ? [] : i === of ? [j] : j === of ? [i] : []));

test('walks go on from the steps they are given, wherever these end; other steps are refused', async () => {
  const graph = await answerOf<Answer<'graph'>>(explorer.url, '/api/graph');
  const ask = (along: readonly number[]) =>
    answerOf<Answer<'reason'>>(explorer.url, '/api/reason', { event, relations: ['rB'], count: 4, along });
  const { length } = (await ask([])).results[0]!.candidates[0]!.walk;
  const along: number[] = [3];
  while (along.length < length) along.push(neighbours(graph, along.at(-1)!).at(along.length % 2)!);
  for (let steps = 1; steps <= length; steps++) {
    const begun = along.slice(0, steps);
    const { candidates } = (await ask(begun)).results[0]!;
    expect(candidates.length).toBeGreaterThan(0);
    for (const { walk, score } of candidates) {
      expect([walk.slice(0, steps), walk.length]).toEqual([begun, length]);
      expect(Number.isFinite(score)).toBe(true);
    }
  }
  const none = graph.nodes.find(({ symbol }) => symbol !== 3 && !neighbours(graph, 3).includes(symbol));
  const refusal = async (steps: number[]) =>
    (await request(explorer.url, '/api/reason', json({ event, relations: ['rB'], along: steps }))).text;
  if (none) expect(await refusal([3, none.symbol])).toContain('no link leads from symbol 3');
  expect(await refusal([99])).toContain('symbols are 0 to 7, got 99');
  expect(await refusal([...along, 1])).toContain(`walks of this run have ${length} steps`);
});

test('the Reason panel: objects, walks in words, what they are like, paths merged, a path edited', async () => {
  const complaints: string[] = [];
  const page: Page = await openPage(browser, explorer.url, complaints, { hash: '#panel=reason&answers=6' });
  await page.locator('#event').fill(event);
  await page.getByLabel('rB').check();
  await page.getByRole('button', { name: 'What follows?' }).click();
  const body = { event, relations: ['rB'], count: 6 };
  const { results } = await answerOf<Answer<'reason'>>(explorer.url, '/api/reason', body);
  const { candidates } = results[0]!;
  await page.waitForSelector('[data-relation="rB"] .sentence');
  expect(await page.locator('.answers .sentence-text').allInnerTexts()).toEqual(
    candidates.map(({ object }) => object || '(nothing)'),
  );
  expect(await page.locator('[data-relation]').count()).toBe(1);
  expect(page.url()).toContain('relations=rB');
  expect(await accessFaults(page)).toEqual([]);
  const first = candidates[0]!;
  expect(await page.locator('.walked').getAttribute('data-walk')).toBe(first.walk.join(' '));
  expect(await page.locator('.like li').count()).toBe(first.like.length);
  // The shares of branches from the same step on sum to their parent's.
  const top = await page
    .locator('.paths > ul > li')
    .evaluateAll((items) => items.map((item) => Number(item.getAttribute('data-share'))));
  expect(top.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  // One step's alternatives at a time.
  expect(await page.locator('.alternatives').count()).toBe(0);
  // Steps that stay where the walk is are no steps for people.
  const moves = first.walk.flatMap((symbol, at) => (symbol === first.walk[at - 1] ? [] : [at]));
  expect(await page.locator('.walk-step').count()).toBe(moves.length);
  const last = moves.at(-1)!;
  await page.getByLabel('Step 1:').click();
  await page.getByLabel(`Step ${moves.length}:`).click();
  expect(await page.locator('.alternatives').count()).toBe(1);
  const more = page.locator('.alternatives').getByRole('button', { name: /more$/ });
  if ((await more.count()) > 0) await more.click();
  const choices = await symbolsIn(page.locator('.alternatives [data-symbol]'));
  const graph = await answerOf<Answer<'graph'>>(explorer.url, '/api/graph');
  const near = neighbours(graph, first.walk[last - 1]!);
  expect(choices.toSorted((a, b) => a - b)).toEqual(
    near.filter((symbol) => symbol !== first.walk[last]).toSorted((a, b) => a - b),
  );
  const other = choices.at(-1)!;
  await page.locator(`.alternatives [data-symbol="${other}"]`).click();
  await page.waitForSelector('.begun');
  const along = [...first.walk.slice(0, last), other];
  await page.waitForFunction(
    (begun) => document.querySelector('.walked')?.getAttribute('data-walk')?.startsWith(begun),
    along.join(' '),
  );
  const edited = await answerOf<Answer<'reason'>>(explorer.url, '/api/reason', { ...body, along });
  expect(await page.locator('.answers .sentence-text').allInnerTexts()).toEqual(
    edited.results[0]!.candidates.map(({ object }) => object || '(nothing)'),
  );
  expect(page.url()).toContain(`along=${along.join('-')}`);
  await page.getByRole('button', { name: 'Any path' }).click();
  await page.waitForFunction(
    (whole) => document.querySelector('.walked')?.getAttribute('data-walk') === whole,
    first.walk.join(' '),
  );
  expect(complaints).toEqual([]);
});
