import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { freePort } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { vectorFolder } from '../src/discovery/vector-store.ts';
import { ownPart } from '../src/discovery/point-source.ts';
import { WorstPoints } from '../src/discovery/worst-points.ts';
import { Replicas } from '../src/train/replicas.ts';
import {
  discoverCase,
  type EncodedByRanks,
  encodeCase,
  type RankCase,
  type RankResult,
} from './discovery-rank.ts';

const folder = temporaryFolder('discovery-ranks');
afterAll(folder.remove);

const cases: RankCase[] = [
  { name: 'planted symbols', texts: 1500, atoms: 12, symbols: 12, choose: true },
  { name: 'points on disk, seeds', texts: 1300, atoms: 10, symbols: 10, memory: 0, seeds: 2 },
  { name: 'symbols that start again', texts: 500, atoms: 8, symbols: 60 },
  { name: 'many texts, in whole blocks', texts: 4500, atoms: 8, symbols: 8 },
  { name: 'fewer texts than processes', texts: 2, atoms: 6, symbols: 2 },
];

interface Written {
  found: RankResult[];
  encoded: EncodedByRanks;
}

/** All cases in so many processes: what each of them found. */
async function inProcesses(count: number): Promise<Written[]> {
  const script = fileURLToPath(new URL('discovery-rank.ts', import.meta.url));
  const results = folder.path(`results-${count}`);
  const args = ['--import', 'tsx', script, folder.path('cases.json'), results, folder.path(`cache-${count}`)];
  const where = {
    WORLD_SIZE: String(count),
    MASTER_ADDR: '127.0.0.1',
    MASTER_PORT: String(await freePort()),
  };
  const names = Array.from({ length: count }, (_, rank) => String(rank));
  const ranks = names.map((RANK) =>
    spawn(process.execPath, args, { env: { ...process.env, ...where, RANK }, stdio: 'inherit' }),
  );
  const codes = await Promise.all(ranks.map((rank) => once(rank, 'exit')));
  expect(codes.map(([code]) => code)).toEqual(names.map(() => 0));
  return names.map((rank) => JSON.parse(fs.readFileSync(`${results}-${rank}.json`, 'utf8')));
}

/** Numbers of unit vectors and probabilities: a few units in the last place of float32. */
const rounding = 2e-6;
function expectNear(found: readonly number[], expected: readonly number[]): void {
  expect(found).toHaveLength(expected.length);
  const apart = found.map((value, at) => Math.abs(value - expected[at]!));
  expect(Math.max(...apart)).toBeLessThan(rounding);
}

const alone: RankResult[] = [];
let encodedAlone: EncodedByRanks;
beforeAll(async () => {
  fs.writeFileSync(folder.path('cases.json'), JSON.stringify(cases));
  for (const one of cases) alone.push(await discoverCase(one, Replicas.alone));
  encodedAlone = await encodeCase(Replicas.alone, folder.path('own-cache'));
});

describe.each([2, 3])('discovery in %i processes', (count) => {
  let together: Written[];
  beforeAll(async () => {
    together = await inProcesses(count);
  });

  test.each(cases.map(({ name }, at) => [name, at] as const))('is that of one: %s', (_, at) => {
    const expected = alone[at]!;
    const all = together.map(({ found }) => found[at]!);
    expect(all.reduce((sum, { own }) => sum + own, 0)).toBe(cases[at]!.texts);
    for (const { own: _own, ...found } of all) {
      const { own: _first, ...first } = all[0]!;
      expect(found).toEqual(first);
      expectNear(found.symbols, expected.symbols);
      expectNear(found.links, expected.links);
      expect(found.steps).toEqual(expected.steps);
      expect(found.chosen).toBe(expected.chosen);
      for (const [sweep, record] of found.sweeps.entries()) {
        const { explained, ...counts } = expected.sweeps[sweep]!;
        expect(record).toMatchObject(counts);
        expectNear([record.explained], [explained]);
      }
    }
  });

  test('what the cases are for does happen in them', () => {
    const restarts = alone.map(({ sweeps }) => sweeps.reduce((sum, { restarted }) => sum + restarted, 0));
    expect(restarts[2]).toBeGreaterThan(0);
    expect(alone.map(({ onDisk }) => onDisk)).toEqual([false, true, false, false, false]);
    expect(together.map(({ found }) => found[0]!.own)).toEqual(Array(count).fill(1500 / count));
    // Five blocks: all but the last process have whole ones.
    for (const { found } of together.slice(0, -1)) expect(found[3]!.own % 1024).toBe(0);
  });

  test('each text is encoded by one process, and all caches have all vectors', () => {
    expect(encodedAlone.encoded).toBe(20);
    const shares = together.map(({ encoded }) => encoded.encoded);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(20);
    expect(Math.max(...shares)).toBeLessThan(20);
    const files = (cache: string) => fs.readdirSync(vectorFolder(folder.path(cache))).sort();
    for (const [rank, { encoded }] of together.entries()) {
      expectNear(encoded.vectors, encodedAlone.vectors);
      expect(files(`cache-${count}-${rank}`)).toEqual(files('own-cache'));
    }
  });
});

describe('parts', () => {
  test('are all points, each once, and begin with a block where there are many', () => {
    for (const [count, size] of [
      [10, 3],
      [2, 5],
      [100_000, 7],
      [4096, 1],
    ] as const) {
      const parts = Array.from({ length: size }, (_, rank) => ownPart(count, { rank, size }));
      expect(parts[0]!.first).toBe(0);
      expect(parts.at(-1)!.end).toBe(count);
      for (const [at, part] of parts.slice(1).entries()) expect(part.first).toBe(parts[at]!.end);
      if (count === 100_000) for (const { first } of parts) expect(first % 1024).toBe(0);
    }
  });
});

describe('worst points', () => {
  test('are the worst of all blocks, of equals the first', () => {
    const worst = new WorstPoints(3);
    worst.add([0.5, 0.1, 0.9], 0);
    worst.add([0.9, 0, 0.5, 0.5], 3);
    expect(worst.places(3)).toEqual([2, 3, 0]);
    expect(worst.places(1)).toEqual([2]);
  });
});
