import type { Budget } from './budget.ts';
import { type BenchOptions, costLine, inMemory, type Measurement, median, noTime } from './measure.ts';
import { Peer } from './peer.ts';

/** The paper's synthetic setting: batch 256, L = 11, 2-block encoder of width 256. */
export const walkSizes = { length: 11, vocabulary: 200, p: 0.2, batch: 256 };
/** The peer's encoder, which ours has by default. */
const encoder = { width: 256, heads: 2, hidden: 256, blocks: 2, dropout: 0.2 };
/** glibc settings under which the direct program does not give its memory back after every tensor. */
const tunedMalloc = {
  MALLOC_MMAP_MAX_: '0',
  MALLOC_TRIM_THRESHOLD_: '99999999999',
  MALLOC_TOP_PAD_: '67108864',
};

interface Side {
  seconds: number;
  peakMB: number;
  /** Megabytes of the program before it has a model. */
  idleMB: number;
}

function middle(answers: readonly Record<string, number>[]): Side {
  const last = answers.at(-1)!;
  return { seconds: median(answers.map((a) => a.seconds!)), peakMB: last.peakMB!, idleMB: last.idleMB! };
}

/** Medians of ours and a peer that take turns. */
async function turns(
  [ours, peer]: readonly [Peer, Peer | undefined],
  symbols: number,
  rounds: number,
  budget: Budget,
) {
  const own: Record<string, number>[] = [];
  const theirs: Record<string, number>[] = [];
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const began = performance.now();
    const a = await ours.ask({ ...walkSizes, symbols, repeat: 3, model: 'paper' });
    const b = await peer?.ask({ ...walkSizes, ...encoder, symbols, repeat: 1 });
    const enough = budget.fits((performance.now() - began) / 1000);
    // Where there is no time for another, the first must do.
    if (round === 0 && enough) continue;
    own.push(a);
    if (b) theirs.push(b);
    if (!enough) break;
  }
  return { ours: middle(own), peer: peer && middle(theirs) };
}

/** One synthetic training step against the direct program. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  const [plain, tuned] = ['as it runs by default', 'with its malloc tuned'];
  yield* against({ how: plain, malloc: {} }, options, 100, 20);
  yield* against({ how: tuned, malloc: tunedMalloc }, options, 100, 6);
  yield* against({ how: plain, malloc: {} }, options, 400, 60);
}

/** How the direct program is started. */
interface Start {
  how: string;
  malloc: Record<string, string>;
}

async function* against(
  { how, malloc }: Start,
  options: BenchOptions,
  symbols: number,
  goal: number,
): AsyncGenerator<Measurement> {
  const [isLarge, what] = [symbols > 100, `K = ${symbols}, direct program ${how}`];
  if (!options.budget.fits(isLarge ? 90 : 8)) {
    yield noTime(`walk step, ${what}`);
    return;
  }
  const own = Peer.node('walk-step.ts', options);
  const direct = Peer.start('walk', { ...options, environment: { ...options.environment, ...malloc } });
  const rounds = isLarge ? 1 : Math.min(options.rounds, 3);
  const sides = await turns([own, direct], symbols, rounds, options.budget.next(isLarge ? 1 : 3));
  yield* lines(sides, what, goal);
  await Promise.all([own.stop(), direct?.stop()]);
}

function* lines(
  { ours, peer }: Awaited<ReturnType<typeof turns>>,
  what: string,
  goal: number,
): Generator<Measurement> {
  const memory = inMemory({ oursMB: ours.peakMB, ...(peer ? { peerMB: peer.peakMB } : {}) });
  yield { ...costLine(`walk step, ${what}`, 's', [ours.seconds, peer?.seconds ?? null], goal), ...memory };
  yield costLine(`walk memory, ${what}`, 'MB', [ours.peakMB, peer?.peakMB ?? null], 4);
  // The two runtimes alone, Node with libtorch and Python with libtorch, take 220 to 280 MB each.
  const above = (side: Side) => side.peakMB - side.idleMB;
  const theirs = peer ? above(peer) : null;
  yield costLine(`walk memory above the idle program, ${what}`, 'MB', [above(ours), theirs], 4);
}
