// Every analysis of the table, asked by the library, the command line, HTTP and MCP: one answer.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Explorer, startExplorer } from '@hidden-schema/explorer';

import { type AnalysisName, analyses, loadAnalysis } from '@hidden-schema/studies/analyses';
import { plainJson } from '@hidden-schema/studies/analysis/results';
import { optionForms } from '@hidden-schema/studies/option-forms';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../../explorer/test/requests.ts';
import { makeSmallDiscovered, type SmallDiscovered } from '../../explorer/test/small-discovered.ts';
import { makeSmallLanguage, type SmallLanguage } from '../../explorer/test/small-language.ts';
import { open } from '../src/index.ts';

interface Case {
  options: Record<string, unknown>;
  /** Asks a run with a decoder in place of one whose symbols were discovered. */
  decoder?: boolean;
  /** What the answer must have, so that an empty one is no answer. */
  has: object;
}

const cases: Record<AnalysisName, readonly Case[]> = {
  symbols: [
    { options: {}, has: { length: 9, 0: { symbol: 0, words: expect.any(Array) } } },
    { options: {}, has: { length: 8 }, decoder: true },
  ],
  meaning: [
    { options: { symbol: 4 }, has: { symbol: 4 } },
    { options: { symbol: '7' }, has: { symbol: 7, usage: expect.any(Number) } },
  ],
  levels: [{ options: { counts: [2, 4] }, has: { symbols: 9, levels: [{ count: 2 }, { count: 4 }] } }],
  explain: [
    {
      options: { text: 'the guitar and the drums played a song' },
      has: { method: 'occlusion', html: expect.stringContaining('<span') },
    },
  ],
  faithfulness: [{ options: { count: 12 }, has: { texts: 9, p: expect.any(Number) } }],
  attend: [
    { options: { words: ['is', 'was'] }, has: { words: [{ word: 'is' }, { word: 'was' }] }, decoder: true },
  ],
  statistics: [
    { options: { samples: 5 }, has: { inferred: { samples: 5, nodes: 9 } } },
    { options: { samples: 3 }, has: { inferred: { samples: 3, nodes: 8 } }, decoder: true },
  ],
  find: [
    {
      options: { phrase: 'the guitar and the drums', top: 3 },
      has: { symbols: { length: 3, 0: { words: expect.any(Array) } }, sentences: { length: 3 } },
    },
  ],
  time: [
    { options: {}, has: { column: 'year', symbols: { length: 9 } } },
    { options: { column: 'year', period: 'quarter century' }, has: { period: 'quarter century' } },
  ],
  labels: [
    { options: {}, has: { maps: { length: 3 } } },
    { options: { only: ['space', 'music'] }, has: { maps: [{ label: 'space' }, { label: 'music' }] } },
  ],
  predict: [{ options: {}, has: { by: 'label', coefficients: expect.any(Array) } }],
  compare: [
    { options: {}, has: { by: 'label', against: 'rest', groups: { length: 3 } } },
    {
      options: { by: 'label', groups: ['music', 'space'] },
      has: { against: 'pair', symbols: { length: 9 } },
    },
  ],
};

let small: SmallDiscovered;
let language: SmallLanguage;
let explorer: Explorer;
let client: Client;

beforeAll(async () => {
  small = await makeSmallDiscovered();
  language = await makeSmallLanguage();
  explorer = await startExplorer({ run: [small.run, language.run] });
  client = new Client({ name: 'test', version: '1' });
  const program = fileURLToPath(new URL('../../cli/bin/hsn.js', import.meta.url));
  const env = { ...process.env, HSN_THREADS: '1' } as Record<string, string>;
  const args = [program, 'mcp', small.run, language.run];
  const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' });
  await client.connect(transport, { timeout: 200_000 });
}, 300_000);
afterAll(async () => {
  await client?.close();
  await explorer?.close();
  small?.remove();
  language?.remove();
});

const folderOf = ({ decoder }: Case) => (decoder ? language.run : small.run);

async function byLibrary(name: AnalysisName, one: Case): Promise<unknown> {
  using schema = await open(folderOf(one));
  const { first } = await loadAnalysis(name);
  const { [first ?? '']: leading, ...others } = one.options;
  const method = name === 'symbols' ? 'describe' : name;
  const ask = (schema as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[method]!;
  return JSON.parse(plainJson(await ask.apply(schema, first === undefined ? [others] : [leading, others])));
}

/** A verb with the words that ask a case. */
async function commandOf(name: AnalysisName, one: Case): Promise<string[]> {
  const analysis = await loadAnalysis(name);
  const own = optionForms(analysis).flatMap(({ option, flag, argument }) => {
    const value = one.options[option];
    if (value === undefined) return [];
    const text = Array.isArray(value) ? value.join() : String(value);
    return argument ? [text] : [`--${flag}`, text];
  });
  return [analysis.verb ?? name, folderOf(one), ...own];
}

async function byCommandLine(name: AnalysisName, one: Case): Promise<unknown> {
  const ended = await hsn(...(await commandOf(name, one)), '--json');
  expect(ended.code, ended.stderr).toBe(0);
  return JSON.parse(ended.stdout);
}

const idOf = (one: Case) => path.basename(folderOf(one));

async function byHttp(name: AnalysisName, one: Case): Promise<unknown> {
  const { status, text } = await request(explorer.url, `/api/analyses/${name}?run=${idOf(one)}`, {
    ...{ method: 'POST', body: JSON.stringify(one.options) },
    headers: { 'content-type': 'application/json' },
  });
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

async function byTool(name: AnalysisName, one: Case): Promise<unknown> {
  const options = { run: idOf(one), ...one.options };
  const answer = await client.callTool({ name, arguments: options }, undefined, { timeout: 200_000 });
  const [content] = answer.content as { text: string }[];
  expect(answer.isError ?? false, content!.text).toBe(false);
  return JSON.parse(content!.text);
}

describe.each(Object.keys(analyses) as AnalysisName[])('%s', (name) => {
  test('is declared under its name, with a row of cases', async () => {
    expect((await loadAnalysis(name)).name).toBe(name);
    expect(cases[name].length).toBeGreaterThan(0);
  });

  test.each(cases[name])(
    'answers alike by every way in: $options',
    async (one) => {
      const library = await byLibrary(name, one);
      expect(library).toMatchObject(one.has);
      expect(await byCommandLine(name, one)).toEqual(library);
      expect(await byHttp(name, one)).toEqual(library);
      expect(await byTool(name, one)).toEqual(library);
    },
    200_000,
  );

  test('refuses an option that it does not have, by every way in', async () => {
    const [first] = cases[name];
    const wrong = { ...first!, options: { ...first!.options, nosuch: 1 } };
    await expect(byLibrary(name, wrong)).rejects.toThrow(/^\w+ has no option nosuch; it has /);
    await expect(byHttp(name, wrong)).rejects.toThrow(/nosuch/);
    await expect(byTool(name, wrong)).rejects.toThrow(/nosuch/);
    const { stderr } = await hsn(...(await commandOf(name, first!)), '--nosuch');
    expect(stderr).toContain("unknown option '--nosuch'");
  }, 200_000);
});
