import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import type { App } from './app.ts';
import type { Connections } from './connections.ts';
import { busy, type Fault, faultBody } from './fault.ts';
import type { Guard } from './guard.ts';
import { SECURITY_HEADERS } from './headers.ts';
import type { Limits } from './limits.ts';

/** Milliseconds that a client whose body is not read further has to take its answer. */
const LINGER = 500;

export interface ListenerParts {
  app: App;
  /** Made once the port is known. */
  guard: () => Guard;
  connections: Connections;
  limits: Limits;
}

/**
 * An HTTP server with limits, on which every request passes the guard before anything else looks at it. Hono's own time
 * limit, CSRF check and headers come too late for that: it sees a request that is whole, of one Host, its path made plain.
 */
export function createServer({ app, guard, connections, limits }: ListenerParts): http.Server {
  const handle = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = http.createServer(
    {
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      connectionsCheckingInterval: Math.min(1000, limits.headers),
      keepAliveTimeout: 5000,
      maxHeaderSize: 16_384,
      // Our own refusal answers a request without Host.
      requireHostHeader: false,
    },
    (request, response) => {
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
      response.once('finish', () => endUnread(request));
      connections.begin(request, response);
      try {
        guard().check(request);
        if (!connections.admit(request)) throw busy('too many requests are in work');
      } catch (error) {
        return refuse(response, error as Fault);
      }
      void handle(request, response);
    },
  );
  server.on('connection', (socket: Socket) => connections.open(socket));
  server.setTimeout(limits.idle, (socket) => socket.destroy());
  server.on('upgrade', (_, socket) => refuseSocket(socket));
  server.on('connect', (_, socket) => refuseSocket(socket));
  return server;
}

function refuse(response: ServerResponse, fault: Fault): void {
  const status = fault.status ?? 500;
  if (status === 413 || status === 503) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': 'application/json' }).end(faultBody(fault));
}

/** No WebSocket and no tunnel is offered here, to anyone. */
function refuseSocket(socket: Duplex): void {
  socket.on('error', () => undefined);
  socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  setTimeout(() => socket.destroy(), LINGER).unref();
}

/** A body that was answered before it was whole is not waited for. */
function endUnread(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.socket.destroy(), LINGER).unref();
}
