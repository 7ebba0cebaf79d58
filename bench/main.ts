import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Bench, BenchOptions } from './measure.ts';

/** Every benchmark by the name that runs it; a new one is a module with `run` and a line here. */
const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  engine: () => import('./engine.ts'),
  walk: () => import('./walk.ts'),
};

const usage = `usage: npm run -s bench -- <${[...Object.keys(benches), 'all'].join('|')}> [--threads N] [--rounds N]`;

class UsageError extends Error {}

function wholeNumber(name: string, given: string | undefined, otherwise: number): number {
  const value = given === undefined ? otherwise : Number(given);
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`--${name} takes a whole number from 1, got ${given}`);
  return value;
}

function readArguments(): { names: string[]; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { threads: { type: 'string' }, rounds: { type: 'string' } },
  });
  if (positionals.length === 0) throw new UsageError('name a benchmark');
  const names = positionals.includes('all') ? Object.keys(benches) : positionals;
  for (const name of names)
    if (!(name in benches)) throw new UsageError(`there is no benchmark named ${name}`);
  const threads = wholeNumber('threads', values.threads, availableParallelism());
  const rounds = wholeNumber('rounds', values.rounds, 9);
  return { names, options: { threads, rounds, environment: { ...process.env } } };
}

async function main(): Promise<void> {
  const { names, options } = readArguments();
  for (const name of names) {
    const bench = await benches[name]!();
    for await (const measurement of bench.run(options))
      process.stdout.write(`${JSON.stringify(measurement)}\n`);
  }
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
