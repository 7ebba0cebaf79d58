// A hub on loopback that logs its requests, and processes that ask it for a model.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export const weights = Buffer.alloc(400_000, 'some weights ');

/** Serves one model under every name; a hold leaves whoever downloads its weights in the middle of them. */
export class LocalHub {
  readonly files: Record<string, Buffer> = {
    'config.json': Buffer.from('{"model_type":"bert"}'),
    'tokenizer.json': Buffer.from('{}'),
    'model.safetensors': weights,
  };
  readonly requests: string[] = [];
  #held: Promise<void> = Promise.resolve();
  readonly #server = http.createServer((request, response) => {
    void this.#answer(request, response);
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Sends a quarter of the weights, and the rest once this is called. */
  hold(): () => void {
    let go = (): void => {};
    this.#held = new Promise((resolve) => {
      go = resolve;
    });
    return go;
  }

  /** Requests for the bytes of a file, with the ranges that they ask for. */
  downloads(file: string): string[] {
    return this.requests.filter((request) => request.startsWith(`GET ${file}`));
  }

  async #answer({ url, method, headers }: http.IncomingMessage, response: http.ServerResponse) {
    const name = url!.split('/').at(-1)!;
    this.requests.push(`${method} ${name}${headers.range ? ` ${headers.range}` : ''}`);
    const body = this.files[name];
    if (!body) {
      response.writeHead(404).end();
      return;
    }
    const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
    const start = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
    response.writeHead(start > 0 ? 206 : 200, { etag, 'content-length': body.length - start });
    if (method !== 'HEAD') {
      const first = Math.max(start, body.length / 4);
      response.write(body.subarray(start, first));
      if (name === 'model.safetensors') await this.#held;
      response.write(body.subarray(first));
    }
    response.end();
  }
}

/** A process that fetches `tiny/bert`; what it says ends with the folder, or with its error. */
export class Fetcher {
  said = '';
  readonly process: ChildProcess;
  readonly ended: Promise<[number | null, NodeJS.Signals | null]>;

  constructor(endpoint: string, cache: string) {
    const body = fileURLToPath(new URL('./hub-fetch.ts', import.meta.url));
    const command = ['--import', 'tsx', body, endpoint, cache];
    this.process = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.process.stdout!, this.process.stderr!])
      stream.on('data', (chunk) => {
        this.said += chunk;
      });
    this.ended = once(this.process, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  }

  /** Resolves once it has said something like this, or has ended. */
  async says(what: RegExp): Promise<void> {
    let over = false;
    void this.ended.then(() => {
      over = true;
    });
    while (!over && !what.test(this.said)) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
