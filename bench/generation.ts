import { Generator, randint, setThreads } from '@hidden-schema/torch';
import { Gpt2Decoder, generateSync } from '@hidden-schema/transformers';
import {
  type BenchOptions,
  inMemory,
  type Measurement,
  median,
  noTime,
  rateLine,
  secondsOf,
} from './measure.ts';
import { peakMB, resetPeak } from './peak-memory.ts';

const newTokens = 64;
/** Texts at once, and about how many seconds a round of both sides takes. */
const batches = [
  [1, 8],
  [8, 25],
  [32, 90],
] as const;

/** 64 new tokens from GPT-2 small with random weights, with the cache of keys and values and without. */
export async function* run({ rounds, threads, budget }: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(threads);
  const generator = new Generator(0);
  const decoder = new Gpt2Decoder({}, generator, { symbols: { symbols: 50 } });
  for (const [batch, roundSeconds] of batches) {
    const what = `generation, GPT-2 small, ${newTokens} new tokens, batch ${batch}, without cache (peer)`;
    if (!budget.fits(roundSeconds)) {
      yield noTime(what);
      continue;
    }
    resetPeak();
    const schema = randint(50, [batch, 5], generator).oneHot(50).to('float32');
    const prompts = Array.from({ length: batch }, () => [50256]);
    const seconds = (cached: boolean) =>
      secondsOf(() =>
        generateSync(decoder, { prompts, schema, maxNewTokens: newTokens, temperature: 0, cached }),
      );
    // The cached side warms up; a round of the other is long enough not to need it.
    seconds(true);
    const given: [number[], number[]] = [[], []];
    for (let round = 0; round < Math.min(rounds, 3); round++) {
      const pair = [seconds(true), seconds(false)] as const;
      for (const i of [0, 1] as const) given[i].push(pair[i]);
      if (!budget.fits(2 * (pair[0] + pair[1]))) break;
    }
    schema.free();
    const [cached, plain] = given.map((times) => (batch * newTokens) / median(times)) as [number, number];
    yield { ...rateLine(what, 'tokens/s', [cached, plain], 5), ...inMemory({ oursMB: peakMB() }) };
  }
  decoder.free();
}
