import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as settle } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chooseBlasCore } from '../packages/torch/src/processor.ts';

export interface BenchOptions {
  /** Threads of ours and of the peer. */
  readonly threads: number;
  /** How often ours and the peer take turns; medians are reported. */
  readonly rounds: number;
  /** A text whose sentences' lengths the language benchmark takes, a sentence a line. */
  readonly corpus?: string;
  /** The commit that `versions` compares today's with. */
  readonly old?: string;
  /** The environment as it was given, before the engine tunes its own threads: the peer runs as a user runs it. */
  readonly environment: NodeJS.ProcessEnv;
}

/** One printed line. `ratio` above 1 means that ours is faster. */
export interface Measurement {
  readonly bench: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: number | null;
  readonly ratio: number | null;
  /** `none` where the line only tells. */
  readonly goal: string;
  /** null where there is no goal, or it needs a peer and there is none. */
  readonly met: boolean | null;
}

export interface Bench {
  run(options: BenchOptions): AsyncGenerator<Measurement>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function secondsOf(body: () => void): number {
  const start = process.hrtime.bigint();
  body();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

export interface Comparison {
  readonly bench: string;
  readonly unit: string;
  /** How a unit is made from seconds: a time as factor·seconds, a throughput as factor/seconds. */
  readonly scale: { readonly time: number } | { readonly throughput: number };
  /** What counts: the ratio to the peer, or a bound on our own number. */
  readonly goal: { readonly ratio: number } | { readonly atMost: number };
  readonly rounds: number;
  /** Seconds of one round. */
  ours(): number;
  peer?: () => Promise<number>;
}

/** OpenBLAS's threads spin for some 30 ms after a product, on the cores that the other side needs. */
const settleMs = 60;

/** Lets ours and the peer take turns, because machines are noisy, and compares the medians. */
export async function compare(given: Comparison): Promise<Measurement> {
  const [ours, peer]: [number[], number[]] = [[], []];
  // Round 0 warms caches, threads and the compiler up and is not counted.
  for (let round = 0; round <= given.rounds; round++) {
    await settle(settleMs);
    const own = given.ours();
    await settle(settleMs);
    const theirs = await given.peer?.();
    if (round === 0) continue;
    ours.push(own);
    if (theirs !== undefined) peer.push(theirs);
  }
  return summarise(given, median(ours), given.peer ? median(peer) : null);
}

function summarise(given: Comparison, ours: number, peer: number | null): Measurement {
  const { scale, goal } = given;
  const inUnit = (seconds: number) => ('time' in scale ? scale.time * seconds : scale.throughput / seconds);
  const ratio = peer === null ? null : peer / ours;
  const met = 'atMost' in goal ? inUnit(ours) <= goal.atMost : ratio === null ? null : ratio >= goal.ratio;
  return {
    bench: given.bench,
    unit: given.unit,
    ours: rounded(inUnit(ours)),
    peer: peer === null ? null : rounded(inUnit(peer)),
    ratio: ratio === null ? null : rounded(ratio),
    goal: 'atMost' in goal ? `ours <= ${goal.atMost}` : `ratio >= ${goal.ratio}`,
    met,
  };
}

export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** A line of numbers at hand where less is better: times, megabytes. Without a goal it only tells. */
export function costLine(
  bench: string,
  unit: string,
  ours: number,
  peer: number | null,
  least?: number,
): Measurement {
  return told(bench, unit, [ours, peer], peer === null ? null : peer / ours, least);
}

/** The same where more is better: throughputs, shares. */
export function rateLine(
  bench: string,
  unit: string,
  ours: number,
  peer: number | null,
  least?: number,
): Measurement {
  return told(bench, unit, [ours, peer], peer === null ? null : ours / peer, least);
}

function told(
  bench: string,
  unit: string,
  [ours, peer]: readonly [number, number | null],
  ratio: number | null,
  least: number | undefined,
): Measurement {
  return {
    bench,
    unit,
    ours: rounded(ours),
    peer: peer === null ? null : rounded(peer),
    ratio: ratio === null ? null : rounded(ratio),
    goal: least === undefined ? 'none' : `ratio >= ${least}`,
    met: least === undefined || ratio === null ? null : ratio >= least,
  };
}

/** The first Python that has torch: the one in the path, or the system's. */
function findPython(): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', 'import torch'], { stdio: 'ignore' }).status === 0,
  );
}

function besideThis(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** A program that answers one JSON line for each JSON line: Python's under bench/peers, or one of ours. */
export class Peer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(command: string, args: readonly string[], { threads, environment }: BenchOptions) {
    const count = String(threads);
    const env = {
      ...environment,
      OMP_NUM_THREADS: count,
      OPENBLAS_NUM_THREADS: count,
      MKL_NUM_THREADS: count,
    };
    // Both sides multiply with the same kernel, or the ratio would tell about OpenBLAS alone.
    chooseBlasCore(env);
    this.#child = spawn(command, [...args, count], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env,
    });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** Starts the peer, or says what to install and returns nothing. */
  static start(name: string, options: BenchOptions): Peer | undefined {
    const python = findPython();
    if (python === undefined) {
      process.stderr.write(
        'no peer: no python3 can import torch; install PyTorch (Debian: apt install python3-torch)\n',
      );
      return undefined;
    }
    return new Peer(python, [besideThis(`peers/${name}.py`)], options);
  }

  /** A TypeScript program of this folder in a process of its own, where its peak of memory is its own too. */
  static node(script: string, options: BenchOptions): Peer {
    return new Peer(process.execPath, ['--import', 'tsx', besideThis(script)], options);
  }

  async ask(request: Readonly<Record<string, unknown>>): Promise<Record<string, number>> {
    this.#child.stdin!.write(`${JSON.stringify(request)}\n`);
    const line = await this.#lines.next();
    if (line.done) throw new Error(`the peer ended while it did ${JSON.stringify(request)}`);
    return JSON.parse(line.value) as Record<string, number>;
  }

  async seconds(request: Readonly<Record<string, unknown>>): Promise<number> {
    const { seconds } = await this.ask(request);
    if (seconds === undefined) throw new Error(`the peer gave no time for ${JSON.stringify(request)}`);
    return seconds;
  }

  async stop(): Promise<void> {
    this.#child.stdin!.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}
