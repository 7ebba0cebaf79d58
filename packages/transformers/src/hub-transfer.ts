import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { faultCode, UserError } from '@hidden-schema/base';
import { OFFLINE, saveBody, unlessSilent } from '@hidden-schema/base/transfer';

/** What the hub says of a file before it is fetched. */
export interface HubFile {
  bytes: number;
  /** sha256 of a large file, or git's own hash of a small one. */
  hash: string;
}

export interface HubTransfer {
  name: string;
  base: string;
  stallMs: number;
  attempts: number;
  signal?: AbortSignal | undefined;
  onProgress?: ((file: string, bytes: number, total: number) => void) | undefined;
}

/** A fault that another attempt may not meet. */
class Broken extends Error {}

/** Size and hash of a file by the hub's headers; nothing where the hub has no such file. */
export async function stated(transfer: HubTransfer, file: string): Promise<HubFile | undefined> {
  const url = `${transfer.base}/${file}`;
  const response = await attempted(transfer, file, () => ask(transfer, url));
  if (response.status === 404) return undefined;
  if (response.status >= 400) throw refused(transfer, file, response.status);
  const hash = (response.headers.get('x-linked-etag') ?? response.headers.get('etag') ?? '')
    .replace(/^W\//, '')
    .replaceAll('"', '')
    .toLowerCase();
  const size = response.headers.get('x-linked-size') ?? response.headers.get('content-length');
  const bytes = Number(size);
  if (
    !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(hash) ||
    size === null ||
    !Number.isSafeInteger(bytes) ||
    bytes < 0
  )
    throw new UserError(
      `${transfer.name}: ${new URL(url).host} states no hash and size for ${file}, so it cannot be checked; expected the headers of a model hub, check HF_ENDPOINT`,
    );
  return { bytes, hash };
}

/** Headers alone. A large file's hash stands on the redirect to its storage, so redirects within the hub only are followed. */
async function ask(transfer: HubTransfer, url: string): Promise<Response> {
  let at = url;
  for (let hops = 0; hops < 5; hops++) {
    const stall = AbortSignal.timeout(transfer.stallMs);
    const signal = transfer.signal ? AbortSignal.any([transfer.signal, stall]) : stall;
    const response = await fetch(at, { method: 'HEAD', redirect: 'manual', headers: plainBytes, signal });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || !location || response.headers.has('x-linked-etag'))
      return retried(response);
    at = new URL(location, at).href;
  }
  throw new Broken('too many redirects');
}

/** Content as it is stored: a length would not fit one that is packed on the way. */
const plainBytes = { 'accept-encoding': 'identity' };

function retried(response: Response): Response {
  if (response.status === 429 || response.status >= 500) throw new Broken(`HTTP ${response.status}`);
  return response;
}

/** Fetches a file next to its place, continues what an earlier attempt left, and moves it there once its hash is right. */
export async function download(
  transfer: HubTransfer,
  file: string,
  found: HubFile,
  target: string,
): Promise<void> {
  const partial = `${target}.${found.hash.slice(0, 16)}.incomplete`;
  await attempted(transfer, file, async () => {
    await fetchRest(transfer, file, found, partial);
    if (await matches(partial, found)) return;
    fs.rmSync(partial, { force: true });
    throw new Broken('its hash is not the one that the hub states; what came was deleted');
  });
  await syncFile(partial);
  fs.renameSync(partial, target);
}

/** The bytes must last before the name does: a power cut would leave a file that only looks whole. */
async function syncFile(file: string): Promise<void> {
  const handle = await fs.promises.open(file, 'r+');
  await handle.sync().finally(() => handle.close());
}

/** Appends to what is there already, or starts again where the server cannot continue. */
async function fetchRest(
  transfer: HubTransfer,
  file: string,
  found: HubFile,
  partial: string,
): Promise<void> {
  const have = fs.statSync(partial, { throwIfNoEntry: false })?.size ?? 0;
  if (have >= found.bytes && have > 0) return;
  await unlessSilent(transfer, async (signal, heard) => {
    const headers = have > 0 ? { ...plainBytes, range: `bytes=${have}-` } : plainBytes;
    const response = retried(await fetch(`${transfer.base}/${file}`, { headers, signal }));
    if (response.status >= 400 && response.status !== 416) throw refused(transfer, file, response.status);
    if (!response.body || response.status === 416) {
      fs.rmSync(partial, { force: true });
      throw new Broken('the server cannot continue');
    }
    const continued = response.status === 206;
    let bytes = continued ? have : 0;
    const onChunk = ({ length }: Buffer) => {
      heard();
      bytes += length;
      transfer.onProgress?.(file, bytes, found.bytes);
      if (bytes > found.bytes) throw new Broken('more came than the hub states');
    };
    await saveBody(response.body, partial, { append: continued, signal, onChunk });
    if (bytes < found.bytes) throw new Broken(`${bytes} of ${found.bytes} bytes came`);
  });
}

/** Whether a file has the size and hash stated. */
export async function matches(file: string, { bytes, hash }: HubFile): Promise<boolean> {
  if (fs.statSync(file).size !== bytes) return false;
  const sum = createHash(hash.length === 64 ? 'sha256' : 'sha1');
  if (hash.length === 40) sum.update(`blob ${bytes}\0`);
  for await (const chunk of fs.createReadStream(file)) sum.update(chunk as Buffer);
  return sum.digest('hex') === hash;
}

/** Tries again what broke; a refusal, a full disk or a stop would only come again. */
async function attempted<T>(transfer: HubTransfer, file: string, body: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      transfer.signal?.throwIfAborted();
      return await body();
    } catch (error) {
      if (error instanceof UserError || transfer.signal?.aborted) throw error;
      const code = faultCode(error);
      if (code === 'ENOSPC')
        throw new UserError(`the disk is full: ${transfer.name} needs more space in the cache (HSN_CACHE)`);
      if (attempt < transfer.attempts && !OFFLINE.has(code)) {
        await pause(Math.min(2000, 100 * 2 ** attempt));
        continue;
      }
      throw unreachable(transfer, file, code, error);
    }
  }
}

function unreachable(
  { name, base, attempts }: HubTransfer,
  file: string,
  code: string,
  error: unknown,
): UserError {
  const { host } = new URL(base);
  const instead =
    'give a folder with config.json, tokenizer.json and model.safetensors, or leave the name out for the encoder that is installed';
  if (OFFLINE.has(code))
    return new UserError(
      `"${name}" is neither a folder nor an installed package, and the hub at ${host} cannot be reached (${code}); ${instead}`,
    );
  let cause: unknown = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  const reason = code || (cause instanceof Error ? cause.message : String(cause));
  return new UserError(
    `"${name}": ${file} could not be fetched from ${host} in ${attempts} attempts (${reason}); try again, what came is kept, or ${instead}`,
  );
}

function refused({ name, base }: HubTransfer, file: string, status: number): UserError {
  const { host } = new URL(base);
  const why =
    status === 401 || status === 403 ? 'it does not exist or is not public' : `the hub refused ${file}`;
  return new UserError(
    `"${name}" cannot be had from ${host} (HTTP ${status}): ${why}; check the name, or give a folder`,
  );
}
