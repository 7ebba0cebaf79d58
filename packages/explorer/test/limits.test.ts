import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { identityOf, json, raw, request, whenOpened } from './requests.ts';
import { makeSmallRun, type SmallRun } from './small-run.ts';
import { routes } from './vectors.ts';

let small: SmallRun;
let explorer: Explorer;
let url: string;
let host: string;
const limits = { headers: 700, request: 1200, idle: 3000, connections: 12, queue: 4 };

beforeAll(async () => {
  small = await makeSmallRun();
  explorer = await startExplorer({ run: small.run, limits });
  url = explorer.url;
  host = new URL(url).host;
  await whenOpened(url);
}, 120_000);
afterAll(async () => {
  await explorer?.close();
  if (small) fs.rmSync(small.folder, { recursive: true, force: true });
});

describe('what is sent', () => {
  test('methods and bodies', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])
      expect((await request(url, '/api/run', { method })).status).toBe(405);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
    ]) {
      const reply = await request(url, '/api/encode', {
        ...json({ text: 'x' }),
        headers: { 'content-type': type },
      });
      expect([type, reply.status]).toEqual([type, 415]);
    }
    expect((await request(url, '/api/encode', { method: 'POST', body: '{}' })).status).toBe(415);
    const faults: [string, string][] = [
      ['not json', 'the body is not JSON'],
      ['{}', 'text'],
      ['{"text":1}', 'text'],
      ['{"text":"x","more":1}', 'more'],
      ['[]', 'the body'],
      ['null', 'the body'],
    ];
    for (const [body, named] of faults) {
      const reply = await request(url, '/api/encode', { ...json({}), body });
      expect([body, reply.status]).toEqual([body, 400]);
      expect(reply.text).toContain(named);
    }
    for (const query of ['?limit=0', '?limit=201', '?limit=x', '?offset=-1', '?split=none', '?limits=3'])
      expect((await request(url, `/api/sentences${query}`)).status).toBe(400);
    for (const k of ['x', '-1', '1.5', '99999999', '12'])
      expect([k, [400, 404].includes((await request(url, `/api/symbol/${k}`)).status)]).toEqual([k, true]);
  });

  test('a body beyond the limit is refused, announced or not, and not taken in', async () => {
    const before = process.memoryUsage().rss;
    const announced = await raw(
      url,
      `POST /api/encode HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n{"text":"`,
    );
    expect(announced.text).toMatch(/^HTTP\/1\.1 413 /);
    const chunk = `${(65_536).toString(16)}\r\n${'a'.repeat(65_536)}\r\n`;
    const { hostname, port } = new URL(url);
    const answer = await new Promise<string>((resolve) => {
      const socket = net.connect(Number(port), hostname);
      let got = '';
      socket.on('data', (part) => {
        got += part.toString();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(got));
      socket.write(
        `POST /api/encode HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      let sent = 0;
      const more = () => {
        while (!socket.destroyed && sent++ < 4000)
          if (!socket.write(chunk)) return void socket.once('drain', more);
      };
      more();
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(100);
    expect((await request(url, '/api/encode', json({ text: 'x '.repeat(15_000) }))).status).toBe(400);
    expect((await request(url, '/api/run', { headers: { 'x-long': 'x'.repeat(20_000) } })).status).toBe(431);
  });
});

describe('how much is asked', () => {
  test('slow clients are cut off', async () => {
    const headers = await raw(url, `GET /api/run HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `);
    expect(headers.milliseconds).toBeLessThan(limits.headers + 2500);
    const body = await raw(
      url,
      `POST /api/encode HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"te`,
    );
    expect(body.milliseconds).toBeLessThan(limits.request + 2500);
    expect(body.text).not.toContain(' 200 ');
  });

  test('connections are capped, and the server goes on', async () => {
    const { hostname, port } = new URL(url);
    let closed = 0;
    const sockets = Array.from({ length: 40 }, () => {
      const socket = net.connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.on('close', () => closed++);
      return socket;
    });
    await sleep(300);
    expect(closed).toBeGreaterThanOrEqual(40 - limits.connections);
    for (const socket of sockets) socket.destroy();
    await sleep(100);
    expect((await request(url, '/api/run')).status).toBe(200);
  });

  test('a full queue answers 429, and what clients that left have asked is not done', async () => {
    const fresh = await startExplorer({ run: small.run, limits: { queue: 2 } });
    try {
      // The worker is still opening the model, so all of these wait.
      const left = new AbortController();
      const { method, body } = json({ name: 'of one who left', identity: await identityOf(fresh.url) });
      const headers = { 'content-type': 'application/json' };
      const rename = { method, body, headers, signal: left.signal } as RequestInit;
      const gone = fetch(`${fresh.url}api/symbol/2/name`, rename).catch((error: Error) => error.name);
      await sleep(100);
      left.abort();
      expect(await gone).toBe('AbortError');
      await sleep(100);
      const ask = () => request(fresh.url, '/api/encode', json({ text: 'x' }));
      const replies = await Promise.all(Array.from({ length: 8 }, ask));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
      const busy = replies.find(({ status }) => status === 429)!;
      expect(busy.headers['retry-after']).toBe('1');
      expect(busy.text).toBe(
        '{"error":{"code":"busy","message":"too many requests are waiting; try again in a moment"}}',
      );
      expect(JSON.parse((await request(fresh.url, '/api/symbol/2')).text)).toMatchObject({ name: null });
    } finally {
      await fresh.close();
    }
  });
});

describe('beyond this machine', () => {
  test('needs a token', async () => {
    for (const address of ['0.0.0.0', '::', '192.0.2.1', os.hostname()]) {
      await expect(startExplorer({ run: small.run, host: address })).rejects.toThrow(
        'others on the network could read and rename this run',
      );
    }
    await expect(startExplorer({ run: small.run, token: 'short' })).rejects.toThrow('a token has 16');
    await expect(startExplorer({ run: small.run, port: 70_000 })).rejects.toThrow('a port is');
    await expect(startExplorer({ run: small.run, port: Number(new URL(url).port) })).rejects.toThrow(
      'is taken',
    );
  });

  test('the token is asked for on every request, and moves into a cookie', async () => {
    const token = 'a-token-for-this-test';
    const guarded = await startExplorer({ run: small.run, host: '0.0.0.0', token });
    try {
      const base = `http://127.0.0.1:${new URL(guarded.url).port}`;
      expect(guarded.url).toMatch(/\?token=a-token-for-this-test$/);
      for (const path of routes) {
        expect([path, (await request(base, path)).status]).toEqual([path, 401]);
        const wrong = await request(base, path, { headers: { authorization: `Bearer ${token}x` } });
        expect([path, wrong.status]).toEqual([path, 401]);
      }
      expect((await request(base, `/api/run?token=${token}`)).status).toBe(401);
      expect((await request(base, '/?token=wrong-token-of-16')).status).toBe(401);
      const first = await request(base, `/?token=${token}`);
      expect([first.status, first.headers.location]).toEqual([303, '/']);
      const cookie = first.headers['set-cookie']![0]!;
      expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
      expect((await request(base, '/api/run', { headers: { cookie: cookie.split(';')[0] } })).status).toBe(
        200,
      );
      expect(
        (await request(base, '/api/run', { headers: { authorization: `Bearer ${token}` } })).status,
      ).toBe(200);
      const foreign = { authorization: `Bearer ${token}`, host: 'evil.com' };
      expect((await request(base, '/api/run', { headers: foreign })).status).toBe(403);
    } finally {
      await guarded.close();
    }
  });
});
