import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Random } from '@hidden-schema/base';
import { Replicas, SYNTHETIC_DEFAULTS, writeSyntheticCorpus } from '@hidden-schema/hsn';
import { Generator, randn, scope, setThreads } from '@hidden-schema/torch';
import { freePort } from '@hidden-schema/torch/distributed/place';
import { languageConfigSchema } from '../packages/hsn/src/config/language.ts';
import { cosineBins, scoreBins } from '../packages/hsn/src/discovery/cutoffs.ts';
import { unitRows } from '../packages/hsn/src/discovery/dictionary.ts';
import { fitDictionary, type fitStages } from '../packages/hsn/src/discovery/fit.ts';
import { discoveryDefaults } from '../packages/hsn/src/discovery/options.ts';
import { RowSpool } from '../packages/hsn/src/discovery/scratch.ts';
import { sharedMeans } from '../packages/hsn/src/discovery/spherical-means.ts';
import { encodeTexts } from '../packages/hsn/src/discovery/vectors/text-vectors.ts';
import { openTextEncoder } from '../packages/hsn/src/tasks/language/build.ts';
import { trainByteBpe } from '../packages/text/src/index.ts';
import { type BenchOptions, costLine, type Measurement, median } from './measure.ts';

/**
 * Defaults of a run of texts: K, L, the width of a point with MiniLM and words; how many points are read, and among how many of
 * them symbols are found.
 */
export const sizes = { symbols: 50, length: 5, width: 534, read: 32_768, diffused: 8192, exchanged: 4096 };
/** Texts that are encoded at a time, and their words. */
const encoded = { texts: 128, words: 50 };

const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** What a text costs at each stage of a fit, in processor time, and what processes exchange: what docs/research/scaling.md calculates with. */
export async function* run({ threads, rounds }: BenchOptions): AsyncGenerator<Measurement> {
  setThreads(threads);
  yield costLine('encoding a text of 50 words, MiniLM', 'ms', [1000 * (await encodeCost(rounds)), null]);
  for (const [where, memory] of [
    ['memory', Number.POSITIVE_INFINITY],
    ['disk', 0],
  ] as const) {
    const { stages, round } = await stageCosts(memory);
    const { neighbours, symbols, cutoffs, links } = stages;
    const { diffused } = sizes;
    const line = (what: string, seconds: number) =>
      costLine(`${what}, a text, points in ${where}`, 'µs', [1e6 * seconds, null]);
    yield line(`neighbours among ${diffused}`, neighbours / diffused);
    yield line(`symbols among ${diffused}`, symbols / diffused);
    yield line('cutoffs', cutoffs / sizes.read);
    yield line('walks and links', links / sizes.read);
    yield line('round of clusters', round / sizes.read);
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

type Stage = (typeof fitStages)[number];

/** Processor seconds of each stage, and of a round of k-means over all points. */
async function stageCosts(memory: number): Promise<{ stages: Record<Stage, number>; round: number }> {
  const { symbols, length, width, read, diffused } = sizes;
  const points = new RowSpool({ count: read, width, first: 0, end: read, memory });
  scope(() => points.add(unitRows(randn([read, width], new Generator(1)))));
  const stages = { neighbours: 0, symbols: 0, cutoffs: 0, links: 0 };
  let before = processorSeconds();
  await fitDictionary(points, {
    ...{ symbols, length, mostDiffused: diffused },
    onStage: ({ stage }) => {
      stages[stage] = processorSeconds() - before;
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
  const round = ((await means(7)) - (await means(1))) / 6;
  points.free();
  return { stages, round };
}

/** What a stage hands to the group: sums go both ways between two processes, what is broadcast one way. */
interface Handed {
  summed: number;
  broadcast: number;
}

/** The same from the shapes of what is handed, in bytes. */
function handed(): Record<Stage, Handed> {
  const { symbols: K, width: S, exchanged: n } = sizes;
  const { neighbours } = discoveryDefaults;
  return {
    neighbours: { summed: 4 * n * S + 2 * 8 * n * neighbours, broadcast: 0 },
    symbols: { summed: 0, broadcast: 2 * 4 * K * S },
    cutoffs: { summed: 8 * (cosineBins * K + scoreBins), broadcast: 0 },
    links: { summed: 8 * (2 * K * K + 2), broadcast: 4 * K * K },
  };
}

interface Exchanged {
  stages: { stage: Stage; bytes: number; wire: number }[];
  training: { parameters: number; wire: number };
}

/** What two processes hand to their group, and what of it goes over the wire. */
async function* exchanged(): AsyncGenerator<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'hsn-scaling-'));
  try {
    const corpus = join(folder, 'corpus');
    writeSyntheticCorpus({ ...SYNTHETIC_DEFAULTS, sentences: 2000, length: 11 }, corpus);
    const { stages, training } = await twoRanks(corpus);
    const shapes = handed();
    for (const { stage, bytes, wire } of stages) {
      const { summed, broadcast } = shapes[stage];
      const what = `stage ${stage} of ${sizes.exchanged} texts`;
      yield costLine(`${what} hands to the group (ours), from shapes (peer)`, 'bytes', [
        bytes,
        summed + broadcast,
      ]);
      yield costLine(`${what}, 2 processes on the wire (ours), from shapes (peer)`, 'bytes', [
        wire,
        2 * summed + broadcast,
      ]);
    }
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
