import { reasonOf } from '@hidden-schema/base';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { setCookie } from 'hono/cookie';
import { etag } from 'hono/etag';
import type { z } from 'zod';
import { type Answer, type Endpoint, type EndpointName, endpoints, type Input } from '../shared/api.ts';
import { openApi } from '../shared/openapi.ts';
import type { AnalysisEndpoint } from './analyses.ts';
import type { Asset } from './assets.ts';
import { Fault, faultBody, notFound } from './fault.ts';
import { cookieName, tooLarge } from './guard.ts';
import type { Runs } from './runs.ts';
import type { FactEndpoint, ModelEndpoint } from './tasks.ts';

/** What answers each endpoint, whoever asks: a page over HTTP, or an agent. */
export type Handlers = {
  [N in EndpointName]: (input: Input<N>, signal: AbortSignal) => Answer<N> | Promise<Answer<N>>;
};

export interface AppParts {
  runs: Runs;
  analyses: readonly AnalysisEndpoint[];
  assets: ReadonlyMap<string, Asset>;
  version: string;
  /** Bytes of a body. */
  body: number;
  token: string | undefined;
}

/** Bytes of an analysis' options: room for a text of some pages. */
const MOST_OPTIONS = 60_000;

export type App = Hono<{ Bindings: HttpBindings }>;

/** Routes only: who may ask has been decided before. */
export function createApp({ runs, analyses, assets, version, body, token }: AppParts): App {
  const app: App = new Hono();
  const handlers = handlersOf(runs);
  for (const name of Object.keys(endpoints) as EndpointName[]) {
    const endpoint: Endpoint = endpoints[name];
    // The input was checked by this endpoint's own schemas.
    const handle = handlers[name] as (input: unknown, signal: AbortSignal) => unknown;
    app[endpoint.method](endpoint.path, async (context) => {
      const input = await readInput(endpoint, context, body);
      return context.json(await handle(input, context.req.raw.signal));
    });
  }
  for (const endpoint of analyses)
    app.post(endpoint.path, async (context) => {
      const { run } = check(endpoint.query, context.req.query(), 'the query') as { run?: string };
      const options = check(endpoint.body, await readJson(context, Math.min(body, MOST_OPTIONS)), 'the body');
      const task = { run, analysis: endpoint.analysis, options: { ...options } };
      return context.json(await runs.ask('analysis', task, context.req.raw.signal));
    });
  const document = openApi(version, analyses);
  app.get('/api/openapi.json', (context) => context.json(document));
  if (token !== undefined) app.get('/', keepToken(token));
  app.get('*', etag(), (context) => asset(context, assets.get(context.req.path)));
  app.notFound(() => {
    throw notFound();
  });
  app.onError((error) => answer(error));
  return app;
}

export function handlersOf(runs: Runs): Handlers {
  const facts: Pick<Handlers, FactEndpoint> = {
    runs: () => runs.list(),
    run: ({ run }) => runs.facts(run).run(),
    metrics: (input) => runs.facts(input.run).metrics(input),
    curves: (input) => runs.facts(input.run).curves(input),
    evaluation: ({ run }) => runs.facts(run).evaluation(),
  };
  const asked = (Object.keys(endpoints) as ModelEndpoint[])
    .filter((name) => !(name in facts))
    .map((name) => [
      name,
      (input: Input<ModelEndpoint>, signal: AbortSignal) => runs.ask(name, input, signal),
    ]);
  // Whatever is no fact is asked of the model, under the same name.
  return { ...facts, ...(Object.fromEntries(asked) as Omit<Handlers, FactEndpoint>) };
}

function answer(error: Error): Response {
  const fault =
    error instanceof Fault
      ? error
      : new Fault(error.name === 'UserError' ? 409 : 500, 'run', reasonOf(error));
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (fault.status === 429 || fault.code === 'busy') headers['retry-after'] = '1';
  return new Response(faultBody(fault), { status: fault.status, headers });
}

/** Moves the token from the address into a cookie, so that it is neither seen nor stored in the history. */
const keepToken =
  (token: string) => async (context: Context<{ Bindings: HttpBindings }>, next: () => Promise<void>) => {
    if (context.req.query('token') !== token) return next();
    const name = cookieName(context.env.incoming.socket.localPort ?? 0);
    setCookie(context, name, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
    return context.redirect('/', 303);
  };

function asset(context: Context, found: Asset | undefined): Response {
  if (!found) throw notFound();
  const headers = { 'cache-control': 'no-cache', 'content-type': found.type };
  return context.body(new Uint8Array(found.body), 200, headers);
}

async function readInput(endpoint: Endpoint, context: Context, limit: number): Promise<unknown> {
  const parts = [
    check(endpoint.params, context.req.param(), 'the address'),
    check(endpoint.query, context.req.query(), 'the query'),
    endpoint.body ? check(endpoint.body, await readJson(context, limit), 'the body') : {},
  ];
  return Object.assign({}, ...parts);
}

async function readJson(context: Context, limit: number): Promise<unknown> {
  const text = await readBody(context.req.raw.body, limit);
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault(400, 'bad_request', 'the body is not JSON');
  }
}

/** A body as text, announced by its length or chunked: what is beyond the limit is not taken in. */
async function readBody(body: ReadableStream<Uint8Array> | null, limit: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Not cancelled where it is too long: that would end the connection before the answer.
  const reader = body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    bytes += part.value.length;
    if (bytes > limit) throw tooLarge(limit);
    parts.push(part.value);
  }
  return Buffer.concat(parts).toString();
}

/** What a schema makes of a value; all that is wrong goes into one message. */
export function check(schema: z.ZodObject | undefined, value: unknown, what: string): object {
  if (!schema) return {};
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.') || what}: ${message}`);
  throw new Fault(400, 'bad_request', `${what} is not as expected: ${faults.slice(0, 5).join('; ')}`);
}
