import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startExplorer } from '@hidden-schema/explorer';
import { whenOpened } from '../packages/explorer/test/requests.ts';
import { makeSmallLanguage } from '../packages/explorer/test/small-language.ts';
import { type BenchOptions, type Measurement, median, unmeasured } from './measure.ts';

const CONNECTIONS = 64;
/** They take turns, since machines are noisy; medians are reported. */
const ROUNDS = 2;
const SECONDS = { warm: 3, alone: 3, full: 6 };

/** Posts one sentence again and again; says 99th percentile, requests and errors in a line of its own. */
const script = `wrk.method = "POST"
wrk.body = '{"text":"the cat was too salty"}'
wrk.headers["Content-Type"] = "application/json"
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %f %d %d\\n", latency:percentile(99.0) / 1000, summary.requests,
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;

interface Load {
  /** 99th percentile, milliseconds. */
  p99: number;
  requests: number;
  errors: number;
}

async function load(url: string, connections: number, seconds: number, file: string): Promise<Load> {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', file];
  const child = spawn('wrk', [...args, `${url}api/encode`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (part: Buffer) => {
    said += part.toString();
  });
  await once(child, 'close');
  const found = /RESULT ([\d.]+) (\d+) (\d+)/.exec(said);
  if (!found) throw new Error(`wrk gave no figures: ${said.slice(-300)}`);
  const [p99, requests, errors] = found.slice(1).map(Number) as [number, number, number];
  if (requests === 0) throw new Error('no request was answered in time: the machine is too busy to measure');
  return { p99, requests, errors };
}

const rounded = (value: number): number => Number(value.toPrecision(4));
const megabytes = (): number => process.memoryUsage().rss / 1e6;

/** `/api/encode` under 64 connections beside one request alone, and what memory does meanwhile. */
export async function* run(_: BenchOptions): AsyncGenerator<Measurement> {
  if (spawnSync('wrk', ['-v'], { stdio: 'ignore' }).error) {
    yield unmeasured('load', 'left out: wrk is missing; install it (Debian: apt install wrk)');
    return;
  }
  const file = path.join(os.tmpdir(), `hsn-load-${process.pid}.lua`);
  fs.writeFileSync(file, script);
  const small = await makeSmallLanguage();
  const explorer = await startExplorer({ run: small.run });
  try {
    await whenOpened(explorer.url);
    yield* lines(await loaded(explorer.url, file));
  } finally {
    await explorer.close();
    small.remove();
    fs.rmSync(file, { force: true });
  }
}

interface Loads {
  alone: Load[];
  full: Load[];
  grownMB: number;
}

async function loaded(url: string, file: string): Promise<Loads> {
  // Caches and the allocator's arenas fill first.
  await load(url, CONNECTIONS, SECONDS.warm, file);
  const before = megabytes();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, megabytes());
  }, 100);
  const [alone, full]: [Load[], Load[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await load(url, 1, SECONDS.alone, file));
    full.push(await load(url, CONNECTIONS, SECONDS.full, file));
  }
  clearInterval(timer);
  return { alone, full, grownMB: rounded(peak - before) };
}

function* lines({ alone, full, grownMB }: Loads): Generator<Measurement> {
  const total = (of: 'requests' | 'errors') => full.reduce((sum, one) => sum + one[of], 0);
  const told = `${total('requests')} requests, ${total('errors')} errors`;
  const typical = (loads: readonly Load[]) => median(loads.map(({ p99 }) => p99));
  const [ours, peer] = [typical(full), typical(alone)];
  yield {
    ...{ bench: `load: p99 of /api/encode, ${CONNECTIONS} connections beside one (${told})`, unit: 'ms' },
    ...{ ours: rounded(ours), peer: rounded(peer), ratio: rounded(ours / peer) },
    // One worker answers in turn, so that each waits for all others at most, and a little more.
    ...{ goal: `ratio <= ${2 * CONNECTIONS}, no errors` },
    met: ours / peer <= 2 * CONNECTIONS && total('errors') === 0,
  };
  yield {
    ...{ bench: `load: memory grown under ${CONNECTIONS} connections`, unit: 'MB', ours: grownMB },
    ...{ peer: null, ratio: null, goal: 'ours <= 100', met: grownMB <= 100 },
  };
}
