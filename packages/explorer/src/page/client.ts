import type { Answer, Input } from '../shared/api.ts';

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

type Query = Record<string, string | number | undefined>;

function address(path: string, query: Query): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') asked.set(name, String(value));
  const text = asked.toString();
  return text === '' ? path : `${path}?${text}`;
}

const get = <T>(path: string, query: Query, signal?: AbortSignal): Promise<T> =>
  ask(address(path, query), signal ? { signal } : {});

const post = <T>(path: string, run: string, body: unknown, signal?: AbortSignal): Promise<T> =>
  ask(address(path, { run }), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

/** Texts by their bits, with a name for people. */
export type TextGroup = Input<'compare'>['first'];
type Page = { offset: number; limit: number };
type Writing = Partial<Input<'generate'>> & { walk: number[] };

/** Questions to the graph and its symbols, and edits of them. */
const symbolClient = (run: string) => ({
  graph: (signal?: AbortSignal) => get<Answer<'graph'>>('/api/graph', { run }, signal),
  symbol: (k: number, signal?: AbortSignal) => get<Answer<'symbol'>>(`/api/symbol/${k}`, { run }, signal),
  rename: (k: number, name: string, identity: string) =>
    post<Answer<'rename'>>(`/api/symbol/${k}/name`, run, { name, identity }),
  levels: (counts: readonly number[], signal?: AbortSignal) =>
    get<Answer<'levels'>>('/api/levels', { run, counts: counts.join() }, signal),
  merge: (symbols: readonly number[], identity: string) =>
    post<Answer<'merge'>>('/api/merge', run, { symbols, identity }),
  split: (k: number, identity: string) => post<Answer<'split'>>(`/api/symbol/${k}/split`, run, { identity }),
  undo: (identity: string) => post<Answer<'undo'>>('/api/undo', run, { identity }),
  labels: (signal?: AbortSignal) => get<Answer<'labels'>>('/api/labels', { run }, signal),
  nearest: (walk: readonly number[], limit: number, signal?: AbortSignal) =>
    post<Answer<'nearest'>>('/api/nearest', run, { walk, limit }, signal),
  reason: (body: Omit<Input<'reason'>, 'run'>, signal?: AbortSignal) =>
    post<Answer<'reason'>>('/api/reason', run, body, signal),
});

/** Questions to texts: read, written, found and compared. */
const textClient = (run: string) => ({
  encode: (text: string, signal?: AbortSignal) =>
    post<Answer<'encode'>>('/api/encode', run, { text }, signal),
  generate: (body: Writing, signal?: AbortSignal) =>
    post<Answer<'generate'>>('/api/generate', run, body, signal),
  attention: (body: { text: string; layer?: number; head?: number }, signal?: AbortSignal) =>
    post<Answer<'attention'>>('/api/attention', run, body, signal),
  interpolate: (body: { from: string; to: string; variant: string }, signal?: AbortSignal) =>
    post<Answer<'interpolate'>>('/api/interpolate', run, body, signal),
  encoded: (page: Page & { symbol?: number; label?: string }, signal?: AbortSignal) =>
    get<Answer<'encoded'>>('/api/encoded', { run, ...page }, signal),
  map: (signal?: AbortSignal) => get<Answer<'map'>>('/api/map', { run }, signal),
  texts: (at: readonly number[], signal?: AbortSignal) =>
    post<Answer<'texts'>>('/api/texts', run, { at }, signal),
  explain: (text: string, signal?: AbortSignal) =>
    post<Answer<'explain'>>('/api/explain', run, { text }, signal),
  matches: (words: string, signal?: AbortSignal) =>
    get<Answer<'matches'>>('/api/matches', { run, words }, signal),
  compare: (first: TextGroup, second: TextGroup | undefined, signal?: AbortSignal) =>
    post<Answer<'compare'>>('/api/compare', run, { first, ...(second ? { second } : {}) }, signal),
  time: (period: string, signal?: AbortSignal) => get<Answer<'time'>>('/api/time', { run, period }, signal),
  samples: (limit: number, signal?: AbortSignal) =>
    get<Answer<'samples'>>('/api/samples', { run, limit }, signal),
  sentences: (split: string, { offset, limit }: Page, signal?: AbortSignal) =>
    get<Answer<'sentences'>>('/api/sentences', { run, split, offset, limit }, signal),
});

/** Questions to the run itself: what it is, and how it was trained. */
const recordClient = (run: string) => ({
  run: (signal?: AbortSignal) => get<Answer<'run'>>('/api/run', { run }, signal),
  evaluation: (signal?: AbortSignal) => get<Answer<'evaluation'>>('/api/evaluation', { run }, signal),
  metrics: (from: number, signal?: AbortSignal) =>
    get<Answer<'metrics'>>('/api/metrics', { run, from }, signal),
  curves: (known?: number, signal?: AbortSignal) =>
    get<Answer<'curves'>>('/api/curves', { run, known }, signal),
});

/** The questions to one run; an empty id is the first. */
export const clientOf = (run: string) => ({ ...symbolClient(run), ...textClient(run), ...recordClient(run) });

export const allRuns = (signal?: AbortSignal) => get<Answer<'runs'>>('/api/runs', {}, signal);

export type Client = ReturnType<typeof clientOf>;
export type Run = Answer<'run'>;
export type RunSummary = Answer<'runs'>['runs'][number];
export type Graph = Answer<'graph'>;
export type SymbolFacts = Answer<'symbol'>;
export type Encoded = Answer<'encode'>;
export type Labels = Answer<'labels'>;
export type MapAnswer = Answer<'map'>;
export type MapText = Answer<'texts'>['texts'][number];
export type Level = Answer<'levels'>['levels'][number];
export type Edit = Answer<'merge'>;
export type Comparison = Answer<'compare'>;
export type TimeAnswer = Answer<'time'>;
