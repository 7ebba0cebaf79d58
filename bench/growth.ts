import { stepProfile } from './language.ts';
import {
  type BenchOptions,
  costLine,
  inMemory,
  type Measurement,
  median,
  noTime,
  rateLine,
} from './measure.ts';
import { Peer } from './peer.ts';
import { walkSizes } from './walk.ts';

/** Numbers of symbols, and the seconds that must be left: the largest comes only where all others have their time. */
const sizes = [
  [100, 6],
  [300, 6],
  [1000, 10],
  [2000, 15],
  [5000, 100],
] as const;
/** Sizes of the goal alone. */
const goalSizes = sizes.filter(([symbols]) => symbols === 100 || symbols === 1000);
const models = [
  { name: 'closed-form', request: { model: 'closed-form' }, sizes },
  // As a training has it after the sweeps: three links a symbol, as many as the paper's graph has.
  { name: 'closed-form, 3 links a symbol', request: { model: 'closed-form', links: 3 }, sizes: goalSizes },
  { name: 'paper', request: { model: 'paper' }, sizes },
];

interface Point {
  symbols: number;
  seconds: number;
  peakMB: number;
  gflop: number;
}

/** One size in a process of its own, so that its memory is its own. */
async function measure(options: BenchOptions, model: object, symbols: number): Promise<Point> {
  const ours = Peer.node('walk-step.ts', options);
  const request = { ...walkSizes, symbols, ...model };
  const rounds = symbols > 1000 ? 1 : Math.min(options.rounds, 5);
  const seconds: number[] = [];
  let peakMB = 0;
  for (let round = 0; round <= rounds; round++) {
    const answer = await ours.ask({ ...request, repeat: symbols > 300 ? 1 : 3 });
    if (round > 0) seconds.push(answer.seconds!);
    peakMB = answer.peakMB!;
  }
  const { gflop } = await ours.ask({ ...request, do: 'count', repeat: 1 });
  await ours.stop();
  return { symbols, seconds: median(seconds), peakMB, gflop: gflop! };
}

/** Slope of log y over log x by least squares: y grows as x to this power. */
export function growthExponent(points: readonly (readonly [x: number, y: number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const mean = (i: 0 | 1) => logs.reduce((sum, pair) => sum + pair[i], 0) / logs.length;
  const [mx, my] = [mean(0), mean(1)];
  const cross = logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return cross / logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

/** How time and memory of a synthetic step grow with the number of symbols, all else equal. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  for (const { name, request, sizes } of models) {
    const points: Point[] = [];
    for (const [symbols, seconds] of sizes) {
      const what = `growth, ${name}, K = ${symbols}`;
      if (!options.budget.fits(seconds)) {
        yield noTime(what);
        continue;
      }
      const point = await measure(options, request, symbols);
      points.push(point);
      const memory = inMemory({ oursMB: point.peakMB });
      yield { ...costLine(`${what}, one step`, 's', [point.seconds, null]), ...memory };
      yield rateLine(`${what}, products`, 'GFLOP/s', [point.gflop / point.seconds, null]);
    }
    yield* summary(name, points);
  }
}

function* summary(model: string, points: readonly Point[]): Generator<Measurement> {
  const at = (symbols: number) => points.find((point) => point.symbols === symbols);
  const [small, large, huge] = [at(100), at(1000), at(2000)];
  const what = `K = 1000 (ours), four times K = 100 (peer), ${model}`;
  if (small && large) {
    const memory = inMemory({ oursMB: large.peakMB, peerMB: small.peakMB });
    yield { ...costLine(what, 's', [large.seconds, 4 * small.seconds], 1), ...memory, list: 5 };
  } else yield noTime(what, 5);
  if (huge) yield costLine(`memory at K = 2000 (ours), 4 GB (peer), ${model}`, 'MB', [huge.peakMB, 4096], 1);
  if (points.length < 3) return;
  const exponent = growthExponent(points.map(({ symbols, seconds }) => [symbols, seconds]));
  const largest = points.at(-1)!.symbols;
  yield costLine(`exponent of time over K from 100 to ${largest}, ${model}`, 'power of K', [exponent, null]);
}

/** Where the time of a step goes at K = 1000. */
export function profile(options: BenchOptions): Promise<string> {
  return stepProfile(
    'walk-step.ts',
    { ...walkSizes, symbols: 1000, model: 'closed-form', repeat: 1 },
    options,
  );
}
