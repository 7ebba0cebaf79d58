import fs from 'node:fs';
import { Random } from '@hidden-schema/base';
import { tinyLanguage } from '@hidden-schema/testing/tiny-texts';
import { trainByteBpe } from '@hidden-schema/text';
import { Generator, scope, setThreads } from '@hidden-schema/torch';
import { Group } from '@hidden-schema/torch/distributed/group';
import { placeOf } from '@hidden-schema/torch/distributed/place';
import { chooseSymbols } from '../src/discovery/choose.ts';
import { walkCounts } from '../src/discovery/encode.ts';
import { fitDictionary, fitStages, type StageRecord } from '../src/discovery/fit.ts';
import { ownPart, pointsAt } from '../src/discovery/point-source.ts';
import { fitSharedSpace } from '../src/discovery/point-space.ts';
import { type SparseRows, toPoints } from '../src/discovery/points.ts';
import { countsOf, RowSpool } from '../src/discovery/scratch.ts';
import { storedVectors } from '../src/discovery/vectors/vector-store.ts';
import { openTextEncoder } from '../src/tasks/language/build.ts';
import { Replicas } from '../src/train/replicas.ts';
import { plantedPoints } from './planted-points.ts';

/** Texts to discover symbols in. */
export interface RankCase {
  name: string;
  texts: number;
  atoms: number;
  symbols: number;
  /** Bytes of points in memory; the rest is read from disk. */
  memory?: number;
  /** Whether points are wide enough for later symbols to stand out. */
  wide?: boolean;
  /** Points among which symbols are found at the most. */
  mostDiffused?: number;
  seeds?: number;
  /** Whether the number of symbols is chosen too. */
  choose?: boolean;
}

export interface RankResult {
  symbols: number[];
  starts: number[];
  cutoffs: number[];
  links: number[];
  /** How many walks are on each symbol at each step, and have stayed there. */
  steps: number[][];
  stays: number[][];
  stages: StageRecord[];
  chosen?: number;
  onDisk: boolean;
  own: number;
}

/** Counts of a few words for the texts from `first` to `end`: their subject's, and one by chance. */
function wordCounts(first: number, end: number, subjects: readonly number[]): SparseRows {
  const indices: number[] = [];
  for (let n = first; n < end; n++) {
    const random = new Random(n);
    const words = new Set([3 * subjects[n]!, 3 * subjects[n]! + random.int(3), random.int(40)]);
    indices.push(...[...words].sort((a, b) => a - b), 40 + (n % 2));
  }
  const lengths = Array.from({ length: end - first }, (_, at) => {
    const random = new Random(first + at);
    const base = 3 * subjects[first + at]!;
    return new Set([base, base + random.int(3), random.int(40)]).size + 1;
  });
  const indptr = new Int32Array(lengths.length + 1);
  for (const [at, length] of lengths.entries()) indptr[at + 1] = indptr[at]! + length;
  return {
    columns: 42,
    indptr,
    indices: Int32Array.from(indices),
    values: new Float32Array(indices.length).fill(1),
  };
}

