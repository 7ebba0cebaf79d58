import { digits } from '@hidden-schema/testing/closeness';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { scope, Tensor, tensor } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { RunFiles } from '../src/run/run-files.ts';
import { ContextCounts, smoothed } from '../src/tasks/tuples/path/context-counts.ts';
import { CombinedPath } from '../src/tasks/tuples/path/continuation.ts';
import type { WalkPath } from '../src/tasks/tuples/path/walk-path.ts';
import { TrainedWalks } from '../src/tasks/tuples/trained-walks.ts';

const folder = temporaryFolder('counted-path');
afterAll(folder.remove);

describe('counts of second halves', () => {
  test('a level is its counts and four times the level above, over what is open', () => {
    const p = Float64Array.of(0.5, 0.5, 0);
    expect([...smoothed(p, new Map([[0, 4]]), 4)]).toEqual([0.75, 0.25, 0]);
    // What the graph rules out is counted nowhere.
    expect([...smoothed(p, new Map([[2, 4]]), 4)]).toEqual([0.5, 0.5, 0]);
  });

  test('without walks a step is even over the links; with many it is what followed there', () => {
    const counts = new ContextCounts(4);
    const open = [1, 2];
    const at = { relation: 0, first: [0, 3], second: [] };
    expect([...counts.probabilities(at, open)]).toEqual([0, 0.5, 0.5, 0]);
    for (let i = 0; i < 200; i++) counts.add(0, [0, 3, 1, 2]);
    const known = counts.probabilities(at, open);
    expect(known[1]).toBeGreaterThan(0.99);
    expect(known.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    // Another relation has the pair of symbols alone, and a first symbol that was never seen backs off.
    const other = counts.probabilities({ ...at, relation: 1 }, open);
    expect(other[1]).toBeGreaterThan(0.9);
    expect(other[1]).toBeLessThan(known[1]!);
    expect(counts.probabilities({ ...at, first: [2, 3] }, open)[1]).toBeGreaterThan(0.9);
  });

  test('by hand: one walk, one step', () => {
    const counts = new ContextCounts(3);
    counts.add(0, [0, 1, 2, 0]);
    // Five levels each add one count to four parts of the level above: 1 − p falls by 4/5 each time.
    const [, , p] = counts.probabilities({ relation: 0, first: [0, 1], second: [] }, [0, 2]);
    expect(p).toBeCloseTo(1 - 0.5 * 0.8 ** 5, 12);
  });
});

describe('path models together', () => {
  test('are the mean of their logs, made to sum to one', () => {
    const fixed = (rows: number[][]): WalkPath => ({
      begin: () => ({ next: () => tensor(rows).log() }),
      train: () => undefined,
      free: () => {},
    });
    const both = new CombinedPath([fixed([[0.5, 0.25, 0.25]]), fixed([[0.08, 0.82, 0.1]])]);
    const p = scope(() =>
      both
        .begin({ rows: Int32Array.of(0), first: [[0]] })
        .next([0], [[]])
        .exp()
        .toNumbers(),
    );
    const roots = [0.5 * 0.08, 0.25 * 0.82, 0.25 * 0.1].map(Math.sqrt);
    const sum = roots.reduce((a, b) => a + b);
    for (const [k, share] of p.entries()) expect(share).toBeCloseTo(roots[k]! / sum, 5);
  });
});

describe('training walks in a file', () => {
  const walks = () =>
    new TrainedWalks({
      events: ['PersonX goes home', 'PersonX sleeps'],
      objects: ['tired'],
      event: Int32Array.of(0, 1, 1),
      relation: Int32Array.of(0, 0, 1),
      object: Int32Array.of(0, 0, 0),
      walks: Int32Array.from(digits('01 12 20').flat()),
      vectors: tensor([
        [1, 0],
        [0.6, 0.8],
      ]),
    });
  const bounds = { relations: 2, symbols: 3, length: 2 };

  test('come back as they were, with their nearest events', () => {
    walks().save(new RunFiles(folder.path()));
    const read = TrainedWalks.load(new RunFiles(folder.path()), bounds);
    expect([read.count, read.length, read.events, [...read.walk(2)]]).toEqual([
      3,
      2,
      ['PersonX goes home', 'PersonX sleeps'],
      [2, 0],
    ]);
    const [near] = read.nearest(Tensor.fromArray(Float32Array.of(0, 1), [1, 2]), 5);
    expect([...near!.events]).toEqual([1, 0]);
    expect(near!.cosines[0]).toBeCloseTo(0.8, 6);
  });

  test.each([
    ['of more symbols than the network has', { ...bounds, symbols: 2 }],
    ['of other relations', { ...bounds, relations: 1 }],
    ['of another length', { ...bounds, length: 4 }],
  ])('%s are refused in one line', (_, other) => {
    walks().save(new RunFiles(folder.path()));
    expect(() => TrainedWalks.load(new RunFiles(folder.path()), other)).toThrow(
      /walks\.safetensors does not fit its network; count again with: hsn reason train[^\n]*$/,
    );
  });
});
