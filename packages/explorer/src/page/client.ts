import type { Answer } from '../shared/api.ts';

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

const get = <T>(path: string, signal?: AbortSignal): Promise<T> => ask(path, signal ? { signal } : {});

const post = <T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> =>
  ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

export const client = {
  run: (signal?: AbortSignal) => get<Answer<'run'>>('/api/run', signal),
  graph: (signal?: AbortSignal) => get<Answer<'graph'>>('/api/graph', signal),
  symbol: (k: number, signal?: AbortSignal) => get<Answer<'symbol'>>(`/api/symbol/${k}`, signal),
  rename: (k: number, name: string) => post<Answer<'rename'>>(`/api/symbol/${k}/name`, { name }),
  encode: (text: string, signal?: AbortSignal) => post<Answer<'encode'>>('/api/encode', { text }, signal),
  evaluation: (signal?: AbortSignal) => get<Answer<'evaluation'>>('/api/evaluation', signal),
  metrics: (from: number, signal?: AbortSignal) =>
    get<Answer<'metrics'>>(`/api/metrics?from=${from}`, signal),
  sentences: (split: string, offset: number, limit: number, signal?: AbortSignal) =>
    get<Answer<'sentences'>>(`/api/sentences?split=${split}&offset=${offset}&limit=${limit}`, signal),
};

export type Run = Answer<'run'>;
export type Graph = Answer<'graph'>;
export type SymbolFacts = Answer<'symbol'>;
export type Encoded = Answer<'encode'>;
