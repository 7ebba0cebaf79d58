import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { Generator, randn, Tensor } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { RowSpool, SparseSpool } from '../src/discovery/scratch.ts';
import { OpenFiles, StoredRows } from '../src/discovery/vectors/vector-file.ts';

const folder = temporaryFolder('spooled-points');
afterAll(folder.remove);

const script = fileURLToPath(new URL('spooled-points.ts', import.meta.url));
const env = { ...process.env, HSN_CACHE: folder.path('cache') };
function discovered(count: number): { megabytes: number; onDisk: boolean; stages: string[] } {
  const args = ['--expose-gc', '--import', 'tsx', script, String(count)];
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }));
}

describe('points on disk', () => {
  test('take no more memory when there are four times as many', () => {
    const [few, many] = [discovered(50_000), discovered(200_000)];
    expect([few.onDisk, many.onDisk]).toEqual([true, true]);
    expect(many.stages).toEqual(['neighbours', 'symbols', 'cutoffs', 'links']);
    // The points of the second are 154 MB more; garbage is collected as they are read, so that it decides nothing.
    expect(many.megabytes - few.megabytes).toBeLessThan(50);
    expect(fs.readdirSync(folder.path('cache'))).toEqual([]);
  });

  test.each([0, 1 << 20])('are what was put down, with %i bytes in memory', (memory) => {
    const all = randn([2500, 3], new Generator(2));
    const sizes = { count: 9000, width: 3, first: 4000, end: 6500, memory };
    const spool = new RowSpool(sizes);
    spool.add(all.narrow(0, 0, 2048));
    spool.add(all.narrow(0, 2048, 452));
    expect(spool.onDisk).toBe(memory === 0);
    for (const [from, to] of [
      [4000, 5024],
      [5100, 5101],
      [6048, 6500],
    ] as const)
      expect(spool.rows(from, to).toNumbers()).toEqual(all.narrow(0, from - 4000, to - from).toNumbers());
    spool.free();
  });

  test.each([0, 60, 1 << 20])('so are word counts, with %i bytes in memory', (memory) => {
    const blocks = [3, 5, 1].map((rows, seed) => ({
      columns: 7,
      indptr: Int32Array.from({ length: rows + 1 }, (_, at) => at),
      indices: Int32Array.from({ length: rows }, (_, at) => (at * seed) % 7),
      values: Float32Array.from({ length: rows }, (_, at) => at + seed),
    }));
    const spool = new SparseSpool(memory);
    for (const block of blocks) spool.add(block);
    for (let pass = 0; pass < 2; pass++) expect([...spool.blocks()]).toEqual(blocks);
    spool.free();
  });

  test('vectors come by row from memory and files, in any order', () => {
    const file = folder.path('numbers');
    const all = Float32Array.from({ length: 40 }, (_, at) => at);
    fs.writeFileSync(file, Buffer.from(all.buffer, 16, 96));
    const stretches = [
      { first: 0, end: 2, vectors: Tensor.fromArray(all.slice(0, 8), [2, 4]) },
      // Row 2 begins after 16 bytes that are not vectors.
      { first: 2, end: 7, file, place: 16 },
      { first: 7, end: 10, vectors: Tensor.fromArray(all.slice(28), [3, 4]) },
    ];
    const stored = new StoredRows(stretches, 4, new OpenFiles());
    const rows = [9, 3, 4, 5, 0, 1, 2, 6, 7, 3];
    const expected = rows.flatMap((row) => [...all.subarray(4 * row, 4 * row + 4)]);
    expect(stored.rows(rows).toNumbers()).toEqual(expected);
    expect(stored.rows([4]).toNumbers()).toEqual([16, 17, 18, 19]);
    stored.free();
  });
});
