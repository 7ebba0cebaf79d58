import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Random, splitmix64 } from '@hidden-schema/base';
import { BatchOrder } from '@hidden-schema/text';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  degrees,
  edgeCount,
  GRAPH_KINDS,
  type GraphKind,
  hasEdge,
  randomGraph,
} from '../src/tasks/synthetic/corpus/graphs.ts';
import { readSyntheticCorpus } from '../src/tasks/synthetic/corpus/reader.ts';
import {
  drawLanguage,
  SentenceSampler,
  SYNTHETIC_DEFAULTS,
  type SyntheticSettings,
  splitCounts,
} from '../src/tasks/synthetic/corpus/synthetic.ts';
import { writeSyntheticCorpus } from '../src/tasks/synthetic/corpus/writer.ts';

let folder: string;
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-corpus-'));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const seeds = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

describe('Random', () => {
  /** xoshiro128** as its authors publish it, from a state. */
  function* published(state: readonly number[]): Generator<number> {
    const s = Uint32Array.from(state);
    const rotl = (x: number, k: number) => (x << k) | (x >>> (32 - k));
    for (;;) {
      yield Math.imul(rotl(Math.imul(s[1]!, 5), 7), 9) >>> 0;
      const t = s[1]! << 9;
      s[2]! ^= s[0]!;
      s[3]! ^= s[1]!;
      s[1]! ^= s[2]!;
      s[0]! ^= s[3]!;
      s[2]! ^= t;
      s[3] = rotl(s[3]!, 11);
    }
  }

  test('is xoshiro128** seeded by splitmix64: published reference outputs', () => {
    const outputs = published([1, 2, 3, 4]);
    expect(Array.from({ length: 10 }, () => outputs.next().value)).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ]);
    expect(splitmix64(0x9e3779b97f4a7c15n)).toBe(0xe220a8397b1dcdafn);
    fc.assert(
      fc.property(seeds, (seed) => {
        const words = [1n, 2n].flatMap((half) => {
          const word = splitmix64(BigInt(seed) + half * 0x9e3779b97f4a7c15n);
          return [Number(word & 0xffffffffn), Number(word >> 32n)];
        });
        const [random, reference] = [new Random(seed), published(words)];
        for (let i = 0; i < 20; i++) expect(random.bits()).toBe(reference.next().value);
      }),
    );
  });

  test('streams and seeds differ; a bad seed is refused', () => {
    const first = new Set<number>();
    for (let seed = 0; seed < 50; seed++) {
      for (let stream = 0; stream < 50; stream++) first.add(new Random(seed, stream).next());
    }
    expect(first.size).toBe(2500);
    expect(() => new Random(-1)).toThrow('seed must be a whole number from 0 to 2^53 - 1, got -1');
  });

  test('moments: uniform, integers, normal', () => {
    const random = new Random(5);
    const n = 40_000;
    const counts = new Int32Array(7);
    let [sum, normal, squares] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const u = random.next();
      if (u < 0 || u >= 1) throw new Error(`next() gave ${u}`);
      sum += u;
      counts[random.int(7)]!++;
      const z = random.normal();
      normal += z;
      squares += z * z;
    }
    // Five standard errors of each estimate.
    expect(Math.abs(sum / n - 0.5)).toBeLessThan(5 / Math.sqrt(12 * n));
    expect(Math.abs(normal / n)).toBeLessThan(5 / Math.sqrt(n));
    expect(Math.abs(squares / n - 1)).toBeLessThan(5 * Math.sqrt(2 / n));
    for (const count of counts) expect(Math.abs(count - n / 7)).toBeLessThan(5 * Math.sqrt(n / 7));
  });

  test('shuffle gives each permutation equally often', () => {
    const random = new Random(8);
    const seen = new Map<string, number>();
    for (let i = 0; i < 12_000; i++) {
      const key = random.shuffle([0, 1, 2]).join('');
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    expect(seen.size).toBe(6);
    for (const count of seen.values()) expect(Math.abs(count - 2000)).toBeLessThan(5 * Math.sqrt(2000));
  });
});

