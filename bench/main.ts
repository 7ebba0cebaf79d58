import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Bench, BenchOptions, Measurement } from './measure.ts';

/** Every benchmark by the name that runs it; a new one is a module with `run` and a line here. */
const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  distributed: () => import('./distributed.ts'),
  checkpoints: () => import('./checkpoints.ts'),
  engine: () => import('./engine.ts'),
  growth: () => import('./growth.ts'),
  language: () => import('./language.ts'),
  peak: () => import('./peak.ts'),
  walk: () => import('./walk.ts'),
  load: () => import('./load.ts'),
  frames: () => import('./frames.ts'),
  scaling: () => import('./scaling.ts'),
  sentences: () => import('./sentences.ts'),
};

const usage = `usage: npm run -s bench -- <${[...Object.keys(benches), 'all'].join('|')}> [--threads N] [--rounds N] [--corpus FILE]`;

class UsageError extends Error {}

function wholeNumber(name: string, given: string | undefined, otherwise: number): number {
  const value = given === undefined ? otherwise : Number(given);
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`--${name} takes a whole number from 1, got ${given}`);
  return value;
}

function readArguments(): { names: string[]; all: boolean; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { threads: { type: 'string' }, rounds: { type: 'string' }, corpus: { type: 'string' } },
  });
  if (positionals.length === 0) throw new UsageError('name a benchmark');
  const all = positionals.includes('all');
  const names = all ? Object.keys(benches) : positionals;
  for (const name of names)
    if (!(name in benches)) throw new UsageError(`there is no benchmark named ${name}`);
  const threads = wholeNumber('threads', values.threads, availableParallelism());
  const rounds = wholeNumber('rounds', values.rounds, 9);
  const { corpus } = values;
  const given = corpus === undefined ? {} : { corpus };
  return { names, all, options: { threads, rounds, ...given, environment: { ...process.env } } };
}

async function main(): Promise<void> {
  const { names, all, options } = readArguments();
  const measurements: Measurement[] = [];
  for (const name of names) {
    const bench = await benches[name]!();
    for await (const measurement of bench.run(options)) {
      process.stdout.write(`${JSON.stringify(measurement)}\n`);
      measurements.push(measurement);
    }
  }
  if (!all) return;
  // Only now: it loads the engine, which changes the environment that peers are to get.
  const { writeTable } = await import('./report.ts');
  writeTable(measurements, options);
}

function isUsage(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
  );
}

try {
  await main();
} catch (error) {
  if (!isUsage(error)) throw error;
  process.stderr.write(`${error.message}\n${usage}\n`);
  process.exitCode = 2;
}
