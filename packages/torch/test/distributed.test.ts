import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ones } from '../src/create.ts';
import { collectiveBackends } from '../src/distributed/group.ts';
import { dropout } from '../src/functional.ts';
import { freePort, placeOf } from '../src/distributed/place.ts';
import { Generator, rand, scope } from '../src/index.ts';

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
    const [alone] = await startRanks(1, { WORLD_SIZE: '2', HSN_PATIENCE: '1', MASTER_PORT: port });
    expect(await linesOf(alone!).all).toEqual([
      `GroupError: rank 1 of 2 did not come to 127.0.0.1:${port} within 1 s; is it started, with the same MASTER_ADDR and MASTER_PORT?`,
    ]);
  });

  test('a gradient through a group that was closed is refused', async () => {
    const [alone] = await startRanks(1, { CLOSED: '1' });
    const { all } = linesOf(alone!);
    const [line] = await all;
    expect(line).toMatch(
      /^ArgumentError: .*the group of processes was closed: nothing can be computed over it/,
    );
    expect(alone).toMatchObject({ exitCode: 0, signalCode: null });
  });
});

describe('ranks that cannot be a group', () => {
  const saidBy = async (ranks: readonly ChildProcess[]): Promise<string[]> =>
    (await Promise.all(ranks.map((rank) => linesOf(rank).all))).flat();
  const rankAt = (environment: NodeJS.ProcessEnv): ChildProcess =>
    spawn(process.execPath, ['--import', 'tsx', script], {
      env: { ...process.env, HSN_THREADS: '1', MASTER_ADDR: '127.0.0.1', HSN_PATIENCE: '2', ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const listening = async (greet: (socket: Socket) => void): Promise<[Server, string]> => {
    const server = createServer((socket) => {
      // A rank that has read enough hangs up at once.
      socket.on('error', () => undefined);
      greet(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return [server, String((server.address() as AddressInfo).port)];
  };

  test('a silent listener on the port', async () => {
    const [server, port] = await listening((socket) => void socket.on('error', () => {}));
    const ranks = ['0', '1'].map((RANK) => rankAt({ RANK, WORLD_SIZE: '2', MASTER_PORT: port }));
    expect(await saidBy(ranks)).toEqual([
      `GroupError: rank 0 cannot listen on 127.0.0.1:${port}: another program listens there: end it, or choose another MASTER_PORT`,
      `GroupError: rank 1 expected the store of rank 0 at 127.0.0.1:${port}, which answered nothing within 2 s; is another program listening there?`,
    ]);
    server.close();
  });

  test('another program on the port', async () => {
    const [server, port] = await listening((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await saidBy([rankAt({ RANK: '1', WORLD_SIZE: '2', MASTER_PORT: port })])).toEqual([
      `GroupError: rank 1 expected the store of rank 0 at 127.0.0.1:${port}, which answered "HTTP/1.1 400"; is another program listening there?`,
    ]);
    server.close();
  });

  test('nobody on the port', async () => {
    const port = String(await freePort());
    expect(await saidBy([rankAt({ RANK: '1', WORLD_SIZE: '2', MASTER_PORT: port })])).toEqual([
      `GroupError: rank 1 expected the store of rank 0 at 127.0.0.1:${port}, but nobody listened there within 2 s (Connection refused)`,
    ]);
  });

  test.each([
    [{ WORLD_SIZE: '2' }, { WORLD_SIZE: '3' }, 'WORLD_SIZE: rank 0 says 2, rank 1 says 3'],
    [{ WORLD_SIZE: '3' }, { WORLD_SIZE: '2' }, 'WORLD_SIZE: rank 0 says 3, rank 1 says 2'],
    [
      { TERMS: 'training.rate=0.001 seed=1 corpus=ab' },
      { TERMS: 'training.rate=0.01 seed=1 corpus=cd' },
      'training.rate: rank 0 says 0.001, rank 1 says 0.01; on corpus: rank 0 says ab, rank 1 says cd',
    ],
  ])('ranks that disagree: %j and %j', async (first, second, expected) => {
    const common = { WORLD_SIZE: '2', MASTER_PORT: String(await freePort()), HSN_PATIENCE: '60' };
    const ranks = [rankAt({ ...common, ...first, RANK: '0' }), rankAt({ ...common, ...second, RANK: '1' })];
    expect(await saidBy(ranks)).toEqual(Array(2).fill(`GroupError: ranks disagree on ${expected}`));
  });

  test('two processes of one rank', async () => {
    const common = { WORLD_SIZE: '3', MASTER_PORT: String(await freePort()), HSN_PATIENCE: '60' };
    const ranks = ['0', '1', '1'].map((RANK) => rankAt({ ...common, RANK }));
    const said = await saidBy(ranks);
    expect(new Set(said).size).toBe(1);
    expect(said[0]).toMatch(
      /^GroupError: two processes say that they are rank 1: process \d+ on .+ and process \d+ on .+$/,
    );
  });
});

describe('the place of a process', () => {
  const whole = { RANK: '1', WORLD_SIZE: '4', MASTER_ADDR: 'node-0', MASTER_PORT: '2345' };

  test('is read from the environment of torch’s launchers', () => {
    const place = { rank: 1, size: 4, address: 'node-0', port: 2345, listen: 'node-0', patience: 300 };
    expect(placeOf(whole)).toEqual(place);
    const more = { HSN_LISTEN: '10.0.0.1', HSN_PATIENCE: '20' };
    expect(placeOf({ ...whole, ...more })).toEqual({ ...place, listen: '10.0.0.1', patience: 20 });
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
    [{ HSN_PATIENCE: 'long' }, 'HSN_PATIENCE is "long": expected a whole number from 1 to 86400'],
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
