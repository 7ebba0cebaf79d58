import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Random } from '@hidden-schema/base';
import { Replicas, SYNTHETIC_DEFAULTS, writeSyntheticCorpus } from '@hidden-schema/hsn';
import { Generator, freePort, randn, scope, setThreads } from '@hidden-schema/torch';
import { languageConfigSchema } from '../packages/hsn/src/config/language.ts';
import { unitRows } from '../packages/hsn/src/discovery/dictionary.ts';
import { fitDictionary } from '../packages/hsn/src/discovery/fit.ts';
import { RowSpool } from '../packages/hsn/src/discovery/row-spool.ts';
import { sharedMeans } from '../packages/hsn/src/discovery/spherical-means.ts';
import { encodeTexts } from '../packages/hsn/src/discovery/text-vectors.ts';
import { openTextEncoder } from '../packages/hsn/src/tasks/language/build.ts';
import { trainByteBpe } from '../packages/text/src/index.ts';
import { type BenchOptions, costLine, type Measurement, median } from './measure.ts';

/** Defaults of a run of texts: K, L, the width of a point with MiniLM and words; and how many points are swept. */
export const sizes = { symbols: 50, length: 5, width: 534, swept: 32_768, exchanged: 4096 };
/** Texts that are encoded at a time, and their words. */
const encoded = { texts: 128, words: 50 };

const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** What a text and a sweep cost, in processor time, and what processes exchange: what docs/scaling.md calculates with. */
export async function* run({ threads, rounds }: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(threads);
  yield costLine('encoding a text of 50 words, MiniLM', 'ms', [1000 * (await encodeCost(rounds)), null]);
  for (const [where, memory] of [
    ['memory', Number.POSITIVE_INFINITY],
    ['disk', 0],
  ] as const) {
    const { free, linked, round } = await sweepCost(memory);
    yield costLine(`free sweep, a text, points in ${where}`, 'µs', [1e6 * free, null]);
    yield costLine(`sweep along links, a text, points in ${where}`, 'µs', [1e6 * linked, null]);
    yield costLine(`round of clusters, a text, points in ${where}`, 'µs', [1e6 * round, null]);
  }
  yield* exchanged();
}

async function encodeCost(rounds: number): Promise<number> {
  const config = languageConfigSchema.parse({ model: 'language' });
  const tokenizer = trainByteBpe(['some words'], 260);
  const opened = await openTextEncoder(config, tokenizer, new Generator(1));
  const random = new Random(1);
  const word = () => ['time', 'house', 'river', 'small', 'green', 'between', 'morning'][random.int(7)];
  const texts = Array.from({ length: encoded.texts }, () =>
    Array.from({ length: encoded.words }, word).join(' '),
  );
  const costs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const before = processorSeconds();
    (await encodeTexts(texts, opened, { longest: config.encoder.longest })).free();
    if (round > 0) costs.push((processorSeconds() - before) / texts.length);
  }
  return median(costs);
}

/** Processor seconds a text. */
async function sweepCost(memory: number): Promise<{ free: number; linked: number; round: number }> {
  const { symbols, length, width, swept } = sizes;
  const points = new RowSpool({ count: swept, width, first: 0, end: swept, memory });
  scope(() => points.add(unitRows(randn([swept, width], new Generator(1)))));
  const costs: number[] = [];
  let before = processorSeconds();
  await fitDictionary(points, {
    ...{ symbols, length, clusterRounds: 1, clusterStarts: 1 },
    onSweep: () => {
      costs.push((processorSeconds() - before) / swept);
      before = processorSeconds();
    },
  });
  const means = async (rounds: number) => {
    const start = processorSeconds();
    const options = { count: symbols, rounds, starts: 1, seedingPoints: 1000 };
    const shared = { replicas: Replicas.alone };
    (await sharedMeans(points, options, new Generator(1), shared)).free();
    return processorSeconds() - start;
  };
  const round = ((await means(7)) - (await means(1))) / (6 * swept);
  points.free();
  // Walks are whole from the fifth sweep on, and the tenth sets the links.
  return { free: median(costs.slice(4, 9)), linked: median(costs.slice(10)), round };
}

interface Exchanged {
  sweeps: { bytes: number; wire: number }[];
  training: { parameters: number; wire: number };
}

/** What two processes hand to their group, and what of it goes over the wire. */
async function* exchanged(): AsyncGenerator<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'hsn-scaling-'));
  try {
    const corpus = join(folder, 'corpus');
    writeSyntheticCorpus({ ...SYNTHETIC_DEFAULTS, sentences: 2000, length: 11 }, corpus);
    const { sweeps, training } = await twoRanks(corpus);
    const { symbols: K, width: S } = sizes;
    const last = sweeps.at(-1)!;
    const shapes = 8 * (K * S + 3 * K * K + K + 2) + 4 * K * S;
    yield costLine('a sweep hands to the group (ours), from shapes (peer)', 'bytes', [last.bytes, shapes]);
    // Two processes send a sum to each other, and a broadcast once.
    const sent = 2 * (shapes - 4 * K * S) + 4 * K * S;
    yield costLine('a sweep of 2 processes on the wire (ours), from shapes (peer)', 'bytes', [
      last.wire,
      sent,
    ]);
    yield costLine('a training step of 2 processes on the wire (ours), gradients alone (peer)', 'bytes', [
      training.wire,
      2 * 4 * training.parameters,
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function twoRanks(corpus: string): Promise<Exchanged> {
  const script = fileURLToPath(new URL('scaling-rank.ts', import.meta.url));
  const where = { WORLD_SIZE: '2', MASTER_ADDR: '127.0.0.1', MASTER_PORT: String(await freePort()) };
  const ranks = ['0', '1'].map((RANK) =>
    spawn(process.execPath, ['--import', 'tsx', script, corpus], {
      env: { ...process.env, ...where, RANK },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  let said = '';
  ranks[0]!.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ends = await Promise.all(ranks.map((rank) => once(rank, 'close')));
  if (ends.some(([code]) => code !== 0)) throw new Error('a rank of the benchmark failed');
  return JSON.parse(said) as Exchanged;
}
