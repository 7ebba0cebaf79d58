import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { freePort } from '@hidden-schema/torch/distributed/place';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownPart } from '../src/discovery/point-source.ts';
import { vectorFolder } from '../src/discovery/vectors/vector-file.ts';
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
  { name: 'planted symbols', texts: 1500, atoms: 12, symbols: 12, choose: true, wide: true },
  { name: 'points on disk, seeds', texts: 1300, atoms: 10, symbols: 10, memory: 0, seeds: 2 },
  { name: 'symbols that start again', texts: 500, atoms: 8, symbols: 60 },
  { name: 'many texts, in whole blocks', texts: 4500, atoms: 8, symbols: 8 },
  { name: 'symbols found among some texts', texts: 1500, atoms: 8, symbols: 8, mostDiffused: 700 },
  { name: 'fewer texts than processes', texts: 2, atoms: 6, symbols: 2 },
];

interface Written {
  found: RankResult[];
  encoded: EncodedByRanks;
  stopped: string[];
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
      for (const name of ['symbols', 'starts', 'cutoffs', 'links'] as const)
        expectNear(found[name], expected[name]);
      expect(found.steps).toEqual(expected.steps);
      expect(found.stays).toEqual(expected.stays);
      expect(found.chosen).toBe(expected.chosen);
      expect(found.stages).toHaveLength(4);
      for (const [at, { explained, ...told }] of found.stages.entries()) {
        expect(told).toEqual({ ...expected.stages[at], explained: undefined });
        expectNear([explained ?? 0], [expected.stages[at]!.explained ?? 0]);
      }
    }
  });

  test('what the cases are for does happen in them', () => {
    expect(alone.map(({ onDisk }) => onDisk)).toEqual([false, true, false, false, false, false]);
    // Walks go on, and walks end early.
    const stayed = alone[0]!.stays[2]!.reduce((sum, count) => sum + count, 0);
    expect(stayed).toBeGreaterThan(0);
    expect(stayed).toBeLessThan(1500);
    expect(together.map(({ found }) => found[0]!.own)).toEqual(Array(count).fill(1500 / count));
    // Five blocks: all but the last process have whole ones.
    for (const { found } of together.slice(0, -1)) expect(found[3]!.own % 1024).toBe(0);
  });

  test('where rank 0 is asked to stop after a stage, all do', () => {
    for (const { stopped } of together) expect(stopped).toEqual(Array(3).fill('stopped'));
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
