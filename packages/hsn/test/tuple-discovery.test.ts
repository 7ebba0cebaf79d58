import fs from 'node:fs';
import { tinyReasoning } from '@hidden-schema/testing/planted-run';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { noGrad, scope } from '@hidden-schema/torch';
import { DEFAULT_ENCODER } from '@hidden-schema/transformers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Session } from '../src/run/session.ts';
import { type OpenedReasoning, openReasoning, openTuples } from '../src/tasks/tuples/open.ts';
import type { PathFigures } from '../src/tasks/tuples/path/path-accuracy.ts';
import { countPath } from '../src/tasks/tuples/path/path-task.ts';
import { openReasoner } from '../src/tasks/tuples/path/reasoner.ts';
import { createReasoningRun, prepareReasoning } from '../src/tasks/tuples/prepare.ts';
import { ScheduledWalks } from '../src/tasks/tuples/scheduled-walks.ts';
import { ReasoningTask } from '../src/tasks/tuples/task.ts';
import { TupleTraining } from '../src/tasks/tuples/training.ts';
import { TupleWalks } from '../src/tasks/tuples/walks.ts';

const folder = temporaryFolder('tuple-discovery');
const tuples = folder.path('tuples.tsv');
const run = folder.path('run');
const quiet = { output: { write: () => true } };

const who = [
  'PersonX',
  'a child',
  'the old man',
  'my neighbour',
  'a stranger',
  'the teacher',
  'her sister',
  'the nurse',
];
const kinds = [
  { does: ['drinks tea', 'drinks coffee', 'drinks a glass of juice', 'drinks water'], leads: 'to rest' },
  {
    does: ['repairs the car', 'repairs the engine', 'repairs a truck', 'repairs a motor'],
    leads: 'to drive away',
  },
  { does: ['sings a song', 'sings a tune', 'sings an opera', 'sings in a choir'], leads: 'to hear applause' },
];

/** Everyone does everything: what is done alone says what follows, and feels the same for all. */
function writeTuples(): void {
  const lines = kinds.flatMap(({ does, leads }) =>
    does.flatMap((done) =>
      who.flatMap((person) => [`${person} ${done}\txWant\t${leads}\n`, `${person} ${done}\txReact\thappy\n`]),
    ),
  );
  fs.writeFileSync(tuples, lines.join(''));
}

let opened: OpenedReasoning;
let tuplesRead: Awaited<ReturnType<typeof openTuples>>;
let figures: PathFigures;
let encodedAgain: number;
let found: { vectors: number[]; links: number[] };

const stateOf = ({ symbols, graph }: OpenedReasoning['model']) =>
  scope(() =>
    noGrad(() => ({ vectors: symbols.vectors!.toNumbers(), links: graph.links().matrix().toNumbers() })),
  );

beforeAll(async () => {
  folder.holdCache();
  writeTuples();
  const config = tinyReasoning({
    symbols: 12,
    length: 4,
    encoder: { name: DEFAULT_ENCODER, walks: 'pursuit', longest: 32 },
    graph: { posterior: 'free', symbols: 'learnable', selfLoops: true },
    walk: { range: 'none', stays: true },
    training: { steps: 12, evaluateEvery: 12 },
  });
  const prepared = await prepareReasoning(config, tuples);
  const made = createReasoningRun(run, prepared);
  const task = new ReasoningTask(prepared);
  await task.preparation.advance({ onPart: () => {} });
  found = stateOf(prepared.model);
  await new Session(made, task, quiet).train();
  made.close();
  opened = await openReasoning(run);
  tuplesRead = await openTuples(opened);
  const { base } = opened.model.encoder;
  const encodes = vi.spyOn(base, 'hidden');
  const path = { ...opened.config.path, kind: 'counts' as const };
  figures = countPath({ ...opened.config, part: 'path', path }, opened, tuplesRead);
  encodedAgain = encodes.mock.calls.length;
}, 600_000);
afterAll(() => {
  opened?.model.free();
  folder.remove();
});

describe('one dictionary for events and objects', () => {
  test('walks keep to the graph, their halves say what was done and what follows', () => {
    const { tokens, corpus } = tuplesRead;
    const walks = new TupleWalks(opened.model, tokens);
    const rows = corpus.splits.train;
    const read = walks.whole(rows, 'best');
    const adjacency = walks.adjacency.toNumbers();
    for (const walk of read)
      for (let i = 1; i < walk.length; i++) expect(adjacency[walk[i - 1]! * 12 + walk[i]!]).toBe(1);
    // Second halves of different objects differ; those of one object begin alike.
    const begins = new Map<string, Set<number>>();
    for (const [n, row] of rows.entries()) {
      const { object } = corpus.table.tuple(row);
      begins.set(object, (begins.get(object) ?? new Set()).add(read[n]![2]!));
    }
    expect(begins.size).toBe(4);
    const commonest = [...begins.values()].map((some) => [...some][0]);
    expect(new Set(commonest).size).toBeGreaterThanOrEqual(3);
    walks.free();
  });

  test('symbols and graph stay as found while the decoder learns', () => {
    const after = stateOf(opened.model);
    expect(after).toEqual(found);
    for (let k = 0; k < 12; k++) {
      const row = after.vectors.slice(k * 384, (k + 1) * 384);
      expect(row.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1, 4);
    }
  });

  test('the counted path model foresees second halves of unseen events, and writes from them', async () => {
    expect(figures.accuracy).toBeGreaterThan(figures.baseline_majority + 0.1);
    const reasoner = await openReasoner(run, { path: 'counts' });
    const objects = await reasoner.candidates('a doctor repairs the bus', 'xWant', { how: 'beam', count: 4 });
    expect(objects.length).toBeGreaterThanOrEqual(1);
    for (const { walk } of objects) expect(walk).toHaveLength(4);
    reasoner.free();
  });
});

test('a run that is opened again encodes none of its texts', async () => {
  expect(encodedAgain).toBe(0);
  const again = await openReasoning(run);
  const encodes = vi.spyOn(again.model.encoder.base, 'hidden');
  const { tokens, corpus } = await openTuples(again);
  const walks = new TupleWalks(again.model, tokens);
  const { train, test: unseen } = corpus.splits;
  const before = new TupleWalks(opened.model, tuplesRead.tokens);
  for (const rows of [train, unseen]) expect(walks.whole(rows, 'best')).toEqual(before.whole(rows, 'best'));
  expect(encodes).not.toHaveBeenCalled();
  walks.free();
  before.free();
  again.model.free();
});

describe('walks that the decoder reads in place of the posterior', () => {
  test('begin with the second pass, for the share that was asked for, the same again by seed', () => {
    const scheduled = new ScheduledWalks(
      new TupleTraining(opened.model, tuplesRead.corpus, tuplesRead.tokens),
    );
    const rows = tuplesRead.corpus.splits.train.slice(0, 60);
    expect(scheduled.secondWalks(rows, { epoch: 0, step: 3 })).toBeUndefined();
    // A third of the twelve steps are gone before the first pass is.
    expect(scheduled.secondWalks(rows, { epoch: 0, step: 4 })).toBeDefined();
    const some = scheduled.secondWalks(rows, { epoch: 1 })!;
    expect(some).toHaveLength(rows.length);
    const count = some.filter((walk) => walk !== undefined).length;
    expect(count).toBeGreaterThan(8);
    expect(count).toBeLessThan(30);
    for (const walk of some) if (walk) expect(walk).toHaveLength(2);
    expect(scheduled.secondWalks(rows, { epoch: 1 })).toEqual(some);
    expect(scheduled.secondWalks(rows, { epoch: 2 })).not.toEqual(some);
  });
});
