import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Explorer, type ExplorerOptions, startExplorer } from '@hidden-schema/explorer';
import { chromium } from 'playwright-core';
import { Inference } from '../packages/explorer/src/server/inference.ts';
import { findChromium } from '../packages/explorer/test/chromium.ts';
import { tokensAfterLeaving } from '../packages/explorer/test/leaving.ts';
import { identityOf, json, raw, request, whenOpened } from '../packages/explorer/test/requests.ts';
import {
  labelNames,
  makeSmallLanguage,
  type SmallLanguage,
} from '../packages/explorer/test/small-language.ts';
import { markup } from '../packages/explorer/test/small-run.ts';
import { foreignHosts, foreignOrigins, paths, routes, spellings } from '../packages/explorer/test/vectors.ts';
import { type Fault, refusal, type Tally } from './tally.ts';

let made: Promise<SmallLanguage> | undefined;

/** One small run for all rows, trained when the first needs it. */
function smallRun(): Promise<SmallLanguage> {
  made ??= makeSmallLanguage().then((small) => {
    process.once('exit', () => small.remove());
    return small;
  });
  return made;
}

/** Serves the small run, with its model open, for as long as `body` takes. */
async function served(
  body: (url: string, small: SmallLanguage) => Promise<void>,
  options: Partial<ExplorerOptions> = {},
): Promise<void> {
  const small = await smallRun();
  const explorer: Explorer = await startExplorer({ run: small.run, ...options });
  try {
    await whenOpened(explorer.url);
    await body(explorer.url, small);
  } finally {
    await explorer.close();
  }
}

/** Row 13 */
const escapes = (tally: Tally) =>
  served(async (url, small) => {
    fs.writeFileSync(`${small.folder}/secret.txt`, 'root:x:0:0 secret');
    const ids = ['../first', '/etc', 'first/../second', '%2e%2e', '__proto__', 'constructor'];
    const queries = ids.map((id) => `/api/run?run=${encodeURIComponent(id)}`);
    for (const path of [...paths, ...queries])
      await tally.expect(path, async () => {
        const { status, text } = await request(url, path);
        assert.equal(status, 404);
        assert.doesNotMatch(text, /root:|secret|"id"/);
      });
  });

/** Row 14 */
const hosts = (tally: Tally) =>
  served(async (url) => {
    const { port } = new URL(url);
    for (const route of routes) {
      for (const host of foreignHosts(port))
        await tally.expect(`${route} with Host ${host}`, async () => {
          assert.equal((await request(url, route, { headers: { host } })).status, 403);
        });
      await tally.expect(`${route} without Host`, async () => {
        const { text } = await raw(url, `GET ${route} HTTP/1.1\r\nConnection: close\r\n\r\n`);
        assert.match(text, /^HTTP\/1\.1 403 /);
      });
    }
  });

