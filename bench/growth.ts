import { type BenchOptions, costLine, type Measurement, median, Peer, rateLine } from './measure.ts';
import { walkSizes } from './walk.ts';

const sizes = [100, 300, 1000, 2000, 5000];
const models = ['closed-form', 'paper'] as const;

interface Point {
  symbols: number;
  seconds: number;
  peakMB: number;
  gflop: number;
}

/** One size in a process of its own, so that its memory is its own. */
async function measure(options: BenchOptions, model: string, symbols: number): Promise<Point> {
  const ours = Peer.node('walk-step.ts', options);
  const request = { ...walkSizes, symbols, model };
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

/** Ratio 2: how time and memory of a synthetic step grow with the number of symbols, all else equal. */
export async function* run(options: BenchOptions): AsyncGenerator<Measurement> {
  for (const model of models) {
    const points: Point[] = [];
    for (const symbols of sizes) {
      const point = await measure(options, model, symbols);
      points.push(point);
      yield costLine(`growth, ${model}, K = ${symbols}, one step`, 's', point.seconds, null);
      yield costLine(`growth, ${model}, K = ${symbols}, memory`, 'MB', point.peakMB, null);
      yield rateLine(
        `growth, ${model}, K = ${symbols}, products`,
        'GFLOP/s',
        point.gflop / point.seconds,
        null,
      );
    }
    yield* summary(model, points);
  }
}

function* summary(model: string, points: readonly Point[]): Generator<Measurement> {
  const at = (symbols: number) => points.find((point) => point.symbols === symbols)!;
  const [small, large, huge] = [at(100), at(1000), at(2000)];
  yield costLine(
    `K = 1000 (ours), four times K = 100 (peer), ${model}`,
    's',
    large.seconds,
    4 * small.seconds,
    1,
  );
  yield costLine(`memory at K = 2000 (ours), 4 GB (peer), ${model}`, 'MB', huge.peakMB, 4096, 1);
  const exponent = growthExponent(points.map(({ symbols, seconds }) => [symbols, seconds]));
  yield costLine(`exponent of time over K from 100 to 5000, ${model}`, 'power of K', exponent, null);
}
