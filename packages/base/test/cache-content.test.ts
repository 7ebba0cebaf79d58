import fs from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { cacheEntries, cacheLimit, keepWithin, markUsed, removeEntries } from '../src/index.ts';

const folder = temporaryFolder('cache-content');
afterAll(folder.remove);
const cache = folder.path('cache');
const hash = (digit: string, length = 64) => digit.repeat(length);
const vector = (digit: string) => path.join(cache, 'vectors', `${hash(digit)}.safetensors`);
const day = 24 * 3600;

/** A file that was last used so many days ago. */
function write(file: string, bytes: number, days = 0): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, Buffer.alloc(bytes));
  const used = Date.now() / 1000 - days * day;
  fs.utimesSync(file, used, used);
  return file;
}

beforeEach(() => fs.rmSync(cache, { recursive: true, force: true }));

describe('what the cache holds', () => {
  test('by kind, with size and last use; a folder counts as one', () => {
    write(vector('a'), 100, 3);
    write(path.join(cache, 'tokens', hash('b', 32), 'rows.bin'), 10, 9);
    write(path.join(cache, 'tokens', hash('b', 32), 'cache.json'), 5, 2);
    write(path.join(cache, 'hub', 'owner--name', 'main', 'model.safetensors'), 40);
    const found = cacheEntries(cache).map(({ kind, files, bytes }) => [kind, files, bytes]);
    expect(found).toEqual([
      ['vectors', 1, 100],
      ['tokens', 2, 15],
      ['hub', 1, 40],
    ]);
    const ago = (Date.now() - cacheEntries(cache)[0]!.used) / 1000 / day;
    expect(ago).toBeCloseTo(3, 2);
  });

  test('is nothing where there is no folder', () => {
    expect(cacheEntries(folder.path('gone'))).toEqual([]);
  });

  test('leaves out what is not ours, links, and what a running process writes', () => {
    write(path.join(cache, 'vectors', 'thesis.safetensors'), 1);
    write(path.join(cache, 'holiday', 'photo.jpg'), 1);
    write(path.join(cache, 'input', `input-${process.pid}-1`), 1);
    write(`${vector('a')}.${process.pid}.0a1b2c3d.tmp`, 1);
    write(path.join(cache, 'tokens', `.${hash('b', 32)}.partial-${process.pid}`, 'rows.bin'), 1);
    fs.symlinkSync(write(folder.path('elsewhere'), 1), vector('c'));
    expect(cacheEntries(cache)).toEqual([]);
  });

  test('has what writers that ended left behind', () => {
    const gone = 2 ** 22 + 1;
    write(path.join(cache, 'input', `input-${gone}-1`), 1);
    write(`${vector('a')}.${gone}.0a1b2c3d.tmp`, 1);
    write(path.join(cache, 'tokens', `.${hash('b', 32)}.partial-${gone}`, 'rows.bin'), 1);
    expect(cacheEntries(cache)).toHaveLength(3);
    removeEntries(cacheEntries(cache));
    expect(cacheEntries(cache)).toEqual([]);
  });
});

describe('the limit', () => {
  test('removes what was not used for longest, never what was just made', () => {
    const [old, older, newest] = [
      write(vector('a'), 100, 2),
      write(vector('b'), 100, 4),
      write(vector('c'), 100, 9),
    ];
    keepWithin(300, 'vectors', newest);
    expect([old, older, newest].map((file) => fs.existsSync(file))).toEqual([true, true, true]);
    keepWithin(250, 'vectors', newest);
    expect([old, older, newest].map((file) => fs.existsSync(file))).toEqual([true, false, true]);
    keepWithin(1, 'vectors', newest);
    expect([old, older, newest].map((file) => fs.existsSync(file))).toEqual([false, false, true]);
  });

  test('spares what was used since', () => {
    const [first, second, made] = [
      write(vector('a'), 100, 9),
      write(vector('b'), 100, 4),
      write(vector('c'), 100),
    ];
    markUsed(first);
    expect(fs.statSync(first).mtimeMs).toBeLessThan(Date.now() - 8 * day * 1000);
    keepWithin(200, 'vectors', made);
    expect([first, second].map((file) => fs.existsSync(file))).toEqual([true, false]);
    markUsed(folder.path('gone'));
  });

  test('is 4096 MB unless HSN_CACHE_LIMIT says otherwise', () => {
    expect(cacheLimit({})).toBe(4096e6);
    expect(cacheLimit({ HSN_CACHE_LIMIT: '0.5' })).toBe(0.5e6);
    for (const given of ['much', '-1', '0'])
      expect(() => cacheLimit({ HSN_CACHE_LIMIT: given })).toThrow(
        `HSN_CACHE_LIMIT takes a number of MB above 0, got ${given}`,
      );
  });
});
