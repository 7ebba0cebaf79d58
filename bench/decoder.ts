import { setThreads } from '@hidden-schema/torch';
import { stepProfile } from './language.ts';
import { type BenchOptions, inMemory, type Measurement, median, noTime, rateLine } from './measure.ts';
import { gemmPeak } from './peak.ts';
import { Peer } from './peer.ts';
import { batchAt, sentenceLengths } from './sentence-lengths.ts';

const sentences = 32;
/** Tokens of each sentence where all have one length. */
const oneLength = 32;

/** Batches as training makes them, and the share of the machine's best product that is asked of each. */
async function cases(corpus: string | undefined) {
  const lengths = await sentenceLengths(corpus);
  const real = [0.1, 0.3, 0.5, 0.7, 0.9].map((q) => batchAt(lengths, q, sentences));
  return [
    {
      name: `sentences of ${oneLength} tokens`,
      goal: 0.7,
      batches: [new Array<number>(sentences).fill(oneLength)],
    },
    { name: "sentences of the treebank's lengths", goal: 0.55, batches: real },
  ];
}

/** The share of the machine's best product that the decoder's stage reaches, the two taking turns. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(options.threads);
  const ours = Peer.node('decoder-step.ts', options);
  try {
    const all = await cases(options.corpus);
    for (const [at, { name, goal, batches }] of all.entries()) {
      const bench = `decoder's stage, GPT-2 small, ${sentences} ${name}: products (ours), the machine's best (peer)`;
      if (!options.budget.fits(8)) {
        yield noTime(bench, 6);
        continue;
      }
      const budget = options.budget.next(all.length - at);
      const [rate, best] = await measured(ours, batches, { ...options, budget });
      const memory = inMemory({ oursMB: ours.peakMB() });
      yield { ...rateLine(bench, 'GFLOP/s', [rate, best], goal), ...memory, list: 6 };
    }
  } finally {
    await ours.stop();
  }
}

/** GFLOP/s of ours and of the best product, medians of rounds. */
async function measured(
  ours: Peer,
  batches: readonly (readonly number[])[],
  { rounds, budget }: BenchOptions,
): Promise<[ours: number, best: number]> {
  let gflop = 0;
  for (const lengths of batches) gflop += (await ours.ask({ do: 'count', lengths })).gflop!;
  const [rates, bests]: [number[], number[]] = [[], []];
  for (let round = 0; round < Math.min(rounds, 5); round++) {
    const began = performance.now();
    bests.push(gemmPeak(5));
    let seconds = 0;
    for (const lengths of batches) seconds += await ours.seconds({ do: 'step', lengths });
    rates.push(gflop / seconds);
    if (!budget.fits((performance.now() - began) / 1000)) break;
  }
  return [median(rates), median(bests)];
}

/** Where the time of a step on sentences of real lengths goes. */
export async function profile(options: BenchOptions): Promise<string> {
  const [, real] = await cases(options.corpus);
  return stepProfile('decoder-step.ts', { lengths: real!.batches[2] }, options);
}
