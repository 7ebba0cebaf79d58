// The official client of the Model Context Protocol against `hsn mcp` in a process of its own.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { request } from './requests.ts';
import { makeSmallLanguage, type SmallLanguage } from './small-language.ts';

const HSN = fileURLToPath(new URL('../../cli/bin/hsn.js', import.meta.url));
let small: SmallLanguage;
let explorer: Explorer;

beforeAll(async () => {
  small = await makeSmallLanguage();
  explorer = await startExplorer({ run: small.run });
}, 240_000);
afterAll(async () => {
  await explorer?.close();
  small?.remove();
});

/** A client of `hsn mcp` with some more words, closed at the end. */
async function withClient<T>(words: string[], use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'test', version: '1' });
  const env = { ...process.env, HSN_THREADS: '1' } as Record<string, string>;
  const args = [HSN, 'mcp', ...words];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

async function ask(client: Client, name: string, input: Record<string, unknown> = {}) {
  const answer = await client.callTool({ name, arguments: input }, undefined, { timeout: 120_000 });
  const [content] = answer.content as { type: string; text: string }[];
  return { text: content!.text, isError: answer.isError === true };
}

const overHttp = async (address: string, body?: unknown) => {
  const options =
    body === undefined
      ? {}
      : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return JSON.parse((await request(explorer.url, address, options)).text);
};

describe('hsn mcp', () => {
  test('lists what can be asked, and answers as the HTTP API does', async () => {
    await withClient([small.run], async (client) => {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(['runs', 'graph', 'symbol', 'encode', 'reading', 'encoded', 'labels', 'time']),
      );
      for (const edit of ['rename', 'merge', 'split', 'undo']) expect(names).not.toContain(edit);
      expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
      const symbol = tools.find(({ name }) => name === 'symbol')!;
      expect(symbol.inputSchema.required).toContain('k');
      const { text } = await ask(client, 'symbol', { k: 1 });
      expect(JSON.parse(text)).toEqual(await overHttp('/api/symbol/1'));
      const sentence = { text: 'the cat is cheap' };
      const walk = await ask(client, 'reading', sentence);
      expect(JSON.parse(walk.text)).toEqual(await overHttp('/api/encode', sentence));
    });
  }, 240_000);

  test('says what is wrong in words, and goes on', async () => {
    await withClient([small.run], async (client) => {
      const wrong = await ask(client, 'symbol', { k: -1 });
      expect(wrong).toMatchObject({ isError: true });
      expect(wrong.text).toContain('the call is not as expected: k:');
      const edit = await ask(client, 'rename', { k: 1, name: 'mine', identity: 'x' });
      expect(edit.isError).toBe(true);
      expect(edit.text).toMatch(/^there is no tool rename; there are runs, run, /);
      expect((await ask(client, 'run')).isError).toBe(false);
    });
  }, 240_000);

  test('with --edit names a symbol that was seen as it is now, and refuses one that was not', async () => {
    await withClient([small.run, '--edit'], async (client) => {
      const { identity, name } = JSON.parse((await ask(client, 'symbol', { k: 2 })).text);
      const stale = await ask(client, 'rename', { k: 2, name: 'mine', identity: 'another' });
      expect(stale).toMatchObject({ isError: true });
      expect(stale.text).toContain('symbols were edited since');
      expect((await ask(client, 'rename', { k: 2, name: 'by an agent', identity })).isError).toBe(false);
      expect((await overHttp('/api/symbol/2')).name).toBe('by an agent');
      expect((await ask(client, 'rename', { k: 2, name: name ?? '', identity })).isError).toBe(false);
    });
  }, 240_000);
});
