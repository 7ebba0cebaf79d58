import fs from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyLanguage } from '@hidden-schema/testing/tiny-texts';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator } from '@hidden-schema/torch';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { vectorFolder } from '../src/discovery/vectors/vector-file.ts';
import { textVectors } from '../src/discovery/vectors/vector-store.ts';
import { openTextEncoder } from '../src/tasks/language/build.ts';

const folder = temporaryFolder('vector-store');
afterAll(folder.remove);
afterEach(() => {
  delete process.env.HSN_CACHE_LIMIT;
});

const cache = folder.path('cache');
const tokenizer = trainByteBpe(['the cat sat on the mat'], 280);
const opened = await openTextEncoder(tinyLanguage(), tokenizer, new Generator(1));
const files = () =>
  new Set(fs.readdirSync(vectorFolder(cache)).map((name) => path.join(vectorFolder(cache), name)));

/** Encodes texts, or finds them; gives the file that is new. */
async function encode(texts: readonly string[]): Promise<{ file: string | undefined; notes: string[] }> {
  const known = fs.existsSync(vectorFolder(cache)) ? files() : new Set<string>();
  const notes: string[] = [];
  const vectors = await textVectors(texts, opened, {
    longest: 16,
    cache,
    onNote: (text) => notes.push(text),
  });
  vectors.free();
  return { file: [...files()].find((name) => !known.has(name)), notes };
}

const hoursAgo = (file: string, hours: number) => {
  const time = Date.now() / 1000 - 3600 * hours;
  fs.utimesSync(file, time, time);
};

describe('stored vectors', () => {
  test('stay within HSN_CACHE_LIMIT: those that were not used for longest go', async () => {
    const [first, second] = [await encode(['a cat']), await encode(['a mat'])];
    hoursAgo(first.file!, 2);
    hoursAgo(second.file!, 1);
    const again = await encode(['a cat']);
    expect(again).toEqual({ file: undefined, notes: ['vectors of 1 of 1 texts were in the cache'] });
    process.env.HSN_CACHE_LIMIT = String((2.5 * fs.statSync(first.file!).size) / 1e6);
    const third = await encode(['the mat']);
    expect(files()).toEqual(new Set([first.file, third.file]));
    // What is gone is made again.
    expect((await encode(['a mat'])).notes).toEqual([]);
  });

  test('that are read are marked as used, whatever times the disk keeps by itself', async () => {
    const { file } = await encode(['a sat cat']);
    // A disk keeps a time of reading that lies ahead.
    const ahead = Date.now() / 1000 + 3600;
    fs.utimesSync(file!, ahead, 1);
    await encode(['a sat cat']);
    const { atimeMs, mtimeMs } = fs.statSync(file!);
    expect(atimeMs).toBeLessThan(1000 * ahead - 1000);
    expect(mtimeMs).toBe(1000);
  });

  test('a limit that is none is refused before anything is encoded', async () => {
    process.env.HSN_CACHE_LIMIT = 'much';
    await expect(encode(['a cat'])).rejects.toThrow('HSN_CACHE_LIMIT takes a number of MB above 0, got much');
  });
});
