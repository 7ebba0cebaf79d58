import { UserError } from '@hidden-schema/base';
import { type Generator, multinomial, noGrad, scope, type Tensor } from '@hidden-schema/torch';
import type { BegunWalks, FirstHalves, WalkPath } from './path/walk-path.ts';
import { walkTensor } from './walks.ts';

/** How second halves are chosen: the best symbol after symbol, drawn, or the best walks of a beam. */
export interface SearchOptions {
  how: 'greedy' | 'sample' | 'beam';
  /** Second halves of each first half; for greedy one. */
  count?: number;
  /** The symbols that every second half begins with. */
  along?: readonly number[];
  /** sample: divides the scores. */
  temperature?: number;
  generator?: Generator;
}

/** z_{L/2+1:L} with log p(z_{L/2+1:L}|z_{1:L/2}, s, r). */
export interface Continuation {
  second: number[];
  logProb: number;
}

function checkSearch({ how, count = 1, temperature = 1 }: SearchOptions): void {
  if (!Number.isInteger(count) || count < 1)
    throw new UserError(`the number of walks is a whole number from 1, got ${count}`);
  if (how === 'greedy' && count > 1)
    throw new UserError(`greedy search finds one walk, got a count of ${count}; choose beam or sample`);
  if (!(temperature > 0 && Number.isFinite(temperature)))
    throw new UserError(`the temperature of walks is a positive number, got ${temperature}`);
}

/** First halves at a time, so that a beam's contexts fit into memory. */
const atOnce = 32;

/** Goes on from first halves; answers in their order, the most probable first. */
export function continueWalks(path: WalkPath, halves: FirstHalves, options: SearchOptions): Continuation[][] {
  checkSearch(options);
  return eachBlock(path, halves, (begun, some) => search(begun, some, options));
}

/** log p(z_{L/2+1:L}|z_{1:L/2}, s, r) of given second halves, some of each first half. */
export function secondLogProbs(
  path: WalkPath,
  halves: FirstHalves,
  seconds: readonly (readonly (readonly number[])[])[],
): number[][] {
  return eachBlock(path, halves, (begun, some, at) =>
    some.map((_, of) => followed(begun, of, seconds[at + of]!)),
  );
}

/** What `read` gives for blocks of first halves, one block after the other; `at` is where a block begins. */
function eachBlock<T>(
  path: WalkPath,
  { rows, first, tokens }: FirstHalves,
  read: (begun: BegunWalks, some: FirstHalves['first'], at: number) => T[],
): T[] {
  path.train(false);
  const out: T[] = [];
  for (let at = 0; at < rows.length; at += atOnce) {
    const some = first.slice(at, at + atOnce);
    const begin = () => path.begin({ rows: rows.slice(at, at + atOnce), first: some, tokens });
    out.push(...scope(() => noGrad(() => read(begin(), some, at))));
  }
  return out;
}

/** log p of second halves of one first half, step after step. */
function followed(begun: BegunWalks, of: number, seconds: readonly (readonly number[])[]): number[] {
  const sums = seconds.map(() => 0);
  for (let step = 0; step < (seconds[0]?.length ?? 0); step++) {
    const owners = seconds.map(() => of);
    const before = seconds.map((second) => second.slice(0, step));
    const taken = walkTensor(seconds.map((second) => [second[step]!]));
    const gained = scope(() => begun.next(owners, before).gather(1, taken).toNumbers());
    for (const [i, more] of gained.entries()) sums[i]! += more;
  }
  return sums;
}

interface Beam extends Continuation {
  /** Which first half it goes on from. */
  of: number;
}

function search(begun: BegunWalks, first: FirstHalves['first'], options: SearchOptions): Continuation[][] {
  const copies = options.how === 'sample' ? (options.count ?? 1) : 1;
  let beams: Beam[] = first.flatMap((_, of) =>
    Array.from({ length: copies }, () => ({ of, second: [], logProb: 0 })),
  );
  const { along = [] } = options;
  for (let step = 0; step < first[0]!.length; step++)
    beams = scope(() =>
      step < along.length ? led(begun, beams, along[step]!) : extended(begun, beams, first.length, options),
    );
  return first.map((_, of) =>
    beams
      .filter((beam) => beam.of === of)
      .sort((a, b) => b.logProb - a.logProb)
      .map(({ second, logProb }) => ({ second, logProb })),
  );
}

/** The same symbol for every beam, at what it costs. */
function led(begun: BegunWalks, beams: readonly Beam[], symbol: number): Beam[] {
  const gained = nextOf(begun, beams).select(1, symbol).toNumbers();
  return beams.map(({ of, second, logProb }, i) => ({
    of,
    second: [...second, symbol],
    logProb: logProb + gained[i]!,
  }));
}

/** log p of each beam's next symbol. [beams, K] */
const nextOf = (begun: BegunWalks, beams: readonly Beam[]): Tensor =>
  begun.next(
    beams.map(({ of }) => of),
    beams.map(({ second }) => second),
  );

/** One symbol more for every beam. */
function extended(begun: BegunWalks, beams: readonly Beam[], firsts: number, options: SearchOptions): Beam[] {
  const logs = nextOf(begun, beams);
  if (options.how === 'sample') return drawn(beams, logs, options);
  return best(beams, logs, firsts, options.how === 'beam' ? (options.count ?? 1) : 1);
}

function drawn(beams: readonly Beam[], logs: Tensor, { temperature = 1, generator }: SearchOptions): Beam[] {
  if (!generator) throw new TypeError('drawing walks needs a generator');
  const chosen = multinomial(logs.div(temperature).softmax(-1), 1, generator); // [beams, 1]
  const nodes = chosen.toNumbers();
  const gained = logs.gather(1, chosen).toNumbers();
  return beams.map(({ of, second, logProb }, i) => ({
    of,
    second: [...second, nodes[i]!],
    logProb: logProb + gained[i]!,
  }));
}

/** The `count` most probable of all beams that go on from a first half. */
function best(beams: readonly Beam[], logs: Tensor, firsts: number, count: number): Beam[] {
  const width = Math.min(count, logs.dim(1));
  const { values, indices } = logs.topk(width);
  const [gained, nodes] = [values.toNumbers(), indices.toNumbers()];
  const grown: Beam[][] = Array.from({ length: firsts }, () => []);
  for (const [i, { of, second, logProb }] of beams.entries())
    for (let k = i * width; k < (i + 1) * width; k++)
      grown[of]!.push({ of, second: [...second, nodes[k]!], logProb: logProb + gained[k]! });
  return grown.flatMap((some) => some.sort((a, b) => b.logProb - a.logProb).slice(0, count));
}
