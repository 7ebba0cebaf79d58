// Clients that hold connections without using them; shared by tests and fault injection.
import net from 'node:net';
import os from 'node:os';

/** Those of this kind do not notice that they are dropped. */
export const UNREAD = 'take no answer';

/** What each kind sends once it is connected; nothing of it is a whole request whose answer is taken. */
export const slowKinds: Readonly<Record<string, (host: string) => string>> = {
  'send nothing': () => '',
  'stop within the headers': (host) => `GET /api/run HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `,
  'stop within the body': (host) =>
    `POST /api/encode HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"te`,
  'stop within a chunk': (host) =>
    `POST /api/encode HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"te`,
  'ask once and stay': (host) => `GET /api/openapi.json HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  [UNREAD]: (host) => `GET /app.js HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(8),
};

export class SlowClients {
  readonly #sockets = new Set<net.Socket>();
  readonly #connect: () => void;
  #ended = false;

  private constructor(url: string, kind: string, again: boolean) {
    const { hostname, port, host } = new URL(url);
    const text = slowKinds[kind]!(host);
    this.#connect = () => {
      const socket = net.connect(Number(port), hostname, () => socket.write(text));
      this.#sockets.add(socket);
      if (kind !== UNREAD) socket.resume();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        if (again && !this.#ended) setTimeout(this.#connect, 20).unref();
      });
    };
  }

  /** So many clients of a kind, once each had the time to connect; with `again` each comes back when it is dropped. */
  static async connect(url: string, count: number, kind: string, again = false): Promise<SlowClients> {
    const clients = new SlowClients(url, kind, again);
    for (let n = 0; n < count; n++) clients.#connect();
    await new Promise((resolve) => setTimeout(resolve, 300));
    return clients;
  }

  /** Those that the server has not dropped. */
  get connected(): number {
    return this.#sockets.size;
  }

  end(): void {
    this.#ended = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** An address of this machine that is not loopback, where it has one. */
export const outerAddress = (): string | undefined =>
  Object.values(os.networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