/** Discovers symbols in this process's part of planted texts. */
export async function discoverCase(one: RankCase, replicas: Replicas): Promise<RankResult> {
  const { texts: count, atoms, symbols } = one;
  const planted = plantedPoints(count, atoms, one.wide ? { width: 256, noise: 0.01 } : {});
  const part = ownPart(count, replicas);
  const own = planted.points.narrow(0, part.first, part.end - part.first);
  const counts = wordCounts(
    part.first,
    part.end,
    planted.walks.map(([first]) => first!),
  );
  const vectors = () => (own.dim(0) > 0 ? [own] : []);
  const words = { ...countsOf(counts), texts: count };
  const given = { count, width: own.dim(1), vectors, words };
  const space = fitSharedSpace(given, { wordDimensions: 8 }, replicas);
  const width = own.dim(1) + space.words!.mean.dim(0);
  const memory = one.memory === undefined ? {} : { memory: one.memory };
  const points = new RowSpool({ count, width, ...part, ...memory });
  if (own.dim(0) > 0) scope(() => points.add(toPoints(space, own, counts)));
  const asked = Array.from({ length: one.seeds ?? 0 }, (_, n) => n);
  const stages: StageRecord[] = [];
  const { discovered } = await fitDictionary(points, {
    ...{ symbols, length: Math.min(3, symbols), seed: 3, clusterRounds: 3, replicas },
    ...(asked.length > 0 ? { seeds: pointsAt(points, asked, replicas) } : {}),
    ...(one.mostDiffused === undefined ? {} : { mostDiffused: one.mostDiffused }),
    onStage: (record) => stages.push(record),
  });
  const chosen = one.choose
    ? { chosen: chooseSymbols(points, { seed: 1, fewest: 48, replicas }).symbols }
    : {};
  const walked = walkCounts(discovered, points, replicas);
  const [steps, stays] = [walked.steps, walked.stays].map((rows) => rows.map((row) => [...row]));
  const { onDisk } = points;
  points.free();
  return {
    ...{ steps: steps!, stays: stays!, stages, ...chosen, onDisk, own: part.end - part.first },
    symbols: discovered.symbols.toNumbers(),
    starts: discovered.starts.toNumbers(),
    cutoffs: discovered.cutoffs.toNumbers(),
    links: discovered.linkProbabilities.toNumbers(),
  };
}

export interface EncodedByRanks {
  vectors: number[];
  /** Texts that this process encoded itself. */
  encoded: number;
}

/** Texts in files of three as vectors, with a cache of this process's own. */
export async function encodeCase(replicas: Replicas, cache: string): Promise<EncodedByRanks> {
  const texts = Array.from({ length: 20 }, (_, n) => `the ${'cat mat hat '.repeat(1 + (n % 3))}${n}`);
  const opened = await openTextEncoder(
    tinyLanguage(),
    trainByteBpe(['the cat sat on the mat'], 280),
    new Generator(1),
  );
  let encoded = 0;
  const { encodeBatch } = opened.tokenizer;
  opened.tokenizer.encodeBatch = (some, options) => {
    encoded += some.length;
    return encodeBatch.call(opened.tokenizer, some, options);
  };
  const list = { count: texts.length, slice: (first: number, end: number) => texts.slice(first, end) };
  const parts = Array.from({ length: 7 }, (_, at) => (at < 6 ? 3 : 2));
  const stored = await storedVectors(list, opened, { longest: 16, cache, parts, replicas });
  const vectors = stored.rows(Array.from(texts.keys())).toNumbers();
  stored.free();
  return { vectors, encoded };
}

/** A fit that only rank 0 is asked to stop, after each stage in turn: what each process says, stage by stage. */
export async function stopCase(group: Group): Promise<string[]> {
  const replicas = new Replicas(group);
  const count = 300;
  const part = ownPart(count, replicas);
  const points = new RowSpool({ count, width: 64, ...part });
  points.add(plantedPoints(count, 6).points.narrow(0, part.first, part.end - part.first));
  const said: string[] = [];
  for (const last of fitStages.slice(0, 3)) {
    const stop = new AbortController();
    const fitting = fitDictionary(points, {
      ...{ symbols: 6, length: 3, replicas: new Replicas(group), signal: stop.signal },
      onStage: ({ stage }) => {
        if (stage === last && replicas.leads) stop.abort(new Error('asked to stop'));
      },
    });
    said.push(
      await fitting.then(
        () => 'went on',
        () => 'stopped',
      ),
    );
  }
  points.free();
  return said;
}

/** As a rank of its own: cases from a file, results to another. */
async function main([cases, results, cache]: string[]): Promise<void> {
  setThreads(1);
  const group = await Group.open(placeOf(process.env)!);
  try {
    const replicas = new Replicas(group);
    const found: RankResult[] = [];
    for (const one of JSON.parse(fs.readFileSync(cases!, 'utf8')) as RankCase[])
      found.push(await discoverCase(one, replicas));
    const encoded = await encodeCase(replicas, `${cache}-${group.rank}`);
    const stopped = await stopCase(group);
    fs.writeFileSync(`${results}-${group.rank}.json`, JSON.stringify({ found, encoded, stopped }));
  } finally {
    group.close();
  }
}

if (process.env.RANK !== undefined) await main(process.argv.slice(2));
