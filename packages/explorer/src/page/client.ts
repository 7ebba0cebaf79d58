import type { Answer, Asked, EndpointName } from '../shared/api.ts';
import { routes } from '../shared/routes.ts';

/** A fault that the server explained, or the lack of any answer. */
export class ClientFault extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ClientFault('offline', 'The explorer’s server does not answer. Is “hsn serve” still running?');
  }
  const value = (await response.json().catch(() => null)) as {
    error?: { code: string; message: string };
  } | null;
  if (response.ok && value) return value as T;
  throw new ClientFault(
    value?.error?.code ?? 'unknown',
    value?.error?.message ?? `The server answered ${response.status}.`,
  );
}

type Values = Readonly<Record<string, unknown>>;

/** An address with what belongs into its path and query; what is empty is left out. */
function address(path: string, values: Values): { to: string; rest: Values } {
  const rest = { ...values };
  const to = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return value;
  });
  return { to, rest };
}

function withQuery(path: string, values: Values): string {
  const stated = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(stated.map(([name, value]) => [name, String(value)])).toString();
  return query === '' ? path : `${path}?${query}`;
}

function send(name: EndpointName, run: string, values: Values, signal?: AbortSignal): Promise<unknown> {
  const [method, path] = routes[name];
  const { to, rest } = address(path, values);
  const init = signal ? { signal } : {};
  if (method === 'get') return ask(withQuery(to, { run, ...rest }), init);
  const headers = { 'content-type': 'application/json' };
  return ask(withQuery(to, { run }), { ...init, method: 'POST', headers, body: JSON.stringify(rest) });
}

/** The questions to one run. */
export type Client = {
  [N in EndpointName]: (input: Omit<Asked<N>, 'run'>, signal?: AbortSignal) => Promise<Answer<N>>;
};

/** The questions to one run; an empty id is the first. */
export const clientOf = (run: string): Client =>
  // Every answer is what its endpoint declares.
  Object.fromEntries(
    (Object.keys(routes) as EndpointName[]).map((name) => [
      name,
      (input: Values, signal?: AbortSignal) => send(name, run, input, signal),
    ]),
  ) as unknown as Client;

export type Run = Answer<'run'>;
export type RunSummary = Answer<'runs'>['runs'][number];
export type Graph = Answer<'graph'>;
export type SymbolFacts = Answer<'symbol'>;
export type Encoded = Answer<'reading'>;
export type Labels = Answer<'labels'>;
export type MapAnswer = Answer<'map'>;
export type MapText = Answer<'texts'>['texts'][number];
export type Level = Answer<'levels'>['levels'][number];
export type Edit = Answer<'merge'>;
export type Comparison = Answer<'compare'>;
export type TimeAnswer = Answer<'time'>;

/** What is known of an open run that can do something; null where it cannot, or is not open yet. */
export const openedWith = (run: Run | null, feature: string): Run['opened'] =>
  run?.opened?.features.includes(feature) ? run.opened : null;
