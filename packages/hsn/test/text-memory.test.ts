import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { openPretrainedEncoder } from '@hidden-schema/transformers';
import { afterAll, expect, test } from 'vitest';
import { encodeTexts, StoredMemory } from '../src/discovery/vectors/text-vectors.ts';
import { VectorCacheFiles } from '../src/discovery/vectors/vector-cache-files.ts';

const folder = temporaryFolder('text-memory');
afterAll(folder.remove);

const script = fileURLToPath(new URL('remembered-texts.ts', import.meta.url));
const cache = folder.path('cache');

/** Vectors of texts by a process of its own, and how many of them its encoder read. */
function inProcess(texts: readonly string[], relations = ''): { read: number; rows: number[][] } {
  const env = { ...process.env, HSN_CACHE: cache, OMP_NUM_THREADS: '1' };
  const out = execFileSync(process.execPath, ['--import', 'tsx', script, relations, ...texts], { env });
  return JSON.parse(out.toString()) as { read: number; rows: number[][] };
}

const files = (): string[] => fs.readdirSync(`${cache}/vectors`).map((name) => `${cache}/vectors/${name}`);
const texts = ['PersonX goes home', 'to rest', 'tired'];

test('a text is encoded once in its life, whichever process asks, in whatever company', {
  timeout: 120_000,
}, async () => {
  const first = inProcess(texts);
  expect(first.read).toBe(3);
  const opened = await openPretrainedEncoder();
  const truth = (await encodeTexts(texts, opened, { longest: 32 })).toNumbers();
  for (const [n, row] of first.rows.entries())
    for (const [d, value] of row.entries()) expect(value).toBeCloseTo(truth[n * row.length + d]!, 5);
  opened.encoder.free();
  // An encoder with relations reads texts that have none as the one without does.
  const second = inProcess(['happy', ...texts.toReversed()], 'xWant,xReact');
  expect(second.read).toBe(1);
  expect(second.rows.slice(1).toReversed()).toEqual(first.rows);
  // What small runs leave is put together.
  expect(files()).toHaveLength(1);
});

test('a stored vector that is kept holds no more than itself of its file', async () => {
  const opened = await openPretrainedEncoder();
  const ids = (await opened.tokenizer.encodeBatch(texts, { literal: true })).map((one) => one.ids);
  const stored = new StoredMemory(opened.encoder as ConstructorParameters<typeof StoredMemory>[0], cache);
  for (const vector of stored.vectors(ids)) expect(vector.buffer.byteLength).toBe(4 * opened.encoder.width);
  opened.encoder.free();
});

test('texts of the cache are looked up when one is looked for, not before', () => {
  const own = folder.path('lazy');
  const key = (n: number) => n.toString(16).padStart(32, '0');
  const later = new VectorCacheFiles('0123456789abcdef', 2, own);
  const first = new VectorCacheFiles('0123456789abcdef', 2, own);
  first.keep([key(1)], [Float32Array.of(1, 2)]);
  expect([...later.find(key(1))!]).toEqual([1, 2]);
  expect(later.find(key(2))).toBeUndefined();
});

test('what is damaged is encoded again, and kept again', { timeout: 120_000 }, () => {
  const [file] = files();
  const bytes = fs.readFileSync(file!);
  bytes[bytes.length - 100]! ^= 0x55;
  fs.writeFileSync(file!, bytes);
  expect(inProcess(texts).read).toBe(3);
  expect(inProcess(texts).read).toBe(0);
});
