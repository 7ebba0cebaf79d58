// Every analysis of the table, asked by the library, the command line, HTTP and MCP: one answer.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Explorer, startExplorer } from '@hidden-schema/explorer';

import { type AnalysisName, analyses, loadAnalysis } from '@hidden-schema/studies/analyses';
import { plainJson } from '@hidden-schema/studies/drawing/results';
import { optionForms } from '@hidden-schema/studies/option-forms';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../../explorer/test/requests.ts';
import { makeSmallDiscovered, type SmallDiscovered } from '../../explorer/test/small-discovered.ts';
import { makeSmallLanguage, type SmallLanguage } from '../../explorer/test/small-language.ts';
import { type EncodedText, open, type Schema } from '../src/index.ts';

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
  encode: [
    {
      options: { texts: ['the guitar and the drums played a song', ' ', 'the rocket flew to the moon'] },
      has: { length: 3, 0: { walk: expect.any(Array) }, 1: { walk: [], probability: 1 } },
    },
    { options: { texts: ['the cat is cheap'] }, has: { 0: { walk: { length: 3 } } }, decoder: true },
  ],
  generate: [
    {
      options: { walk: [1, 2, 3], count: 2, temperature: 0.9, topK: 20, seed: 7, maxTokens: 9 },
      has: { walk: [1, 2, 3], texts: { length: 2 } },
      decoder: true,
    },
    {
      options: { like: 'the cat is cheap', maxTokens: 9 },
      has: { walk: { length: 3 }, texts: { length: 1 } },
      decoder: true,
    },
  ],
  interpolate: [
    {
      options: { from: 'the cat is cheap', to: 'the food was terrible', threshold: 0.0001, maxTokens: 6 },
      has: { variant: 'window', unreachable: null, steps: expect.any(Array) },
      decoder: true,
    },
    {
      options: { from: 'the cat is cheap', to: 'the food was terrible', variant: 'nodes', threshold: 0.0001 },
      has: { variant: 'nodes', unreachable: null },
      decoder: true,
    },
  ],
  report: [
    { options: { samples: 3, texts: 5 }, has: { html: expect.stringContaining('<h2>All themes</h2>') } },
    {
      options: { samples: 3, texts: 5, words: ['is', 'was'] },
      has: { html: expect.stringContaining('<h2>Interpolation</h2>') },
      decoder: true,
    },
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
  if (name === 'encode' || name === 'generate' || name === 'interpolate')
    return JSON.parse(plainJson(await byOwnMethod(schema, name, one.options)));
  const method = name === 'symbols' ? 'describe' : name;
  const ask = (schema as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[method]!;
  return JSON.parse(plainJson(await ask.apply(schema, first === undefined ? [others] : [leading, others])));
}

/** Analyses whose methods have a form of their own, as their declaration has them and as the method does: one answer. */
async function byOwnMethod(
  schema: Schema,
  name: 'encode' | 'generate' | 'interpolate',
  { walk, texts, from, to, like, ...options }: Record<string, unknown>,
): Promise<unknown> {
  const asked = { ...options, ...given({ walk, texts, from, to, like }) };
  const whole = await schema.ask(await loadAnalysis(name), asked);
  if (name === 'encode') expect(await schema.encode(texts as string[])).toEqual(whole);
  if (name === 'generate' && walk)
    expect(await schema.generate(walk as number[], options)).toEqual((whole as { texts: unknown }).texts);
  if (name === 'interpolate') {
    const { variant, threshold, ...write } = options;
    const steps = await schema.interpolate(from as string, to as string, {
      ...given({ variant, threshold }),
      write,
    });
    expect(steps).toEqual((whole as { steps: unknown }).steps);
  }
  return whole;
}

const given = (options: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** A verb with the words that ask a case. */
async function commandOf(name: AnalysisName, one: Case): Promise<string[]> {
  const analysis = await loadAnalysis(name);
  const own = optionForms(analysis).flatMap(({ option, flag, argument, own: elsewhere }) => {
    const value = one.options[option];
    if (value === undefined || elsewhere) return [];
    const text = Array.isArray(value) ? value.join() : String(value);
    return argument ? [text] : [`--${flag}`, text];
  });
  return [analysis.verb ?? name, folderOf(one), ...own];
}

async function byCommandLine(name: AnalysisName, one: Case): Promise<unknown> {
  const command = await commandOf(name, one);
  const file = path.join(language.folder, `asked.${name}`);
  if (name === 'encode') {
    fs.writeFileSync(file, (one.options.texts as string[]).join('\n'));
    command.push(file, '--input-format', 'text');
  }
  if (name === 'report') command.push('--out', file);
  const ended = await hsn(...command, '--json');
  expect(ended.code, ended.stderr).toBe(0);
  if (name === 'report') return { html: fs.readFileSync(file, 'utf8') };
  if (name === 'encode')
    return ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  return JSON.parse(ended.stdout);
}

/** An answer as the command line has it: files of walks leave texts without words out, and round to six digits. */
function asPrinted(name: AnalysisName, answer: unknown): unknown {
  if (name !== 'encode') return answer;
  const short = (value: number) => Number(value.toPrecision(6));
  return (answer as EncodedText[])
    .filter(({ walk }) => walk.length > 0)
    .map((one) => ({ ...one, probability: short(one.probability), steps: one.steps.map(short) }));
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
      expect(await byCommandLine(name, one)).toEqual(asPrinted(name, library));
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
