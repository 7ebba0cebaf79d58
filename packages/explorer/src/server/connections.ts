import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { isLoopback } from './guard.ts';

/** Part of all places that one address may hold. Programs of this machine share an address, and may hold all. */
const SHARE = 1 / 4;

interface Connection {
  readonly client: string;
  /** Whether a request of it passed the guard. */
  admitted: boolean;
  /** When it last got a stage further: opened, asked, answered. Single bytes do not count. */
  stage: number;
  request?: IncomingMessage | undefined;
  response?: ServerResponse | undefined;
}

/**
 * The connections of a server, of which there is a bounded number. A further one takes the place of the one that waits
 * longest for its client, so that clients which are slow or idle keep nobody out. Where a token is asked for, connections
 * that have not shown it have places of their own.
 */
export class Connections {
  readonly #places: number;
  readonly #apart: boolean;
  readonly #open = new Map<Socket, Connection>();
  #stages = 0;

  /** `apart`: connections count against the places only once they are admitted. */
  constructor(places: number, apart: boolean) {
    this.#places = places;
    this.#apart = apart;
  }

  /** A client has connected; it is disconnected at once where nobody can make room for it. */
  open(socket: Socket): void {
    const connection = { client: clientOf(socket), admitted: false, stage: this.#stages++ };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#open.delete(socket));
    if (!this.#makeRoom(connection)) this.#drop(socket);
  }

  /** A request's headers have come; until its answer is sent it is in work. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket);
    if (!connection) return;
    Object.assign(connection, { request, response, stage: this.#stages++ });
    response.once('close', () => {
      if (connection.response !== response) return;
      Object.assign(connection, { request: undefined, response: undefined, stage: this.#stages++ });
    });
  }

  /** The guard let a request pass; false where all places are taken by requests in work. */
  admit({ socket }: IncomingMessage): boolean {
    const connection = this.#open.get(socket);
    if (!connection || connection.admitted) return true;
    connection.admitted = true;
    if (!this.#apart || this.#makeRoom(connection)) return true;
    connection.admitted = false;
    return false;
  }

  #makeRoom(own: Connection): boolean {
    const rivals = [...this.#open].filter(([, other]) => !this.#apart || other.admitted === own.admitted);
    const alike = rivals.filter(([, other]) => other.client === own.client);
    const share = isLoopback(own.client) ? this.#places : Math.ceil(this.#places * SHARE);
    const crowd = alike.length > share ? alike : rivals.length > this.#places ? rivals : [];
    if (crowd.length === 0) return true;
    const [oldest] = crowd
      .filter(([, other]) => other !== own && waits(other))
      .sort(([, a], [, b]) => a.stage - b.stage);
    if (oldest) this.#drop(oldest[0]);
    return oldest !== undefined;
  }

  #drop(socket: Socket): void {
    this.#open.delete(socket);
    socket.destroy();
  }
}

/** Whether a connection waits for its client, to send a whole request or to take its answer; otherwise it is in work. */
const waits = ({ request, response }: Connection): boolean =>
  !request?.complete || response?.headersSent === true;

/** The address of a client; of IPv6 the network, whose addresses all are one client's to choose. */
function clientOf({ remoteAddress = '' }: Socket): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(address) || isLoopback(address)) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').filter(Boolean).length;
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail?.split(':') ?? [])];
  return all.slice(0, 4).join(':');
}
