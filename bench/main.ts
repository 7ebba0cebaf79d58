import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { UserError } from '@hidden-schema/base';
import { chooseBlasCore } from '../packages/torch/src/processor.ts';
import { Budget } from './budget.ts';
import { benches } from './catalogue.ts';
import type { BenchOptions, Measurement } from './measure.ts';
import { installOnnx } from './onnx-peer.ts';
import { defaultPeersFolder, type PeerKind, peerKinds, peerPython } from './peers.ts';

const usage = `usage: npm run -s bench -- <name …|all|profile name>
names: ${Object.keys(benches).join(', ')}
  --peers pip|debian      install the peers first: pip's PyTorch, sentence-transformers and BERTopic in a folder of
                          their own, or Debian's python3-torch
  --peers-folder FOLDER   that folder, or a virtual environment that is there (default: bench-peers in the cache)
  --no-peers              measure ours alone
  --budget MINUTES        all: end within so many minutes (default 40); fewer rounds, and less, where they are few
  --threads N  --rounds N  --corpus FILE
  --processor-time        encoding: count processor time of both sides, for machines that do other work too
  --old COMMIT            versions: the commit that today's is compared with
  --libtorch pip|FOLDER   build the engine for the peers' PyTorch, or the libtorch of a folder, and measure that
  --write                 put what was measured into the table of docs/research/performance.md, in place of what it had of these`;

class UsageError extends Error {}

const flags = {
  threads: { type: 'string' },
  rounds: { type: 'string' },
  corpus: { type: 'string' },
  old: { type: 'string' },
  peers: { type: 'string' },
  'peers-folder': { type: 'string' },
  'no-peers': { type: 'boolean' },
  python: { type: 'string' },
  budget: { type: 'string' },
  libtorch: { type: 'string' },
  write: { type: 'boolean' },
  'processor-time': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof flags; allowPositionals: true }>>['values'];

function positive(name: string, given: string | undefined, whole: boolean): number | undefined {
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!(value > 0 && Number.isFinite(value)) || (whole && !Number.isInteger(value)))
    throw new UsageError(`--${name} takes a ${whole ? 'whole ' : ''}number above 0, got ${given}`);
  return value;
}

function peersOf(values: Values): Pick<BenchOptions, 'python' | 'peersFolder'> {
  const { peers, 'peers-folder': given } = values;
  if (peers !== undefined && !(peerKinds as readonly string[]).includes(peers))
    throw new UsageError(`--peers takes ${peerKinds.join(' or ')}, got ${peers}`);
  if (values['no-peers']) return {};
  const peersFolder = given ?? defaultPeersFolder();
  // A run of all tells its benches which Python it found, or that it found none.
  const python =
    values.python === undefined
      ? peerPython(peers as PeerKind | undefined, peersFolder, given !== undefined)
      : values.python || undefined;
  if (peers === 'pip') installOnnx(peersFolder);
  return { peersFolder, ...(python === undefined ? {} : { python }) };
}

async function optionsOf(values: Values): Promise<Omit<BenchOptions, 'budget'>> {
  const threads = positive('threads', values.threads, true) ?? availableParallelism();
  const rounds = positive('rounds', values.rounds, true) ?? 9;
  const { corpus, libtorch, old } = values;
  const peers = peersOf(values);
  const environment = { ...process.env };
  if (libtorch !== undefined) {
    const { addonFor } = await import('./libtorch.ts');
    environment.HSN_ADDON = await addonFor(libtorch, peers.python);
    // Also here: a bench that is named runs in this process.
    process.env.HSN_ADDON = environment.HSN_ADDON;
  }
  return {
    threads,
    rounds,
    ...(values['processor-time'] ? { processorTime: true } : {}),
    ...peers,
    ...(corpus === undefined ? {} : { corpus }),
    ...(old === undefined ? {} : { old }),
    environment,
  };
}

/** A kernel that the environment names slows ours down where it is an older one, and not peers that have their own products. */
function warnOfBlasCore({ OPENBLAS_CORETYPE: given }: NodeJS.ProcessEnv): void {
  const own: NodeJS.ProcessEnv = {};
  chooseBlasCore(own);
  const { OPENBLAS_CORETYPE: best } = own;
  if (given === undefined || best === undefined || given.toUpperCase() === best) return;
  process.stderr.write(
    `OPENBLAS_CORETYPE is ${given}, where the engine would take ${best}; measure without it: env -u OPENBLAS_CORETYPE npm run …\n`,
  );
}

function checkNames(names: readonly string[]): void {
  for (const name of names)
    if (!(name in benches)) throw new UsageError(`there is no benchmark named ${name}`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: flags });
  if (values.help) return void process.stdout.write(`${usage}\n`);
  const [first, ...others] = positionals;
  if (first === undefined) throw new UsageError('name a benchmark');
  if (first === 'all' && others.length > 0) throw new UsageError('"all" stands alone');
  checkNames(first === 'all' ? [] : first === 'profile' ? others : positionals);
  if (values.write && first === 'profile') throw new UsageError('--write goes with benchmarks');
  const minutes = positive('budget', values.budget, false);
  const options = await optionsOf(values);
  warnOfBlasCore(options.environment);
  if (first === 'all') return all(minutes ?? 40, options, values.write ?? false);
  const limited = { ...options, budget: new Budget(minutes === undefined ? undefined : minutes * 60) };
  if (first === 'profile') return profiles(others, limited);
  await some(positionals, limited, values.write ?? false);
}

/** Benchmarks by name, in this process. */
async function some(names: readonly string[], options: BenchOptions, write: boolean): Promise<void> {
  const told: { name: string; measurements: Measurement[] }[] = [];
  for (const name of names) {
    const bench = await benches[name]!.load();
    const measurements: Measurement[] = [];
    told.push({ name, measurements });
    for await (const measurement of bench.run(options)) {
      process.stdout.write(`${JSON.stringify(measurement)}\n`);
      measurements.push(measurement);
    }
  }
  if (!write) return;
  const { describeRun, writeResults } = await import('./report.ts');
  writeResults(told, describeRun(names.join(' '), options));
}

async function all(minutes: number, options: Omit<BenchOptions, 'budget'>, write: boolean): Promise<void> {
  const { runAll } = await import('./unattended.ts');
  const told = await runAll(minutes, { ...options, budget: new Budget(minutes * 60) });
  if (!write) return;
  const { describeRun, writeResults } = await import('./report.ts');
  writeResults(told, describeRun(`all --budget ${minutes}`, options));
}

async function profiles(names: readonly string[], options: BenchOptions): Promise<void> {
  for (const name of names) {
    const bench = await benches[name]!.load();
    if (!bench.profile)
      throw new UsageError(`${name} has no profile; these have one: ${(await withProfile()).join(', ')}`);
    process.stdout.write(await bench.profile(options));
  }
}

async function withProfile(): Promise<string[]> {
  const loaded = await Promise.all(
    Object.entries(benches).map(async ([name, { load }]) => [name, await load()] as const),
  );
  return loaded.flatMap(([name, { profile }]) => (profile ? [name] : []));
}

function isUsage(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    error instanceof UserError ||
    (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
  );
}

try {
  await main();
} catch (error) {
  if (!isUsage(error) && !(error instanceof UserError)) throw error;
  process.stderr.write(`${error.message}${isUsage(error) ? `\n${usage}` : ''}\n`);
  process.exitCode = 2;
}
