import fs from 'node:fs';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { LIMITS } from '../src/server/limits.ts';
import { request, whenOpened } from './requests.ts';
import { outerAddress, SlowClients, slowKinds, UNREAD } from './slow-clients.ts';
import { makeSmallRun, type SmallRun } from './small-run.ts';

const token = 'a-token-for-this-test';
const authorization = { authorization: `Bearer ${token}` };
const SLOW = LIMITS.connections + 12;
let small: SmallRun;
let explorer: Explorer;
let guarded: Explorer;

beforeAll(async () => {
  small = await makeSmallRun();
  explorer = await startExplorer({ run: small.run });
  guarded = await startExplorer({ run: small.run, host: '0.0.0.0', token });
  await whenOpened(explorer.url);
}, 120_000);
afterAll(async () => {
  await explorer?.close();
  await guarded?.close();
  if (small) fs.rmSync(small.folder, { recursive: true, force: true });
});

/** Statuses of so many requests, some after another and some at once, each on a connection of its own. */
async function honest(url: string, headers: http.OutgoingHttpHeaders = {}): Promise<(number | string)[]> {
  const ask = async () => {
    try {
      return (await request(url, '/api/run', { headers })).status;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const apart: (number | string)[] = [];
  for (let n = 0; n < 9; n++) apart.push(await ask());
  return [...apart, ...(await Promise.all(Array.from({ length: 20 }, ask)))];
}
const answered = Array.from({ length: 29 }, () => 200);

describe('more slow clients than there are connections', () => {
  test.each(Object.keys(slowKinds))('that %s keep nobody out', async (kind) => {
    const slow = await SlowClients.connect(explorer.url, SLOW, kind);
    try {
      expect(await honest(explorer.url)).toEqual(answered);
      if (kind !== UNREAD)
        await expect.poll(() => slow.connected, { timeout: 20_000 }).toBeLessThanOrEqual(LIMITS.connections);
    } finally {
      slow.end();
    }
  });

  test('that come back whenever they are dropped keep nobody out', async () => {
    const slow = await SlowClients.connect(explorer.url, SLOW, 'stop within the headers', true);
    try {
      expect(await honest(explorer.url)).toEqual(answered);
    } finally {
      slow.end();
    }
  });

  test('a request in work is not dropped for them', async () => {
    const { hostname, port } = new URL(explorer.url);
    const body = JSON.stringify({ text: 'a b c' });
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const asked = Array.from({ length: 20 }, async () => {
      const sent = http.request({
        hostname,
        port,
        path: '/api/encode',
        method: 'POST',
        headers,
        agent: false,
      });
      sent.end(body);
      return new Promise<number>((resolve, reject) => {
        sent.on('error', reject);
        sent.on('response', (response) => resolve(response.resume().statusCode!));
      });
    });
    const slow = await SlowClients.connect(explorer.url, SLOW, 'send nothing');
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
    slow.end();
  });
});

describe('where a token is asked for', () => {
  const port = () => new URL(guarded.url).port;

  test('clients without it take no place of those with it', async () => {
    const url = `http://127.0.0.1:${port()}/`;
    for (const kind of ['send nothing', 'stop within the body', 'ask once and stay']) {
      const slow = await SlowClients.connect(url, SLOW, kind, true);
      try {
        expect([kind, ...(await honest(url, authorization))]).toEqual([kind, ...answered]);
        expect(slow.connected).toBeGreaterThan(100);
      } finally {
        slow.end();
      }
    }
  });

  test.skipIf(outerAddress() === undefined)('one address holds a quarter of the places', async () => {
    const outside = `http://${outerAddress()}:${port()}/`;
    const slow = await SlowClients.connect(outside, SLOW, 'stop within the headers');
    try {
      await expect.poll(() => slow.connected, { timeout: 20_000 }).toBe(LIMITS.connections / 4);
      expect(await honest(outside, authorization)).toEqual(answered);
      expect(await honest(`http://127.0.0.1:${port()}/`, authorization)).toEqual(answered);
    } finally {
      slow.end();
    }
  });
});

describe('bodies', () => {
  test('without a length are read, in pieces of any size, up to the limit', async () => {
    const { hostname, port } = new URL(explorer.url);
    const post = (parts: readonly (string | Buffer)[]) =>
      new Promise<[number, string]>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
        const sent = http.request({
          hostname,
          port,
          path: '/api/encode',
          method: 'POST',
          headers,
          agent: false,
        });
        sent.on('error', reject);
        sent.on('response', (response) => {
          let text = '';
          response.on('data', (part) => {
            text += part;
          });
          response.on('end', () => resolve([response.statusCode!, text]));
        });
        for (const part of parts) sent.write(part);
        sent.end();
      });
    const whole = await request(explorer.url, '/api/encode', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"été"}',
    });
    const bytes = [...Buffer.from('{"text":"été"}')].map((byte) => Buffer.from([byte]));
    expect(await post(bytes)).toEqual([200, whole.text]);
    expect((await post([]))[0]).toBe(400);
    expect((await post(['{"text":"', 'x'.repeat(999_000), '"}']))[0]).toBe(400);
    expect((await post(['{"text":"', 'x'.repeat(1_000_000), '"}']))[0]).toBe(413);
  });
});
