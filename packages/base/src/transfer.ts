import fs from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

/** What the system says where a machine has no network. */
export const OFFLINE: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Runs a transfer that ends when nothing is heard for `stallMs`, or when the user stops it. */
export async function unlessSilent<T>(
  { stallMs, signal }: { stallMs: number; signal?: AbortSignal | undefined },
  body: (signal: AbortSignal, heard: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const watch = () => setTimeout(() => controller.abort(new Error('the server fell silent')), stallMs);
  let timer = watch();
  const heard = () => {
    clearTimeout(timer);
    timer = watch();
  };
  try {
    return await body(controller.signal, heard);
  } catch (error) {
    const { aborted, reason } = controller.signal;
    throw aborted && reason instanceof Error ? reason : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Writes what a server sends to a file; `onChunk` sees each piece before it is written, and may throw. */
export async function saveBody(
  content: NonNullable<Response['body']>,
  file: string,
  { append = false, signal, onChunk }: SaveOptions,
): Promise<void> {
  const watched = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        onChunk(chunk);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  const out = fs.createWriteStream(file, { flags: append ? 'a' : 'w' });
  await pipeline(Readable.fromWeb(content as ReadableStream), watched, out, { signal });
}

interface SaveOptions {
  /** Whether what is in the file stays. */
  append?: boolean;
  signal: AbortSignal;
  onChunk: (chunk: Buffer) => void;
}
