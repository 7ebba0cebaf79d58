import { reasonOf, UserError } from '@hidden-schema/base';
import { z } from 'zod';

/** Bytes of an answer that are read; one that is longer is refused. */
const MOST_BYTES = 65_536;
const MOST_TOKENS = 200;

export interface ChatServer {
  /** Base address of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1. */
  endpoint: URL;
  model: string;
  /** Sent as a bearer token. */
  key?: string | undefined;
  /** For one answer. */
  timeoutMs: number;
}

export interface ChatRequest {
  system: string;
  user: string;
  /** JSON schema of the answer, for servers that follow one. */
  schema: Record<string, unknown>;
}

/** Why one answer is of no use; the server may still give others. */
export class BadAnswer extends Error {
  override name = 'BadAnswer';
}

const answerSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
});

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether a server is on this machine by its address alone. */
export const isLoopback = ({ hostname }: URL): boolean => loopback.test(hostname);

export function parseEndpoint(text: string): URL {
  const expected = 'expected the address of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UserError(`--endpoint: ${expected}, got ${text}`);
  if (url.username !== '' || url.password !== '')
    throw new UserError('--endpoint holds a password; name the variable that holds a key with --key-from');
  if (url.search !== '' || url.hash !== '')
    throw new UserError(`--endpoint: ${expected} without ? and #, got ${text}`);
  return url;
}

/** The text that a model answers. Nothing is sent elsewhere than to the endpoint: redirects are refused. */
export async function chat(server: ChatServer, request: ChatRequest, signal?: AbortSignal): Promise<string> {
  const first = await post(server, request, { structured: true, signal });
  // Servers that know no schemas of answers refuse the request.
  const response =
    first.status === 400 || first.status === 422
      ? await post(server, request, { structured: false, signal })
      : first;
  if (response.status >= 300 && response.status < 400)
    throw new UserError(
      `${server.endpoint.host} redirects to ${hostOf(response.headers.get('location'))}; nothing is sent there: give that address as --endpoint if it is right`,
    );
  if ([401, 403, 404].includes(response.status))
    throw new UserError(
      `${server.endpoint.host} answered ${response.status} ${response.statusText}; check --endpoint, --model and --key-from`,
    );
  if (!response.ok) throw new BadAnswer(`status ${response.status}`);
  return contentOf(await limitedText(response));
}

interface Posting {
  structured: boolean;
  signal: AbortSignal | undefined;
}

async function post(
  { endpoint, model, key, timeoutMs }: ChatServer,
  { system, user, schema }: ChatRequest,
  { structured, signal }: Posting,
): Promise<Response> {
  const format = { type: 'json_schema', json_schema: { name: 'symbol', strict: true, schema } };
  const body = {
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    temperature: 0,
    seed: 0,
    max_tokens: MOST_TOKENS,
    stream: false,
    ...(structured ? { response_format: format } : {}),
  };
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(`${endpoint.href.replace(/\/$/, '')}/chat/completions`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) throw new BadAnswer(`no answer within ${timeoutMs / 1000} s`);
    const cause = (error as Error).cause;
    throw new UserError(
      `cannot reach ${endpoint.host}: ${reasonOf(cause ?? error)}; start the server, or check --endpoint`,
    );
  }
}

const hostOf = (location: string | null): string =>
  location !== null && URL.canParse(location) ? new URL(location).host : 'another address';

async function limitedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (bytes > MOST_BYTES) throw new BadAnswer(`more than ${MOST_BYTES} bytes`);
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof BadAnswer ? error : new BadAnswer(`it broke off: ${reasonOf(error)}`);
  }
  return Buffer.concat(parts).toString('utf8');
}

function contentOf(text: string): string {
  const checked = answerSchema.safeParse(jsonIn(text, 'it is no JSON'));
  if (!checked.success) throw new BadAnswer('it has no message');
  return checked.data.choices[0]!.message.content;
}

/** What is written in a text as JSON; an answer that is none is of no use. */
export function jsonIn(text: string, fault: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadAnswer(fault);
  }
}