describe('random graphs', () => {
  test('are symmetric, without loops or isolated nodes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...GRAPH_KINDS),
        fc.integer({ min: 8, max: 40 }),
        seeds,
        (kind, nodes, seed) => {
          const { adjacency, reconnected } = randomGraph(kind, nodes, {}, new Random(seed));
          for (let i = 0; i < nodes; i++) {
            expect(hasEdge(adjacency, i, i)).toBe(false);
            for (let j = 0; j < i; j++) expect(hasEdge(adjacency, i, j)).toBe(hasEdge(adjacency, j, i));
          }
          expect(Math.min(...degrees(adjacency))).toBeGreaterThan(0);
          if (kind === 'barabasi') expect(edgeCount(adjacency)).toBe(3 * (nodes - 3));
          if (kind === 'watts') expect(edgeCount(adjacency)).toBe(3 * nodes);
          if (kind === 'barabasi' || kind === 'watts') expect(reconnected).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("have the models' edge counts", () => {
    const edges = (kind: GraphKind, nodes: number) => {
      const random = new Random(11);
      const draws = Array.from({ length: 20 }, () =>
        edgeCount(randomGraph(kind, nodes, {}, random).adjacency),
      );
      return draws.reduce((sum, count) => sum + count, 0) / draws.length;
    };
    expect(edges('barabasi', 100)).toBe(291);
    expect(Math.abs(edges('erdos', 100) - 4950 * 0.5)).toBeLessThan(5 * Math.sqrt((4950 * 0.25) / 20));
    // Four blocks of 25: 1200 pairs inside, 3750 between.
    const [mean, variance] = [1200 * 0.3 + 3750 * 0.01, 1200 * 0.21 + 3750 * 0.0099];
    expect(Math.abs(edges('blocks', 100) - mean)).toBeLessThan(5 * Math.sqrt(variance / 20));
  });

  test('barabasi prefers high degrees; watts without rewiring is the ring', () => {
    const degree = degrees(randomGraph('barabasi', 300, {}, new Random(2)).adjacency);
    expect(Math.max(...degree)).toBeGreaterThan(25);
    const ring = randomGraph('watts', 12, { neighbours: 4, rewire: 0 }, new Random(1)).adjacency;
    for (let i = 0; i < 12; i++) {
      for (let j = 0; j < 12; j++) {
        const apart = Math.min((i - j + 12) % 12, (j - i + 12) % 12);
        expect(hasEdge(ring, i, j)).toBe(apart === 1 || apart === 2);
      }
    }
  });

  test('isolated nodes are linked and named', () => {
    const { adjacency, reconnected } = randomGraph('erdos', 6, { probability: 0 }, new Random(3));
    expect(reconnected).toEqual([0, 1, 2, 3, 4, 5]);
    expect(Math.min(...degrees(adjacency))).toBe(1);
  });
});

const settings: fc.Arbitrary<SyntheticSettings> = fc
  .record({
    graph: fc.constantFrom(...GRAPH_KINDS),
    nodes: fc.integer({ min: 8, max: 30 }),
    tokens: fc.integer({ min: 90, max: 200 }),
    bag: fc.integer({ min: 1, max: 3 }),
    disjoint: fc.boolean(),
    length: fc.integer({ min: 2, max: 12 }),
    sentences: fc.integer({ min: 1, max: 60 }),
    seed: seeds,
  })
  .map((drawn) => ({ ...SYNTHETIC_DEFAULTS, ...drawn }));

describe('synthetic language', () => {
  test('walks are walks on the graph and tokens come from the bags', () => {
    fc.assert(
      fc.property(settings, (drawn) => {
        const language = drawLanguage(drawn);
        const { tokens, walks } = new SentenceSampler(language, drawn).next(drawn.sentences);
        expect(walks.length).toBe(drawn.sentences * drawn.length);
        for (let at = 0; at < walks.length; at++) {
          const node = walks[at]!;
          expect(language.bags.subarray(node * drawn.bag, (node + 1) * drawn.bag)).toContain(tokens[at]);
          if (at % drawn.length > 0) expect(hasEdge(language.adjacency, walks[at - 1]!, node)).toBe(true);
        }
        expect(new Set(language.vocabulary).size).toBe(drawn.tokens);
        expect(language.vocabulary.every((token) => /^[A-Z]{3}$/.test(token))).toBe(true);
        if (drawn.disjoint) expect(new Set(language.bags).size).toBe(drawn.nodes * drawn.bag);
        const sets = Array.from({ length: drawn.nodes }, (_, node) =>
          language.bags
            .slice(node * drawn.bag, (node + 1) * drawn.bag)
            .sort()
            .join(' '),
        );
        expect(new Set(sets).size).toBe(drawn.nodes);
      }),
      { numRuns: 40 },
    );
  });

  test('starts, steps and tokens are uniform', () => {
    const drawn = { ...SYNTHETIC_DEFAULTS, nodes: 8, tokens: 30, length: 2, seed: 6 };
    const language = drawLanguage(drawn);
    const n = 40_000;
    const { tokens, walks } = new SentenceSampler(language, drawn).next(n);
    const degree = degrees(language.adjacency);
    const steps = new Float64Array(64);
    let firstTokens = 0;
    for (let row = 0; row < n; row++) {
      steps[walks[2 * row]! * 8 + walks[2 * row + 1]!]!++;
      if (tokens[2 * row] === language.bags[2 * walks[2 * row]!]) firstTokens++;
    }
    for (let i = 0; i < 8; i++) {
      for (let j = 0; j < 8; j++) {
        const expected = hasEdge(language.adjacency, i, j) ? n / 8 / degree[i]! : 0;
        expect(Math.abs(steps[i * 8 + j]! - expected)).toBeLessThanOrEqual(5 * Math.sqrt(expected));
      }
    }
    expect(Math.abs(firstTokens - n / 2)).toBeLessThan(5 * Math.sqrt(n / 4));
  });

  test('split counts add up, and train never comes out empty', () => {
    expect(splitCounts(100_000, [70, 20, 10])).toEqual([70_000, 20_000, 10_000]);
    expect(splitCounts(11, [1, 1, 1])).toEqual([4, 4, 3]);
    const share = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        share,
        share,
        (n, a, b, c) => {
          const counts = splitCounts(n, [a, b, c]);
          expect(counts[0] + counts[1] + counts[2]).toBe(n);
          expect(counts[0]).toBeGreaterThanOrEqual(1);
          expect(Math.min(...counts)).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});

describe('written corpus', () => {
  const contents = (dir: string) =>
    fs
      .readdirSync(dir)
      .sort()
      .map((name) => [name, fs.readFileSync(path.join(dir, name), 'utf8')]);

  test('same seed, same bytes; another seed differs; reading gives back what was drawn', () => {
    let at = 0;
    fc.assert(
      fc.property(settings, (drawn) => {
        const name = () => path.join(folder, `case-${at++}`);
        const [one, two, other] = [name(), name(), name()];
        const record = writeSyntheticCorpus(drawn, one);
        writeSyntheticCorpus(drawn, two);
        writeSyntheticCorpus({ ...drawn, seed: (drawn.seed + 1) % Number.MAX_SAFE_INTEGER }, other);
        expect(contents(two)).toEqual(contents(one));
        expect(contents(other)).not.toEqual(contents(one));
        const language = drawLanguage(drawn);
        const read = readSyntheticCorpus(one);
        expect(readSyntheticCorpus(two).fingerprint).toBe(read.fingerprint);
        expect(readSyntheticCorpus(other).fingerprint).not.toBe(read.fingerprint);
        expect(read.truth).toEqual(language.adjacency);
        expect(read.generator).toEqual(record);
        expect(read.length).toBe(drawn.length);
        const sentences = new SentenceSampler(language, drawn).next(drawn.sentences);
        const { train, valid, test } = read.splits;
        expect([...train.walks!, ...valid.walks!, ...test.walks!]).toEqual([...sentences.walks]);
        const words = [...train.tokens, ...valid.tokens, ...test.tokens].map(
          (token) => read.vocabulary[token],
        );
        expect(words).toEqual(Array.from(sentences.tokens, (token) => language.vocabulary[token]));
        expect(read.notes).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  test('more sentences leave graph and bags as they are', () => {
    const drawn = { ...SYNTHETIC_DEFAULTS, nodes: 20, sentences: 10 };
    expect(drawLanguage({ ...drawn, sentences: 50, length: 5 })).toEqual(drawLanguage(drawn));
  });

  test('a killed writer leaves nothing behind: its partial folder goes with the next write', () => {
    const stale = path.join(folder, '.again.partial-2147483646');
    fs.mkdirSync(stale);
    writeSyntheticCorpus({ ...SYNTHETIC_DEFAULTS, sentences: 10 }, path.join(folder, 'again'));
    expect(fs.existsSync(stale)).toBe(false);
  });

  test('an unwritable place is one clear error', () => {
    const file = path.join(folder, 'file');
    fs.writeFileSync(file, '');
    const tiny = { ...SYNTHETIC_DEFAULTS, sentences: 1 };
    expect(() => writeSyntheticCorpus(tiny, file)).toThrow(/file is a file; expected a folder/);
    expect(() => writeSyntheticCorpus(tiny, path.join(file, 'below'))).toThrow(
      /cannot write the corpus to .*nothing was changed there/,
    );
  });
});

const orderOf = (count: number, batchSize: number, seed: number) =>
  new BatchOrder(
    Int32Array.from({ length: count }, (_, row) => row),
    { batchSize, seed },
  );

describe('BatchOrder', () => {
  const cases = fc.record({
    count: fc.integer({ min: 1, max: 200 }),
    size: fc.integer({ min: 1, max: 64 }),
    seed: seeds,
  });

  test('gives a row once an epoch, all but those of a short last batch, in an order of its own', () => {
    fc.assert(
      fc.property(cases, ({ count, size, seed }) => {
        const order = orderOf(count, size, seed);
        const given = count - (count % Math.min(count, size));
        const epochs = [0, 1].map((epoch) => {
          const rows: number[] = [];
          for (let index = 0; index < order.batchesPerEpoch; index++) {
            const batch = order.next();
            expect([batch.epoch, batch.index]).toEqual([epoch, index]);
            rows.push(...batch.rows);
          }
          expect([new Set(rows).size, rows.length]).toEqual([given, given]);
          expect(rows.every((row) => row >= 0 && row < count)).toBe(true);
          return rows;
        });
        if (given > 30) expect(epochs[0]).not.toEqual(epochs[1]);
      }),
    );
  });

  test('drops the short last batch; a corpus smaller than a batch is one batch', () => {
    const order = orderOf(70_000, 256, 1);
    expect(order.batchesPerEpoch).toBe(273);
    const small = orderOf(5, 256, 1);
    expect([small.batchesPerEpoch, small.next().rows.length, small.position()]).toEqual([
      1,
      5,
      { epoch: 1, batch: 0 },
    ]);
    expect(() => orderOf(0, 4, 1)).toThrow('batches: sentences must be a whole number of at least 1, got 0');
    expect(() => order.seek({ epoch: 0, batch: 273 })).toThrow('is outside an epoch of 273 batches');
  });

  test('seek equals running', () => {
    fc.assert(
      fc.property(cases, fc.nat(300), fc.nat(300), ({ count, size, seed }, run, before) => {
        const running = orderOf(count, size, seed);
        for (let step = 0; step < run; step++) running.next();
        const sought = orderOf(count, size, seed);
        for (let step = 0; step < before; step++) sought.next();
        sought.seek(JSON.parse(JSON.stringify(running.position())));
        for (let step = 0; step < 5; step++) expect(sought.next()).toEqual(running.next());
      }),
    );
  });
});
