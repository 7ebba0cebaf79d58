import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ones } from '../src/create.ts';
import { dropout } from '../src/functional.ts';
import { collectiveBackends, freePort, Generator, placeOf, rand, scope } from '../src/index.ts';

const script = fileURLToPath(new URL('group-rank.ts', import.meta.url));

/** Ranks of a group that meet on this machine. */
async function startRanks(size: number, more: NodeJS.ProcessEnv = {}): Promise<ChildProcess[]> {
  const where = { WORLD_SIZE: String(size), MASTER_ADDR: '127.0.0.1', MASTER_PORT: String(await freePort()) };
  return Array.from({ length: size }, (_, rank) =>
    spawn(process.execPath, ['--import', 'tsx', script], {
      env: { ...process.env, HSN_THREADS: '1', ...where, ...more, RANK: String(rank) },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
}

/** Lines of a rank: the first as soon as it is there, all when it ended. */
function linesOf(rank: ChildProcess): { first: Promise<string>; all: Promise<string[]> } {
  let text = '';
  rank.stdout!.on('data', (data: Buffer) => {
    text += data;
    rank.emit('line');
  });
  const all = once(rank, 'close').then(() => text.trim().split('\n'));
  const first = (async () => {
    while (!text.includes('\n')) await once(rank, 'line');
    return text.split('\n')[0]!;
  })();
  return { first, all };
}

describe('a group of processes', () => {
  test('sums, broadcasts, means with gradients, and averages gradients in buckets', async () => {
    expect(collectiveBackends()).toContain('gloo');
    const ranks = (await startRanks(3)).map(linesOf);
    const seen = await Promise.all(ranks.map(async ({ all }) => JSON.parse((await all)[0]!) as object));
    for (const [rank, result] of seen.entries()) {
      // Values x_r = 1, 2, 3 have the mean 2; d/dw (w·2)² + mean(10·r)·w at w = 3 is 2·6·2 + 10.
      const expected = { sums: [6, 60], sent: 14, told: 'hello', totals: [3, 3], mean: 6, gradient: 34 };
      expect(result).toMatchObject({ rank, ...expected });
      expect(result).toHaveProperty('buckets', expect.closeTo(0, 4));
    }
  });

  test.each([1, 0])(
    'a rank %i that is killed is named by the others, which end within seconds',
    async (victim) => {
      const ranks = await startRanks(2, { STAY: '1' });
      const lines = ranks.map(linesOf);
      await Promise.all(lines.map(({ first }) => first));
      ranks[victim]!.kill('SIGKILL');
      const began = performance.now();
      const said = (await lines[1 - victim]!.all).at(-1);
      expect(said).toMatch(
        new RegExp(`^RankLostError: rank ${victim} \\(process ${ranks[victim]!.pid} on .+\\) is gone$`),
      );
      // Generous for a busy machine: without the watch it would be days.
      expect(performance.now() - began).toBeLessThan(40_000);
    },
  );

  test('a rank that leaves with a reason tells it', async () => {
    const ranks = await startRanks(2, { STAY: '1', FAIL: '1' });
    const said = (await linesOf(ranks[0]!).all).at(-1);
    expect(said).toMatch(/^RankLostError: rank 1 \(process \d+ on .+\) has no disk left$/);
  });

  test('a rank that does not come is named', async () => {
    const port = String(await freePort());
    const [alone] = await startRanks(1, { WORLD_SIZE: '2', PATIENCE: '1', MASTER_PORT: port });
    expect(await linesOf(alone!).all).toEqual([
      `RankLostError: rank 1 of 2 did not come to 127.0.0.1:${port}`,
    ]);
  });
});

describe('the place of a process', () => {
  const whole = { RANK: '1', WORLD_SIZE: '4', MASTER_ADDR: 'node-0', MASTER_PORT: '2345' };

  test('is read from the environment of torch’s launchers', () => {
    expect(placeOf(whole)).toEqual({ rank: 1, size: 4, address: 'node-0', port: 2345 });
    expect(placeOf({})).toBeUndefined();
    const { MASTER_PORT: _, ...usual } = whole;
    expect(placeOf(usual)).toMatchObject({ port: 29_500 });
  });

  test.each([
    [
      { RANK: undefined },
      'WORLD_SIZE is set and RANK is not: set both to train in several processes, or neither',
    ],
    [{ RANK: '4' }, 'RANK is "4": expected a whole number from 0 to 3'],
    [{ WORLD_SIZE: 'two' }, 'WORLD_SIZE is "two": expected a whole number from 1 to 1000000'],
    [{ MASTER_PORT: '0' }, 'MASTER_PORT is "0": expected a whole number from 1 to 65535'],
    [{ MASTER_ADDR: '' }, 'MASTER_ADDR is not set: expected the address of the machine where rank 0 runs'],
  ])('refuses %j', (change, message) => {
    expect(() => placeOf({ ...whole, ...change } as NodeJS.ProcessEnv)).toThrow(message);
  });
});

describe('draws for a share of a batch', () => {
  const parts = (draw: (generator: Generator) => number[]): number[][] =>
    [undefined, { index: 0, count: 2 }, { index: 1, count: 2 }].map((share) => {
      const generator = new Generator(3);
      return generator.sharing(share, () => [...draw(generator), ...draw(generator)]);
    });

  test('are its rows of the draws for all, and leave the generator in the same state', () => {
    const uniform = (rows: number) => (generator: Generator) =>
      scope(() => rand([rows, 3], generator).toNumbers());
    const [whole] = parts(uniform(4));
    const [, first, second] = parts(uniform(2));
    expect(first).toEqual([...whole!.slice(0, 6), ...whole!.slice(12, 18)]);
    expect(second).toEqual([...whole!.slice(6, 12), ...whole!.slice(18)]);
  });

  test('hold for dropout too', () => {
    const masks = (rows: number) => (generator: Generator) =>
      scope(() => dropout(ones([rows, 5]), 0.5, generator).toNumbers());
    const [whole] = parts(masks(4));
    const [, first, second] = parts(masks(2));
    expect(first).toEqual([...whole!.slice(0, 10), ...whole!.slice(20, 30)]);
    expect(second).toEqual([...whole!.slice(10, 20), ...whole!.slice(30)]);
  });
});
