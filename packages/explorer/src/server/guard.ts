import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import os from 'node:os';
import { parse } from 'hono/utils/cookie';
import { Fault, notFound } from './fault.ts';

export interface GuardOptions {
  /** The address that is listened on. */
  host: string;
  port: number;
  token: string | undefined;
  /** Bytes of a body. */
  body: number;
}

const loopbackNames = ['127.0.0.1', 'localhost', '::1'];
export const isLoopback = (host: string): boolean =>
  loopbackNames.includes(host.toLowerCase()) || /^127(\.\d{1,3}){3}$/.test(host);

/** Every path of this server is plain: nothing encoded, no dot segment, no empty one, no capital. */
const plainPath = /^\/(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?:\/[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)*)?$/;

/**
 * Judges a request by its raw line and headers, before any routing; throws a `Fault` to refuse it. Hono has no check of
 * the Host (DNS rebinding), its CSRF check lets reading pass, and its bearer check knows no cookie.
 */
export class Guard {
  readonly #options: GuardOptions;
  readonly #hosts: ReadonlySet<string>;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#hosts = allowedHosts(options);
  }

  check(request: IncomingMessage): void {
    this.checkSource(request);
    const path = (request.url ?? '').split('?', 1)[0]!;
    if (!plainPath.test(path)) throw notFound();
    const method = request.method ?? '';
    if (!['GET', 'HEAD', 'POST'].includes(method))
      throw new Fault(405, 'method', `expected GET or POST, got ${method}`);
    if (method === 'POST') this.#checkBody(request.headers);
    else if (hasBody(request.headers))
      throw new Fault(400, 'bad_request', `${method} takes no body; send JSON with POST`);
  }

  /** Who may ask at all: our own page, or a program on this machine (or with the token). */
  checkSource(request: IncomingMessage): void {
    const host = this.#checkHost(request);
    const { headers } = request;
    if (headers.origin !== undefined && headers.origin !== `http://${host}`)
      throw forbidden('requests of other pages are refused');
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && !opensPage(request))
      throw forbidden('requests of other pages are refused');
    if (this.#options.token !== undefined) this.#checkToken(request, this.#options.token);
  }

  #checkHost(request: IncomingMessage): string {
    const named = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
    const host = request.headers.host?.toLowerCase() ?? '';
    if (named.length !== 1 || !this.#hosts.has(host))
      throw forbidden(`this server answers for ${[...this.#hosts][0]} only`);
    return host;
  }

  #checkToken(request: IncomingMessage, token: string): void {
    const { headers } = request;
    const name = cookieName(this.#options.port);
    const sent = [bearer(headers), parse(headers.cookie ?? '', name)[name]];
    if (opensPage(request)) sent.push(tokenInAddress(request.url ?? ''));
    if (!sent.some((text) => text !== undefined && same(text, token)))
      throw new Fault(401, 'token', 'open the address with its ?token=…, or send Authorization: Bearer …');
  }

  #checkBody(headers: IncomingHttpHeaders): void {
    if (!/^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(headers['content-type'] ?? ''))
      throw new Fault(415, 'content_type', 'expected a body of content-type application/json');
    if (headers['content-encoding'] !== undefined)
      throw new Fault(415, 'content_type', 'expected a body without content-encoding');
    if (Number(headers['content-length'] ?? 0) > this.#options.body) throw tooLarge(this.#options.body);
  }
}

export const tooLarge = (limit: number): Fault =>
  new Fault(413, 'too_large', `the body is larger than ${limit} bytes`);

const forbidden = (message: string) => new Fault(403, 'forbidden', message);

export const cookieName = (port: number): string => `hsn-explorer-${port}`;

const tokenInAddress = (url: string): string | undefined =>
  new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('token') ?? undefined;

/** The first visit to the page itself, which a link elsewhere may also lead to. */
function opensPage({ method, url = '', headers }: IncomingMessage): boolean {
  const visits = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  const plain = headers['sec-fetch-mode'] === undefined;
  return method === 'GET' && /^\/(\?|$)/.test(url) && (visits || plain);
}

const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;

const bearer = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];

/** Compared by hash, so that neither length nor content shows in the time taken. */
function same(a: string, b: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

/** Host headers that name this server: a page elsewhere that points its name here is not among them. */
function allowedHosts({ host, port }: GuardOptions): Set<string> {
  const names = isLoopback(host) ? [host, ...loopbackNames] : [host, ...machineNames(), ...loopbackNames];
  return new Set(
    names.flatMap((name) => {
      const shown = isIPv6(name) ? `[${name}]` : name.toLowerCase();
      return port === 80 ? [shown, `${shown}:80`] : [`${shown}:${port}`];
    }),
  );
}

function machineNames(): string[] {
  const addresses = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  return [os.hostname(), ...addresses.map(({ address }) => address)];
}
