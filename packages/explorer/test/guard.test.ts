import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { raw, request } from './requests.ts';
import { makeSmallRun, type SmallRun } from './small-run.ts';
import { foreignHosts, foreignOrigins, paths, routes } from './vectors.ts';

let small: SmallRun;
let explorer: Explorer;
let url: string;
let host: string;

beforeAll(async () => {
  small = await makeSmallRun();
  fs.writeFileSync(`${small.folder}/secret.txt`, 'root:x:0:0 secret');
  explorer = await startExplorer({ run: small.run });
  url = explorer.url;
  host = new URL(url).host;
}, 120_000);
afterAll(async () => {
  await explorer?.close();
  if (small) fs.rmSync(small.folder, { recursive: true, force: true });
});

describe('paths', () => {
  test('no way of writing one escapes, and none passes around the guard', async () => {
    expect(paths.length).toBeGreaterThanOrEqual(50);
    for (const path of paths) {
      const reply = await request(url, path);
      expect([path, reply.status]).toEqual([path, 404]);
      expect(reply.text).toBe('{"error":{"code":"not_found","message":"there is nothing at this address"}}');
      const foreign = await request(url, path, { headers: { host: 'evil.com' } });
      expect([path, foreign.status]).toEqual([path, 403]);
    }
  });

  test('an absolute address in the request line is no path of ours', async () => {
    const { text } = await raw(
      url,
      `GET http://${host}/api/run HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('only built files are served, with their types', async () => {
    const page = await request(url, '/');
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<div id="app">');
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|style=|https?:\/\//);
    const script = await request(url, '/app.js');
    expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    const again = await request(url, '/app.js', { headers: { 'if-none-match': script.headers.etag } });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});

describe('who asks', () => {
  const port = () => host.split(':')[1]!;
  test.each(routes)('%s: a Host that is not ours is refused', async (path) => {
    for (const given of foreignHosts(port())) {
      const reply = await request(url, path, { headers: { host: given } });
      expect([given, reply.status]).toEqual([given, 403]);
    }
    const none = await raw(url, `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    const two = await raw(
      url,
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHost: evil.com\r\nConnection: close\r\n\r\n`,
    );
    const empty = await raw(url, `GET ${path} HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n`);
    for (const { text } of [none, two, empty]) expect(text).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(none.text).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('our own names are answered', async () => {
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      const reply = await request(url, '/api/run', { headers: { host: `${name}:${port()}` } });
      expect([name, reply.status]).toEqual([name, 200]);
    }
  });

  test.each(routes)('%s: other origins are refused, and nothing is shared with them', async (path) => {
    for (const origin of foreignOrigins(host)) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
        const headers = { host, origin, 'content-type': 'application/json', 'content-length': 0 };
        const reply = await request(url, path, { method, headers });
        expect([origin, method, reply.status]).toEqual([origin, method, 403]);
        expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    }
  });

  test('what a browser says of its pages counts', async () => {
    const ask = async (path: string, site: string, mode: string, dest: string) =>
      (
        await request(url, path, {
          headers: { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
        })
      ).status;
    expect(await ask('/api/run', 'same-origin', 'cors', 'empty')).toBe(200);
    expect(await ask('/', 'cross-site', 'navigate', 'document')).toBe(200);
    for (const site of ['cross-site', 'same-site']) {
      expect(await ask('/api/run', site, 'no-cors', 'script')).toBe(403);
      expect(await ask('/app.js', site, 'no-cors', 'script')).toBe(403);
      expect(await ask('/', site, 'navigate', 'iframe')).toBe(403);
      expect(await ask('/api/run', site, 'navigate', 'document')).toBe(403);
    }
  });

  test('every answer carries the policy', async () => {
    const refused = { headers: { host: 'evil.com' } };
    for (const reply of [
      await request(url, '/'),
      await request(url, '/api/run'),
      await request(url, '/', refused),
    ]) {
      const policy = String(reply.headers['content-security-policy']);
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
      ])
        expect(policy).toContain(part);
      expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
      expect(reply.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    }
  });

  test('WebSocket and tunnels are refused', async () => {
    const upgrade = `GET /api/run HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    expect((await raw(url, upgrade)).text).toMatch(/^HTTP\/1\.1 403 /);
    expect((await raw(url, `CONNECT evil.com:80 HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).text).toMatch(
      /^HTTP\/1\.1 403 /,
    );
  });
});
