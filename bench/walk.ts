import { type BenchOptions, type Measurement, median, Peer } from './measure.ts';

/** The paper's synthetic setting: batch 256, L = 11, 2-block encoder of width 256. */
const sizes = { length: 11, vocabulary: 200, p: 0.2, batch: 256 };
/** The peer's encoder, which ours has by default. */
const encoder = { width: 256, heads: 2, hidden: 256, blocks: 2, dropout: 0.2 };
/** glibc settings under which the direct program does not give its memory back after every tensor. */
const tunedMalloc = {
  MALLOC_MMAP_MAX_: '0',
  MALLOC_TRIM_THRESHOLD_: '99999999999',
  MALLOC_TOP_PAD_: '67108864',
};

/** Medians of ours and a peer that take turns. */
async function turns(ours: Peer, peer: Peer | undefined, symbols: number, repeat: number, rounds: number) {
  const model = peer ? 'paper' : 'closed-form';
  const own: number[] = [];
  const theirs: number[] = [];
  let [ownMB, theirMB] = [0, 0];
  for (let round = 0; round <= rounds; round++) {
    const a = await ours.ask({ ...sizes, symbols, repeat, model });
    const b = await peer?.ask({ ...sizes, ...encoder, symbols, repeat: 1 });
    ownMB = a.peakMB!;
    theirMB = b?.peakMB ?? 0;
    if (round === 0) continue;
    own.push(a.seconds!);
    if (b) theirs.push(b.seconds!);
  }
  return { ours: median(own), peer: peer ? median(theirs) : null, ownMB, theirMB };
}

function line(bench: string, unit: string, ours: number, peer: number | null, least: number): Measurement {
  const ratio = peer === null ? null : peer / ours;
  const short = (value: number) => Number(value.toPrecision(4));
  return {
    bench,
    unit,
    ours: short(ours),
    peer: peer === null ? null : short(peer),
    ratio: ratio === null ? null : short(ratio),
    goal: `ratio >= ${least}`,
    met: ratio === null ? null : ratio >= least,
  };
}

/** Ratios 1 and 2 of one synthetic training step: against the direct program, and against ourselves as K grows. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  const rounds = Math.min(options.rounds, 3);
  yield* against('as it runs by default', options, rounds, {}, [100, 20], [400, 60]);
  yield* against('with its malloc tuned', options, rounds, tunedMalloc, [100, 6]);
  yield* growth(options, rounds);
}

async function* against(
  how: string,
  options: BenchOptions,
  rounds: number,
  malloc: Record<string, string>,
  ...cases: [symbols: number, goal: number][]
): AsyncGenerator<Measurement> {
  for (const [symbols, goal] of cases) {
    const ours = Peer.node('walk-step.ts', options);
    const environment = { ...options.environment, ...malloc };
    const peer = Peer.start('walk', { ...options, environment });
    const result = await turns(ours, peer, symbols, 3, symbols > 100 ? 1 : rounds);
    yield line(`walk step, K = ${symbols}, direct program ${how}`, 's', result.ours, result.peer, goal);
    if (peer)
      yield line(`walk memory, K = ${symbols}, direct program ${how}`, 'MB', result.ownMB, result.theirMB, 4);
    await Promise.all([ours.stop(), peer?.stop()]);
  }
}

async function* growth(options: BenchOptions, rounds: number): AsyncGenerator<Measurement> {
  const ours = Peer.node('walk-step.ts', options);
  const small = await turns(ours, undefined, 100, 3, rounds);
  const large = await turns(ours, undefined, 1000, 1, rounds);
  yield line('walk step, K = 1000 (ours) and four times K = 100 (peer)', 's', large.ours, 4 * small.ours, 1);
  const huge = await turns(ours, undefined, 2000, 1, 1);
  yield line('walk memory, K = 2000 (ours) and 4 GB (peer)', 'MB', huge.ownMB, 4096, 1);
  await ours.stop();
}
