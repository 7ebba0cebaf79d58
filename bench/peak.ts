import { Generator, noGrad, rand, setThreads, zeros } from '@hidden-schema/torch';
import {
  type BenchOptions,
  costLine,
  inMemory,
  type Measurement,
  median,
  rateLine,
  secondsOf,
} from './measure.ts';
import { Peer } from './peer.ts';
import { walkSizes } from './walk.ts';

const order = 2048;
const bytes = 256 << 20;

/** Billions of operations per second of the best of some large products. */
export function gemmPeak(rounds: number): number {
  const generator = new Generator(0);
  const [a, b] = [rand([order, order], generator), rand([order, order], generator)];
  const times = Array.from({ length: rounds + 1 }, () => secondsOf(() => noGrad(() => a.matmul(b).free())));
  for (const tensor of [a, b]) tensor.free();
  return (2 * order ** 3) / Math.min(...times) / 1e9;
}

/** Gigabytes per second read and written by copies far larger than the caches. */
function bandwidth(rounds: number): number {
  const [from, to] = [zeros([bytes / 4]).add(1), zeros([bytes / 4])];
  const times = Array.from({ length: rounds + 1 }, () => secondsOf(() => noGrad(() => to.copy_(from))));
  for (const tensor of [from, to]) tensor.free();
  return (2 * bytes) / Math.min(...times) / 1e9;
}

/** What the machine can do at best, and the share of it that a training step reaches. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(options.threads);
  const peak = gemmPeak(options.rounds);
  yield rateLine(`machine: product of ${order}³`, 'GFLOP/s', [peak, null]);
  yield rateLine('machine: memory read and written by a copy', 'GB/s', [bandwidth(options.rounds), null]);
  yield* step(options, 'closed-form', 'the default', peak);
  yield* step(options, 'paper', "the paper's", peak);
}

async function* step(
  options: BenchOptions,
  model: string,
  name: string,
  peak: number,
): AsyncGenerator<Measurement> {
  const ours = Peer.node('walk-step.ts', options);
  const request = { ...walkSizes, symbols: 100, model, repeat: 5 };
  const seconds: number[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    seconds.push((await ours.ask(request)).seconds!);
    if (round > 0 && !options.budget.fits(2 * seconds.at(-1)! * request.repeat)) break;
  }
  const { gflop } = await ours.ask({ ...request, do: 'count' });
  const memory = inMemory({ oursMB: ours.peakMB() });
  await ours.stop();
  const typical = median(seconds.slice(1));
  const what = `synthetic training, ${name} model, K = 100`;
  yield rateLine(what, 'sentences/s', [walkSizes.batch / typical, null]);
  yield rateLine(`${what}: products (ours), peak (peer)`, 'GFLOP/s', [gflop! / typical, peak]);
  yield { ...costLine(`${what}: a step`, 's', [typical, null]), ...memory };
}
