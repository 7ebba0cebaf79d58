import http from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

export interface Asked {
  method?: string;
  headers?: http.OutgoingHttpHeaders;
  body?: string | Buffer;
}

/** One request with exactly this path and these headers, on a connection of its own. */
export function request(
  url: string,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<Reply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = http.request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(parts).toString(),
        }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export const json = (value: unknown): Asked => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

/** Sends raw bytes and gives all that comes back until the server ends the connection. */
export function raw(url: string, text: string): Promise<{ text: string; milliseconds: number }> {
  const { hostname, port } = new URL(url);
  const began = performance.now();
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(text));
    let got = '';
    socket.on('data', (part) => {
      got += part.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve({ text: got, milliseconds: performance.now() - began }));
  });
}

/** The run's identity on disk now, which edits carry. */
export async function identityOf(url: string): Promise<string> {
  return (JSON.parse((await request(url, '/api/run')).text) as { identity: string }).identity;
}

/** Waits until the model is open, by short requests: a long one may meet the limits under test. */
export async function whenOpened(url: string): Promise<void> {
  const opened = async () => JSON.parse((await request(url, '/api/run')).text).opened !== null;
  while (!(await opened())) await sleep(200);
}
