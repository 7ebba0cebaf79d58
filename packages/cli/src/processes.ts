import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { UserError } from '@hidden-schema/base/errors';
import type { Replicas } from '@hidden-schema/hsn';
import type { GroupConfig } from '@hidden-schema/torch';
import { STOP_SIGNALS } from './stopping.ts';

/** Exit code of a rank that ended because another one did. */
export const LOST_CODE = 75;
/** Tells a rank that its parent reports what ended the group. */
export const LAUNCHED = 'HSN_LAUNCHED';

/** How long the others may take to end by themselves after one has, and after they were told to. */
const graceMs = 15_000;

interface Rank {
  readonly rank: number;
  readonly child: ChildProcess;
  /** What it wrote to standard error, where that is not shown at once. */
  readonly said: string[];
  /** Why it had to be ended, where it did not end by itself. */
  held?: string;
}

type Ended = { rank: Rank; code: number | null; signal: NodeJS.Signals | null };

/** Runs this command in `count` processes of this machine; rank 0 speaks for all. */
export async function launch(count: number, threads: string | undefined): Promise<void> {
  const { freePort } = await import('@hidden-schema/torch/distributed/place');
  const environment = {
    ...process.env,
    WORLD_SIZE: String(count),
    MASTER_ADDR: '127.0.0.1',
    MASTER_PORT: String(await freePort()),
    // Meant for several machines: here nothing is to be reached from outside.
    GLOO_SOCKET_IFNAME: undefined,
    HSN_LISTEN: undefined,
    HSN_THREADS: threads ?? String(Math.max(1, Math.floor(availableParallelism() / count))),
    [LAUNCHED]: '1',
  };
  const ranks = Array.from({ length: count }, (_, rank) => start(rank, environment));
  const forward = (signal: NodeJS.Signals) => {
    for (const { child } of ranks) child.kill(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, forward);
  try {
    const ended = await allEnded(ranks);
    const fault = explain(ended);
    if (fault !== undefined) throw new UserError(fault);
    process.exitCode = ended.find(({ rank }) => rank.rank === 0)?.code ?? 1;
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, forward);
  }
}

/** The command line without `--processes`, which the ranks are not to follow again. */
export function withoutProcesses(args: readonly string[]): string[] {
  return args.filter(
    (arg, i) => arg !== '--processes' && !arg.startsWith('--processes=') && args[i - 1] !== '--processes',
  );
}

function start(rank: number, environment: NodeJS.ProcessEnv): Rank {
  const [script, ...args] = process.argv.slice(1);
  // In a process group of its own: Ctrl-C reaches the parent alone, which hands it on once.
  const child = spawn(process.execPath, [...process.execArgv, script!, ...withoutProcesses(args)], {
    env: { ...environment, RANK: String(rank), LOCAL_RANK: String(rank) },
    stdio: rank === 0 ? ['ignore', 'inherit', 'inherit', 'ipc'] : ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
  });
  const said: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.push(text);
    if (said.length > 50) said.shift();
  });
  return { rank, child, said };
}

/** Ranks in the order they ended. When one ends badly the others get a while, then are ended. */
async function allEnded(ranks: readonly Rank[]): Promise<Ended[]> {
  const ended: Ended[] = [];
  const waiting = ranks.map(async (rank) => {
    const [code, signal] = (await once(rank.child, 'exit')) as [number | null, NodeJS.Signals | null];
    ended.push({ rank, code, signal });
    return { rank, code, signal };
  });
  const bad = waiting.map(async (exit) => {
    const { rank, code } = await exit;
    // Rank 0 leaves last, so whoever is there after it hangs.
    if (code === 0 && rank.rank !== 0) await Promise.all(waiting);
  });
  await Promise.race(bad);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const rank of ranks.filter(isThere)) if (isStopped(rank)) endStopped(rank);
    const all = await Promise.race([
      Promise.all(waiting).then(() => true),
      setTimeout(graceMs, false, { ref: false }),
    ]);
    if (all) break;
    for (const rank of ranks.filter(isThere)) {
      rank.held ??= 'did not answer and had to be ended';
      rank.child.kill(signal);
    }
  }
  await Promise.all(waiting);
  return ended;
}

const isThere = ({ child }: Rank): boolean => child.exitCode === null && child.signalCode === null;

/** Whether a process is stopped, as by SIGSTOP or a debugger: it runs no line, and heeds no signal to end. */
function isStopped({ child }: Rank): boolean {
  try {
    return /\) [Tt] /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function endStopped(rank: Rank): void {
  rank.held = 'was stopped (SIGSTOP, or a debugger) and did not answer';
  rank.child.kill('SIGKILL');
}

/** What ended the group, where no rank that shows its words has said it. */
function explain(ended: readonly Ended[]): string | undefined {
  const own = ended.filter(({ code }) => code !== 0 && code !== LOST_CODE);
  if (process.exitCode === 0 || own.length === 0) return undefined;
  // What rank 0 ended for by itself, it has said.
  if (own.some(({ rank, signal }) => rank.rank === 0 && signal === null)) return undefined;
  const { rank, code, signal } = own.find((one) => one.rank.held === undefined) ?? own[0]!;
  const how = rank.held ?? (signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
  const words = rank.said.join('').trim();
  return (
    `rank ${rank.rank} (process ${rank.child.pid}) ${how}, so all ${ended.length} processes ended; ` +
    `--resume goes on from the last checkpoint, with as many processes as you like${words ? `\n  rank ${rank.rank} said: ${words}` : ''}`
  );
}

/**
 * Trains in the group that the environment names, or alone. Other ranks than 0 follow; `lead` is for rank 0. All have
 * to agree on `terms`.
 */
export async function inGroup(
  lead: (replicas: Replicas) => Promise<unknown>,
  terms: () => Promise<GroupConfig>,
): Promise<void> {
  const { Replicas } = await import('@hidden-schema/hsn/train/replicas');
  const { RankLostError } = await import('@hidden-schema/torch');
  const { placeOf } = await import('@hidden-schema/torch/distributed/place');
  const { Group } = await import('@hidden-schema/torch/distributed/group');
  const place = placeOf(process.env);
  if (!place || place.size === 1) {
    await lead(Replicas.alone);
    return;
  }
  let group: Awaited<ReturnType<typeof Group.open>> | undefined;
  try {
    group = await Group.open(place, { terms: await terms() });
    const replicas = new Replicas(group);
    if (group.rank === 0) await lead(replicas);
    else await followUntilStopped(replicas);
  } catch (error) {
    if (!(error instanceof RankLostError)) {
      group?.fail(`ended: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
    if (process.env[LAUNCHED] === undefined) throw error;
    // The parent, which saw who ended and how, says so.
    process.exitCode = LOST_CODE;
  } finally {
    group?.close();
  }
}

async function followUntilStopped(replicas: Replicas): Promise<void> {
  const { followTraining } = await import('@hidden-schema/hsn/driver/prepared');
  const stop = new AbortController();
  const ask = () => stop.abort();
  for (const signal of STOP_SIGNALS) process.once(signal, ask);
  process.once('disconnect', ask);
  process.channel?.unref();
  await followTraining(replicas, stop.signal);
}
