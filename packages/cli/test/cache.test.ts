import fs from 'node:fs';
import path from 'node:path';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-cache');
const cache = folder.path('cache');
const vectors = path.join(cache, 'vectors', `${'a'.repeat(64)}.safetensors`);
const tokens = path.join(cache, 'tokens', 'b'.repeat(32), 'rows.bin');
const own = path.join(cache, 'notes.txt');

beforeAll(folder.holdCache);
beforeEach(() => {
  const files: [string, number, number][] = [
    [vectors, 2_000_000, 0],
    [tokens, 500_000, 40],
    [own, 10, 400],
  ];
  for (const [file, bytes, days] of files) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, Buffer.alloc(bytes));
    const used = Date.now() / 1000 - days * 24 * 3600;
    fs.utimesSync(file, used, used);
    if (file === tokens) fs.utimesSync(path.dirname(file), used, used);
  }
});
afterAll(folder.remove);

const there = () => [vectors, tokens, own].map((file) => fs.existsSync(file));

describe('hsn cache', () => {
  test('lists kinds with files, sizes and last use, and removes nothing', async () => {
    const { code, stdout } = await hsn('cache');
    expect(code).toBe(0);
    expect(stdout.startsWith(`${cache}\n`)).toBe(true);
    expect(stdout).toMatch(/^vectors +1 +2\.0 MB +\d{4}-\d\d-\d\d +texts as an encoder gives them$/m);
    expect(stdout).toMatch(/^tokens +1 +0\.5 MB /m);
    expect(stdout).toMatch(/^all +2 +2\.5 MB$/m);
    expect(there()).toEqual([true, true, true]);
  });

  test('as JSON', async () => {
    const { stdout } = await hsn('cache', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      folder: cache,
      removed: false,
      kinds: [
        { kind: 'vectors', files: 1, bytes: 2_000_000 },
        { kind: 'tokens', files: 1, bytes: 500_000 },
      ],
    });
  });

  test('only what was not used for days', async () => {
    const { stdout } = await hsn('cache', '--older', '30');
    expect(stdout).toContain(`${cache}, what was not used for 30 days\n`);
    expect(stdout).not.toContain('vectors');
    expect((await hsn('cache', '--older', '50')).stdout).toBe(
      `${cache} holds nothing that was not used for 50 days\n`,
    );
  });
});

describe('hsn cache --clear', () => {
  test('removes all that is ours, and says what was freed', async () => {
    expect((await hsn('cache', '--clear')).stdout).toBe(
      `removed 2 files from ${cache}, 2.5 MB freed: vectors 2.0 MB, tokens 0.5 MB\n`,
    );
    expect(there()).toEqual([false, false, true]);
    expect((await hsn('cache', '--clear')).stdout).toBe(`nothing to remove in ${cache}\n`);
  });

  test('removes one kind, or what is old', async () => {
    await hsn('cache', '--clear', 'vectors');
    expect(there()).toEqual([false, true, true]);
    await hsn('cache', '--clear', 'vectors', '--older', '30');
    expect(there()).toEqual([false, true, true]);
    expect((await hsn('cache', '--clear', '--older', '30')).stdout).toMatch(/^removed 1 file from /);
    expect(there()).toEqual([false, false, true]);
  });

  test.each([
    [
      ['--clear', 'photos'],
      '--clear takes one of vectors, tokens, hub, converted, distilled, tokenizers, input, or nothing, got photos',
    ],
    [['--clear', '--older', 'long'], '--older takes a number of days from 0, got long'],
  ])('refuses %s and removes nothing', async (args, message) => {
    expect(await hsn('cache', ...args)).toMatchObject({ code: 1, stderr: `hsn: ${message}\n` });
    expect(there()).toEqual([true, true, true]);
  });
});
