// Every analysis of the table, asked by the library, the command line, HTTP and MCP: one answer.
import { fileURLToPath } from 'node:url';
import { type Explorer, startExplorer } from '@hidden-schema/explorer';
import { plainJson } from '@hidden-schema/studies';
import { type AnalysisName, analyses, loadAnalysis, optionForms } from '@hidden-schema/studies/analyses';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSmallDiscovered, type SmallDiscovered } from '../../explorer/test/small-discovered.ts';
import { open } from '../src/index.ts';

interface Case {
  options: Record<string, unknown>;
  /** What the answer must have, so that an empty one is no answer. */
  has: object;
  /** Words of the command line, where they do not follow from the options. */
  words?: string[];
}

const cases: Record<AnalysisName, readonly Case[]> = {
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
let explorer: Explorer;
let client: Client;

beforeAll(async () => {
  small = await makeSmallDiscovered();
  explorer = await startExplorer({ run: small.run });
  client = new Client({ name: 'test', version: '1' });
  const program = fileURLToPath(new URL('../../cli/bin/hsn.js', import.meta.url));
  const env = { ...process.env, HSN_THREADS: '1' } as Record<string, string>;
  const args = [program, 'mcp', small.run];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
}, 300_000);
afterAll(async () => {
  await client?.close();
  await explorer?.close();
  small?.remove();
});

async function byLibrary(name: AnalysisName, options: Record<string, unknown>): Promise<unknown> {
  using schema = await open(small.run);
  const { first } = await loadAnalysis(name);
  const { [first ?? '']: leading, ...others } = options;
  const method = (name as string) === 'symbols' ? 'describe' : name;
  const ask = (schema as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[method]!;
  return JSON.parse(plainJson(await ask.apply(schema, first === undefined ? [others] : [leading, others])));
}

async function byCommandLine(name: AnalysisName, { options, words }: Case): Promise<unknown> {
  const analysis = await loadAnalysis(name);
  const own = optionForms(analysis).flatMap(({ option, flag, argument }) => {
    const value = options[option];
    if (value === undefined) return [];
    const text = Array.isArray(value) ? value.join() : String(value);
    return argument ? text.split(' ') : [`--${flag}`, text];
  });
  const ended = await hsn(analysis.verb ?? name, small.run, ...(words ?? own), '--json');
  expect(ended.code, ended.stderr).toBe(0);
  return JSON.parse(ended.stdout);
}

async function byHttp(name: AnalysisName, options: Record<string, unknown>): Promise<unknown> {
  const reply = await fetch(new URL(`/api/analyses/${name}`, explorer.url), {
    ...{ method: 'POST', body: JSON.stringify(options) },
    headers: { 'content-type': 'application/json' },
  });
  const answer = await reply.json();
  expect(reply.status, JSON.stringify(answer)).toBe(200);
  return answer;
}

async function byTool(name: AnalysisName, options: Record<string, unknown>): Promise<unknown> {
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
      const library = await byLibrary(name, one.options);
      expect(library).toMatchObject(one.has);
      expect(await byCommandLine(name, one)).toEqual(library);
      expect(await byHttp(name, one.options)).toEqual(library);
      expect(await byTool(name, one.options)).toEqual(library);
    },
    200_000,
  );

  test('refuses an option that it does not have, by every way in', async () => {
    const options = { ...cases[name][0]!.options, nosuch: 1 };
    await expect(byLibrary(name, options)).rejects.toThrow(/^\w+ has no option nosuch; it has /);
    await expect(byHttp(name, options)).rejects.toThrow(/nosuch/);
    await expect(byTool(name, options)).rejects.toThrow(/nosuch/);
    const { verb } = await loadAnalysis(name);
    expect((await hsn(verb ?? name, small.run, '--nosuch')).stderr).toContain("unknown option '--nosuch'");
  }, 200_000);
});
