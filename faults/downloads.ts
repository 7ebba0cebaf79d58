import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Random } from '@hidden-schema/base';
import { fetchFromHub } from '@hidden-schema/transformers/hub';
import { type Fault, refusal, type Tally } from './tally.ts';

/** Answers a request for the weights in its own way; false leaves it to the well-behaved hub. */
type Misbehaviour = (response: http.ServerResponse, body: Buffer, start: number) => boolean;

const weights = Buffer.alloc(200_000, 'weights ');
const files: Record<string, Buffer> = {
  'config.json': Buffer.from('{"model_type":"bert"}'),
  'tokenizer.json': Buffer.from('{}'),
  'model.safetensors': weights,
};

/** A hub on loopback. */
class Hub {
  misbehave: Misbehaviour = () => false;
  readonly #server = http.createServer((request, response) => this.#answer(request, response));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ url, method, headers }: http.IncomingMessage, response: http.ServerResponse): void {
    const name = url!.split('/').at(-1)!;
    const body = files[name];
    if (!body) {
      response.writeHead(404).end();
      return;
    }
    const start = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
    if (method === 'GET' && name === 'model.safetensors' && this.misbehave(response, body, start)) return;
    const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
    const part = body.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, { etag, 'content-length': part.length });
    response.end(method === 'HEAD' ? undefined : part);
  }
}

/** Misbehaves so many times, then no more. */
const times = (count: number, body: Misbehaviour): Misbehaviour => {
  let left = count;
  return (...given) => left-- > 0 && body(...given);
};

const cutAt =
  (bytes: number): Misbehaviour =>
  (response, body, start) => {
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': body.length - start });
    response.write(body.subarray(start, start + bytes), () => setTimeout(() => response.destroy(), 20));
    return true;
  };

const corrupt =
  (at: number): Misbehaviour =>
  (response, body, start) => {
    const changed = Buffer.from(body.subarray(start));
    changed[at % changed.length]! ^= 1;
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': changed.length }).end(changed);
    return true;
  };

const silent: Misbehaviour = (response, body, start) => {
  response.writeHead(start > 0 ? 206 : 200, { 'content-length': body.length - start });
  response.write(body.subarray(start, start + 5000));
  return true;
};

const slow: Misbehaviour = (response, body, start) => {
  response.writeHead(start > 0 ? 206 : 200, { 'content-length': body.length - start });
  let at = start;
  const timer = setInterval(() => {
    response.write(body.subarray(at, at + 50_000));
    at += 50_000;
    if (at < body.length) return;
    clearInterval(timer);
    response.end();
  }, 30);
  return true;
};

const failing =
  (status: number): Misbehaviour =>
  (response) => {
    response.writeHead(status).end();
    return true;
  };

/** Row 26: what is interrupted is continued or fetched again; what is wrong is never used. */
async function downloads(tally: Tally): Promise<void> {
  const hub = new Hub();
  const endpoint = await hub.start();
  let made = 0;
  const fetch = (cache = tally.path(`cache-${made++}`)) =>
    fetchFromHub('tiny/bert', { endpoint, cache, stallMs: 4000, attempts: 3 });
  const arrives = async (what: string, misbehave: Misbehaviour) => {
    hub.misbehave = misbehave;
    await tally.expect(what, async () => {
      const folder = await fetch();
      assert.deepEqual(fs.readFileSync(`${folder}/model.safetensors`), weights);
      assert.deepEqual(
        fs.readdirSync(folder).filter((name) => name.endsWith('.incomplete')),
        [],
      );
    });
  };
  try {
    const random = new Random(26);
    for (let i = 0; i < tally.count(30); i++) {
      const at = random.int(weights.length);
      await arrives(`cut after ${at} bytes`, times(1, cutAt(at)));
      await arrives(`one bit wrong at ${at}`, times(1, corrupt(at)));
    }
    await arrives('cut twice', times(2, cutAt(50_000)));
    await arrives('silent once', times(1, silent));
    await arrives('slow but steady', times(1, slow));
    for (const status of [429, 500, 503]) await arrives(`HTTP ${status} once`, times(1, failing(status)));
    await neverUsed(tally, hub, fetch);
  } finally {
    await hub.stop();
  }
}

async function neverUsed(tally: Tally, hub: Hub, fetch: (cache?: string) => Promise<string>): Promise<void> {
  const cases: Record<string, Misbehaviour> = {
    'wrong every time': corrupt(1000),
    'silent every time': silent,
    'HTTP 500 every time': failing(500),
    'HTTP 403': failing(403),
  };
  for (const [what, misbehave] of Object.entries(cases))
    await tally.expect(what, async () => {
      const cache = tally.path(`never-${what}`);
      hub.misbehave = misbehave;
      await refusal(() => fetch(cache));
      const left = fs.readdirSync(`${cache}/hub/tiny--bert/main`);
      assert.ok(!left.includes('model.safetensors') && !left.includes('complete.json'), left.join());
      hub.misbehave = () => false;
      assert.deepEqual(fs.readFileSync(`${await fetch(cache)}/model.safetensors`), weights);
    });
}

export const faults: readonly Fault[] = [
  { row: 26, fault: 'interrupted, wrong and slow downloads', inject: downloads },
];