/** Row 15 */
const origins = (tally: Tally) =>
  served(async (url) => {
    const { host } = new URL(url);
    for (const route of routes)
      for (const origin of foreignOrigins(host))
        for (const method of ['GET', 'POST'])
          await tally.expect(`${method} ${route} from ${origin}`, async () => {
            const headers = { host, origin, 'content-type': 'application/json', 'content-length': 0 };
            const reply = await request(url, route, { method, headers });
            assert.equal(reply.status, 403);
            assert.deepEqual(
              Object.keys(reply.headers).filter((name) => name.startsWith('access-control')),
              [],
            );
          });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      await tally.expect(`a simple POST of ${type}`, async () => {
        const asked = { ...json({ name: 'x' }), headers: { 'content-type': type } };
        assert.equal((await request(url, '/api/symbol/1/name', asked)).status, 415);
      });
    await tally.expect('a WebSocket', async () => {
      const upgrade = `GET /api/run HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
      assert.match((await raw(url, upgrade)).text, /^HTTP\/1\.1 403 /);
    });
  });

/** Row 16 */
const spelled = (tally: Tally) =>
  served(async (url) => {
    for (const path of spellings) {
      await tally.expect(path, async () => assert.equal((await request(url, path)).status, 404));
      await tally.expect(`${path} with a foreign Host`, async () => {
        assert.equal((await request(url, path, { headers: { host: 'evil.com' } })).status, 403);
      });
    }
  });

/** Row 17 */
async function otherAddresses(tally: Tally): Promise<void> {
  const { run } = await smallRun();
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '10.0.0.1', 'example.com'])
    await tally.expect(`listening on ${host} without a token`, async () => {
      assert.match(await refusal(() => startExplorer({ run, host })), /add --token/);
    });
}

/** Row 18 */
async function overload(tally: Tally): Promise<void> {
  const limits = { headers: 1500, request: 2000 };
  await served(
    async (url) => {
      const before = process.memoryUsage().rss;
      await tally.expect('a body of 1 GB, announced', () =>
        bodyRefused(url, 'Content-Length: 1000000000', 20),
      );
      await tally.expect('a body without end', () => bodyRefused(url, 'Transfer-Encoding: chunked', 4000));
      await tally.expect('100k tokens', async () => {
        assert.equal(
          (await request(url, '/api/encode', json({ text: 'word '.repeat(100_000) }))).status,
          400,
        );
      });
      await tally.expect('a slow client', async () => {
        const { host } = new URL(url);
        const cut = await raw(url, `GET /api/run HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `);
        assert.ok(cut.milliseconds < limits.headers + 3000, `${cut.milliseconds} ms`);
      });
      await tally.expect('1000 connections', () => crowd(url, 1000));
      await tally.expect('more requests than may wait', async () => {
        const ask = () => request(url, '/api/encode', json({ text: 'the cat is good' }));
        const replies = await Promise.all(Array.from({ length: 120 }, ask));
        assert.deepEqual([...new Set(replies.map(({ status }) => status))].sort(), [200, 429]);
      });
      const grown = (process.memoryUsage().rss - before) / 1e6;
      tally.notes.push(`memory grew by ${Math.round(grown)} MB`);
      await tally.expect('memory grows less than 100 MB', () => assert.ok(grown < 100, `${grown} MB`));
    },
    { limits },
  );
}

/** Sends parts of a body until the server has answered. */
async function bodyRefused(url: string, header: string, parts: number): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  let got = '';
  socket.on('data', (part) => {
    got += part.toString();
  });
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(
    `POST /api/encode HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${header}\r\n\r\n`,
  );
  const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
  for (let sent = 0; sent < parts && !socket.destroyed; sent++)
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
  await closed;
  assert.match(got, /^HTTP\/1\.1 413 /);
}

/** Many connections at once; the server goes on, and answers when they are gone. */
async function crowd(url: string, count: number): Promise<void> {
  const { hostname, port } = new URL(url);
  let closed = 0;
  const sockets = Array.from({ length: count }, () => {
    const socket = net.connect(Number(port), hostname);
    // One that does not read what it is told last does not notice its end.
    socket.resume();
    socket.on('error', () => undefined);
    socket.on('close', () => closed++);
    return socket;
  });
  const deadline = Date.now() + 30_000;
  while (closed < count - 128 && Date.now() < deadline) await sleep(100);
  assert.ok(closed >= count - 128, `${closed} of ${count} were closed`);
  for (const socket of sockets) socket.destroy();
  await sleep(200);
  assert.equal((await request(url, '/api/run')).status, 200);
}

/** Row 19 */
async function injected(tally: Tally): Promise<void> {
  const executablePath = findChromium();
  if (!executablePath) {
    tally.notes.push('no Chromium was found (apt-get install chromium), so no page was opened');
    return;
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    await served(async (url) => {
      for (const [symbol, name] of markup.entries())
        await request(url, `/api/symbol/${symbol}/name`, json({ name, identity: await identityOf(url) }));
      const said = encodeURIComponent(`the cat is ${markup.join(' ')}`);
      const maps = labelNames.map((name) => encodeURIComponent(encodeURIComponent(name))).join('/');
      const views = [
        ...markup.map((_, symbol) => `symbol=${symbol}`),
        `panel=sentence&text=${said}`,
        'panel=compose&walk=0-1-2',
        `panel=interpolate&from=${said}&to=a+dog`,
        `panel=labels&maps=${maps}`,
        `colour=label`,
        'panel=training',
        `panel=${said}&run=first`,
      ];
      for (const view of views)
        await tally.expect(view, async () => {
          const page = await browser.newPage();
          const dialogs: string[] = [];
          page.on('dialog', (dialog) => dialogs.push(dialog.message()));
          await page.goto(`${url}#${view}`);
          await page.waitForSelector('.canvas[data-kind]');
          await page.waitForTimeout(600);
          const harmed = await page.evaluate('globalThis.harmed ?? null');
          await page.close();
          assert.deepEqual([harmed, dialogs], [null, []]);
        });
    });
  } finally {
    await browser.close();
  }
}

/** Row 20 */
async function leaving(tally: Tally): Promise<void> {
  const { run } = await smallRun();
  const inference = new Inference(run, { queue: 4, silence: 600_000 });
  // The worker alone does not keep a process going; a server does, which is not here.
  const going = setInterval(() => undefined, 1000);
  try {
    await inference.ask('opened', undefined);
    for (let round = 0; round < tally.count(25); round++)
      await tally.expect(`leaving after token ${round + 1}`, async () => {
        const after = await tokensAfterLeaving(inference, round + 1, round);
        assert.ok(after <= 1, `${after} tokens were written after the client had left`);
      });
  } finally {
    clearInterval(going);
    await inference.close();
  }
}

export const faults: readonly Fault[] = [
  { row: 13, fault: 'paths and run names that lead out', inject: escapes },
  { row: 14, fault: 'a Host that is not ours', inject: hosts },
  { row: 15, fault: 'foreign origins, simple POST, WebSocket', inject: origins },
  { row: 16, fault: 'other spellings of an address', inject: spelled },
  { row: 17, fault: 'listening beyond this machine without a token', inject: otherAddresses },
  { row: 18, fault: 'huge bodies, slow clients, many connections', inject: overload },
  { row: 19, fault: 'markup in sentences, labels, names and addresses', inject: injected },
  { row: 20, fault: 'a client leaves during generation', inject: leaving },
];
