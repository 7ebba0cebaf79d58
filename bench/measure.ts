import { setTimeout as settle } from 'node:timers/promises';
import type { Budget } from './budget.ts';
import { peakMB, resetPeak } from './peak-memory.ts';
import type { Peer } from './peer.ts';

export interface BenchOptions {
  /** Threads of ours and of the peer. */
  readonly threads: number;
  /** Count processor time, all threads, in place of the clock's; only `encoding` can. */
  readonly processorTime?: boolean | undefined;
  /** How often ours and the peer take turns; medians are reported. */
  readonly rounds: number;
  /** A text whose sentences' lengths the language benchmark takes, a sentence a line. */
  readonly corpus?: string;
  /** The Python of the peers; without one, ours is measured alone. */
  readonly python?: string;
  /** Where peers that are no Python's are installed; without it there are none. */
  readonly peersFolder?: string;
  /** The time that is left: rounds are fewer where it is short, and what finds none is left out. */
  readonly budget: Budget;
  /** The commit that `versions` compares today's with. */
  readonly old?: string;
  /** The environment as it was given, before the engine tunes its own threads: the peer runs as a user runs it. */
  readonly environment: NodeJS.ProcessEnv;
}

/** One printed line. `ratio` above 1 means that ours is faster. */
export interface Measurement {
  readonly bench: string;
  readonly unit: string;
  /** null where nothing was measured; `note` says why. */
  readonly ours: number | null;
  readonly peer: number | null;
  readonly ratio: number | null;
  /** `none` where the line only tells. */
  readonly goal: string;
  /** null where there is no goal, or it needs a peer and there is none. */
  readonly met: boolean | null;
  /** Most memory that ours and the peer had meanwhile. */
  readonly oursMB?: number;
  readonly peerMB?: number;
  /** What a reader has to know: left out for time, failed, measured at another size than the goal asks. */
  readonly note?: string;
  /** The number in the list of goals (bench/README.md) that it answers. */
  readonly list?: number;
}

export interface Bench {
  run(options: BenchOptions): AsyncGenerator<Measurement>;
  /** Says where the time of ours goes, as text; for goals that are missed. */
  profile?(options: BenchOptions): Promise<string>;
}

/** A line for what was not measured. */
export function unmeasured(bench: string, note: string, about: Partial<Measurement> = {}): Measurement {
  return { bench, unit: '', ours: null, peer: null, ratio: null, goal: 'none', met: null, ...about, note };
}

export const noTime = (bench: string, list?: number): Measurement =>
  unmeasured(bench, 'left out: no time for it in this budget', list === undefined ? {} : { list });

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

/** Seconds of a body, by the clock or of the processor. */
export async function spentOn(
  { processorTime }: Pick<BenchOptions, 'processorTime'>,
  body: () => void | Promise<void>,
): Promise<number> {
  const [start, spent] = [performance.now(), process.cpuUsage()];
  await body();
  const { user, system } = process.cpuUsage(spent);
  return processorTime ? (user + system) / 1e6 : (performance.now() - start) / 1000;
}

export interface Comparison {
  readonly bench: string;
  readonly unit: string;
  /** How a unit is made from seconds: a time as factor·seconds, a throughput as factor/seconds. */
  readonly scale: { readonly time: number } | { readonly throughput: number };
  /** What counts: the ratio to the peer, or a bound on our own number. */
  readonly goal: { readonly ratio: number } | { readonly atMost: number } | 'none';
  readonly rounds: number;
  /** Rounds end when this runs out, after one at least. */
  readonly budget?: Budget;
  readonly list?: number;
  /** Seconds of one round. */
  ours(): number | Promise<number>;
  peer?: (() => Promise<number>) | undefined;
  /** The process whose memory is the peer's. */
  readonly beside?: Peer | undefined;
}

/** OpenBLAS's threads spin for some 30 ms after a product, on the cores that the other side needs. */
const settleMs = 60;

/** Lets ours and the peer take turns, because machines are noisy, and compares the medians. */
export async function compare(given: Comparison): Promise<Measurement> {
  const [ours, peer]: [number[], number[]] = [[], []];
  resetPeak();
  given.beside?.resetPeak();
  // Round 0 warms caches, threads and the compiler up and is not counted.
  for (let round = 0; round <= given.rounds; round++) {
    const began = performance.now();
    await settle(settleMs);
    const own = await given.ours();
    await settle(settleMs);
    const theirs = await given.peer?.();
    if (round === 0) continue;
    ours.push(own);
    if (theirs !== undefined) peer.push(theirs);
    if (given.budget && !given.budget.fits((performance.now() - began) / 1000)) break;
  }
  const memory = { oursMB: peakMB(), ...(given.beside ? { peerMB: given.beside.peakMB() } : {}) };
  return { ...summarise(given, median(ours), peer.length > 0 ? median(peer) : null), ...inMemory(memory) };
}

/** Megabytes as a line tells them. */
export const inMemory = (memory: { oursMB?: number; peerMB?: number }): typeof memory =>
  Object.fromEntries(Object.entries(memory).map(([side, value]) => [side, Math.round(value)]));

function summarise(given: Comparison, ours: number, peer: number | null): Measurement {
  const { scale, goal } = given;
  const inUnit = (seconds: number) => ('time' in scale ? scale.time * seconds : scale.throughput / seconds);
  const ratio = peer === null ? null : peer / ours;
  return {
    bench: given.bench,
    unit: given.unit,
    ours: rounded(inUnit(ours)),
    peer: peer === null ? null : rounded(inUnit(peer)),
    ratio: ratio === null ? null : rounded(ratio),
    ...reached(goal, inUnit(ours), ratio),
    ...(given.list === undefined ? {} : { list: given.list }),
  };
}

function reached(
  goal: Comparison['goal'],
  ours: number,
  ratio: number | null,
): Pick<Measurement, 'goal' | 'met'> {
  if (goal === 'none') return { goal, met: null };
  if ('atMost' in goal) return { goal: `ours <= ${goal.atMost}`, met: ours <= goal.atMost };
  return { goal: `ratio >= ${goal.ratio}`, met: ratio === null ? null : ratio >= goal.ratio };
}

export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/** A number of ours and of the peer, where there is one. */
type Sides = readonly [ours: number, peer: number | null];

/** A line of numbers at hand where less is better: times, megabytes. Without a goal it only tells. */
export function costLine(bench: string, unit: string, sides: Sides, least?: number): Measurement {
  const [ours, peer] = sides;
  return { bench, unit, ...told(sides, peer === null ? null : peer / ours, least) };
}

/** The same where more is better: throughputs, shares. */
export function rateLine(bench: string, unit: string, sides: Sides, least?: number): Measurement {
  const [ours, peer] = sides;
  return { bench, unit, ...told(sides, peer === null ? null : ours / peer, least) };
}

function told([ours, peer]: Sides, ratio: number | null, least: number | undefined) {
  return {
    ours: rounded(ours),
    peer: peer === null ? null : rounded(peer),
    ratio: ratio === null ? null : rounded(ratio),
    goal: least === undefined ? 'none' : `ratio >= ${least}`,
    met: least === undefined || ratio === null ? null : ratio >= least,
  };
}

/** A line of a number that has a bound of its own, and no peer. */
export function boundLine(bench: string, unit: string, ours: number, most: number): Measurement {
  const met = ours <= most;
  return { bench, unit, ours: rounded(ours), peer: null, ratio: null, goal: `ours <= ${most}`, met };
}
