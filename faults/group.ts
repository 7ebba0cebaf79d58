import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ended, HsnProcess } from '@hidden-schema/testing/hsn-process';
import { tinyCorpus, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { freePort } from '@hidden-schema/torch/distributed/place';
import { isLoopback, listenersOf, ranksOf } from './listeners.ts';
import type { Fault, Tally } from './tally.ts';

interface Rank {
  readonly rank: number;
  readonly size?: number;
  readonly corpus?: string;
  readonly flags?: readonly string[];
}

/** Ranks of one machine as a user starts them by hand, each in its own way. */
function startRanks(tally: Tally, port: number, patience: number, ranks: readonly Rank[]): HsnProcess[] {
  return ranks.map(({ rank, size = 2, corpus = 'corpus', flags = [] }) => {
    const place = { RANK: rank, WORLD_SIZE: size, MASTER_ADDR: '127.0.0.1', MASTER_PORT: port };
    const variables = Object.entries({ ...place, HSN_PATIENCE: patience });
    const out = tally.path(`run-${port}-${rank}`);
    const command = ['train', '--corpus', tally.path(corpus), '--out', out, ...tinyFlags, ...flags];
    return new HsnProcess(command, 'ignore', ['env', ...variables.map((pair) => pair.join('='))]);
  });
}

/** All must end by themselves; the limit is far above the patience, for machines that are busy. */
async function endings(ranks: readonly HsnProcess[]): Promise<Ended[]> {
  const ended = Promise.all(ranks.map((rank) => rank.ended));
  const late = pause(120_000, undefined, { ref: false }).then(() => {
    for (const { child } of ranks) child.kill('SIGKILL');
    throw new Error('a rank was still there after two minutes');
  });
  const all = await Promise.race([ended, late]);
  for (const { code, stderr } of all) {
    assert.equal(code, 1, stderr);
    assert.doesNotMatch(stderr, / {4}at /);
  }
  return all;
}

/** What a program that is no rank does with whoever connects. */
const strangers: Record<string, [(socket: Socket) => void, RegExp]> = {
  'a silent listener': [() => {}, /answered nothing within 2 s; is another program listening there\?/],
  'a web server': [
    (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    /answered "HTTP\/1.1 400"; is another program listening there\?/,
  ],
  'one that hangs up': [
    (socket) => socket.destroy(),
    /closed the connection; is another program listening there\?/,
  ],
};

async function stranger(tally: Tally, [greet, expected]: [(socket: Socket) => void, RegExp]): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    greet(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [first, second] = await endings(startRanks(tally, port, 2, [{ rank: 0 }, { rank: 1 }]));
  server.close();
  assert.match(first!.stderr, /rank 0 cannot listen on 127\.0\.0\.1:\d+: another program listens there/);
  assert.match(second!.stderr, expected);
}

type Difference = [first: Omit<Rank, 'rank'>, second: Omit<Rank, 'rank'>, expected: RegExp];

const otherSettings = { flags: ['--set', 'training.rate=0.01', '--set', 'seed=7'] };
const disagreements: Record<string, Difference> = {
  'settings and corpus': [
    {},
    { ...otherSettings, corpus: 'other' },
    /ranks disagree on seed: rank 0 says 1, rank 1 says 7; on training\.rate: rank 0 says [\d.]+, rank 1 says 0\.01; on corpus: rank 0 says [0-9a-f]{12} \(\d+ \+ \d+ \+ \d+ sentences\), rank 1 says [0-9a-f]{12} /,
  ],
  WORLD_SIZE: [{ size: 2 }, { size: 3 }, /ranks disagree on WORLD_SIZE: rank 0 says 2, rank 1 says 3/],
  'a rank without the corpus': [
    {},
    { corpus: 'nowhere' },
    /ranks disagree on corpus: rank 0 says [0-9a-f]{12} .*, rank 1 says that it cannot be read/,
  ],
};

/** Two ranks that were started differently: both say where. */
async function disagree(tally: Tally, ...[first, second, expected]: Difference): Promise<void> {
  const ranks: Rank[] = [
    { ...first, rank: 0 },
    { ...second, rank: 1 },
  ];
  for (const { stderr } of await endings(startRanks(tally, await freePort(), 60, ranks)))
    assert.match(stderr, expected);
}

/** Row 35: a group that cannot come about, or breaks, ends in every rank, with the reason. */
async function noGroup(tally: Tally): Promise<void> {
  tinyCorpus(tally.path('corpus'));
  tinyCorpus(tally.path('other'), { seed: 4 });
  const names = Object.keys(strangers);
  for (const name of names.slice(0, tally.count(names.length)))
    await tally.expect(name, () => stranger(tally, strangers[name]!));
  const cases = Object.keys(disagreements);
  for (const name of cases.slice(0, tally.count(cases.length)))
    await tally.expect(name, () => disagree(tally, ...disagreements[name]!));
  if (tally.share < 1) return;
  await tally.expect('a rank that never comes', async () => {
    const [alone] = await endings(startRanks(tally, await freePort(), 2, [{ rank: 0 }]));
    assert.match(alone!.stderr, /rank 1 of 2 did not come to 127\.0\.0\.1:\d+ within 2 s/);
  });
  for (const victim of [0, 1])
    await tally.expect(`rank ${victim} killed while it trains`, () => killed(tally, victim));
}

async function killed(tally: Tally, victim: number): Promise<void> {
  const port = await freePort();
  const flags = ['--set', 'training.steps=1000000'];
  const ranks = startRanks(
    tally,
    port,
    60,
    [0, 1].map((rank) => ({ rank, flags })),
  );
  const checkpoint = tally.path(`run-${port}-0`, 'checkpoints', 'step-5');
  while (!fs.existsSync(checkpoint)) {
    if (ranks[0]!.child.exitCode !== null) throw new Error((await ranks[0]!.ended).stderr);
    await pause(20);
  }
  const { pid } = ranks[victim]!.child;
  ranks[victim]!.child.kill('SIGKILL');
  const [left] = await endings([ranks[1 - victim]!]);
  assert.match(left!.stderr, new RegExp(`rank ${victim} \\(process ${pid} on .+\\) is gone`));
}

/** Row 36: nothing of `--processes` can be reached from outside of this machine. */
async function onlyLoopback(tally: Tally): Promise<void> {
  tinyCorpus(tally.path('corpus'));
  const command = ['train', '--corpus', tally.path('corpus'), '--out', tally.path('run'), ...tinyFlags];
  const flags = ['--set', 'training.steps=1000000', '--processes', '2'];
  // Left over from a cluster: must not count here.
  const group = new HsnProcess([...command, ...flags], 'ignore', ['env', 'HSN_LISTEN=0.0.0.0']);
  const seen = new Set<string>();
  while (!fs.existsSync(tally.path('run', 'checkpoints', 'step-5'))) {
    if (group.child.exitCode !== null) throw new Error((await group.ended).stderr);
    for (const pid of ranksOf(group.child.pid!).values())
      for (const listener of listening(pid)) seen.add(listener);
    await pause(2);
  }
  group.child.kill('SIGTERM');
  await group.ended;
  tally.notes.push(`${seen.size} listening sockets seen`);
  await tally.expect('sockets were seen at all', () => assert.notEqual(seen.size, 0));
  for (const listener of seen)
    await tally.expect(`listening on ${listener}`, () => assert.ok(isLoopback(listener), listener));
}

/** None where the process has ended meanwhile. */
function listening(pid: number): string[] {
  try {
    return listenersOf(pid);
  } catch {
    return [];
  }
}

export const faults: readonly Fault[] = [
  { row: 35, fault: 'ranks that cannot be a group', inject: noGroup },
  { row: 36, fault: 'several processes on a machine with a network', inject: onlyLoopback },
];
