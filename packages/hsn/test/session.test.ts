import fs from 'node:fs';
import { readEvents } from '@hidden-schema/testing/event-files';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyConfig, tinyCorpus } from '@hidden-schema/testing/tiny-corpus';
import { scope } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import type { SyntheticConfig } from '../src/config/network.ts';
import { bestStep, checkpointSteps, loadCheckpoint, verifyCheckpoint } from '../src/run/checkpoint.ts';
import { readMetrics } from '../src/run/metrics.ts';
import { Run } from '../src/run/run.ts';
import { Session } from '../src/run/session.ts';
import type { SessionResult } from '../src/run/session-checkpoint.ts';
import { readSyntheticCorpus, type SyntheticCorpus } from '../src/tasks/synthetic/corpus/reader.ts';
import type { SyntheticEvaluation } from '../src/tasks/synthetic/evaluation.ts';
import { evaluateSynthetic } from '../src/tasks/synthetic/evaluation.ts';
import { openSyntheticRun } from '../src/tasks/synthetic/open.ts';
import { SyntheticTask } from '../src/tasks/synthetic/task.ts';

const folder = temporaryFolder('session');
afterAll(folder.remove);
const corpus = tinyCorpus(folder.path('corpus'));

async function train(name: string, config: SyntheticConfig, on: SyntheticCorpus = corpus) {
  const info = { directory: on.directory, fingerprint: on.fingerprint };
  const run = Run.create(folder.path(name), config, info);
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text) };
  try {
    const result: SessionResult<SyntheticEvaluation> = await new Session(run, new SyntheticTask(config, on), {
      output,
    }).train();
    return { run, result, rows: readMetrics(run.path('metrics.jsonl')).rows, text: written.join('') };
  } finally {
    run.close();
  }
}
const json = (run: Run, name: string) => JSON.parse(fs.readFileSync(run.path(name), 'utf8'));

describe('a run on disk', () => {
  test('holds everything about the training', async () => {
    const { run, result, rows, text } = await train('whole', tinyConfig({ graph: { sweeps: 3 } }));
    const events = fs.readdirSync(run.directory).filter((name) => name.startsWith('events.'));
    expect(fs.readdirSync(run.directory).sort()).toEqual(
      [
        'checkpoints',
        'config.yaml',
        'evaluation.json',
        'graph.json',
        'lock',
        'manifest.json',
        'metrics.jsonl',
        'names.lock',
        'run.json',
        'sums.json',
        ...events,
      ].sort(),
    );
    expect(result).toMatchObject({ state: 'finished', step: 15 });
    expect(result.reason).toBeUndefined();
    expect(json(run, 'run.json')).toMatchObject({ state: 'finished', step: 15 });
    expect(json(run, 'evaluation.json')).toEqual(JSON.parse(JSON.stringify(result.evaluation)));
    for (const step of checkpointSteps(run)) {
      expect(Object.keys(verifyCheckpoint(run, step).files).sort()).toEqual([
        'model.safetensors',
        'optimizer.safetensors',
        'state.json',
      ]);
    }
    expect(rows.filter((row) => row.sweep).map((row) => [row.step, row.sweep])).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
    expect(rows.filter((row) => row.loss).map((row) => row.step)).toEqual(
      Array.from({ length: 15 }, (_, i) => i + 1),
    );
    expect(rows.filter((row) => row.validation).map((row) => row.step)).toEqual([5, 10, 15]);
    for (const row of rows) if (row.loss === undefined) expect(row.auc).toBeTypeOf('number');
    expect(text).toMatch(/graph: 3 sweeps in .*auc/);
    expect(text).toMatch(/train: 15 steps in .*valid/);
    expect(events).toHaveLength(1);
    const scalars = readEvents(run.path(events[0]!)).events.flatMap((event) => Object.keys(event.scalars));
    for (const name of ['loss', 'kl_walk', 'kl_graph', 'validation', 'auc', 'log_likelihood'])
      expect(scalars).toContain(name);
  });

  test('describes the graph it found', () => {
    const run = Run.open(folder.path('whole'));
    const graph = json(run, 'graph.json') as {
      symbols: number;
      nodes: { symbol: number; tokens: string[] }[];
      links: [number, number, number][];
    };
    expect([graph.symbols, graph.nodes.length]).toEqual([8, 8]);
    for (const { tokens } of graph.nodes) expect(tokens).toHaveLength(2);
    const sum = graph.links.reduce((total, [, , p]) => total + p, 0);
    expect(sum).toBeCloseTo(json(run, 'evaluation.json').edges_expected, 1);
    for (const [i, j, p] of graph.links) expect(i <= j && p >= 0.01 && p <= 1).toBe(true);
  });

  test('opens again, and evaluates to the same figures, also twice', () => {
    const opened = openSyntheticRun(folder.path('whole'));
    expect(opened.notes).toEqual([]);
    const first = evaluateSynthetic(opened.model, opened.corpus);
    expect(JSON.parse(JSON.stringify(first))).toEqual(json(opened.run, 'evaluation.json'));
    expect(evaluateSynthetic(opened.model, opened.corpus)).toEqual(first);
    opened.model.free();
    expect(() => openSyntheticRun(folder.path('whole'), { checkpoint: 'first' })).toThrow(
      'a checkpoint is "best", "last" or a step, got "first"',
    );
    const other = tinyCorpus(folder.path('other'), { nodes: 9, tokens: 14 });
    expect(() => openSyntheticRun(folder.path('whole'), { corpus: other.directory })).toThrow(
      /does not fit the corpus .*expected/,
    );
  });
});

describe('model selection', () => {
  // So high a rate that the objective gets worse again.
  const wild = { steps: 40, rate: 3, warmup: 0, schedule: 'constant', evaluateEvery: 2 } as const;

  test('keeps the checkpoint with the lowest validation objective, and evaluates it', async () => {
    const { run, result, rows } = await train('wild', tinyConfig({ training: { ...wild, patience: 100 } }));
    const validations = rows.filter((row) => row.validation !== undefined);
    const lowest = validations.reduce((best, row) => (row.validation! < best.validation! ? row : best));
    expect(bestStep(run)).toBe(lowest.step);
    expect(lowest.step).toBeLessThan(40);
    expect(checkpointSteps(run)).toEqual(
      [lowest.step, 36, 38, 40].filter((s, i, all) => all.indexOf(s) === i).sort((a, b) => a - b),
    );
    const opened = openSyntheticRun(run.directory);
    expect(opened.step).toBe(lowest.step);
    expect(evaluateSynthetic(opened.model, corpus)).toEqual(result.evaluation);
    opened.model.free();
    const { state } = scope(() => ({ state: loadCheckpoint(run, 'best').state }));
    expect(state).toMatchObject({ best: lowest.validation, sinceBest: 0 });
  });

  test('stops when patience is at its end, and says so', async () => {
    const { run, result, rows, text } = await train(
      'patient',
      tinyConfig({ training: { ...wild, patience: 2 } }),
    );
    const validations = rows.flatMap((row) => row.validation ?? []);
    const best = Math.min(...validations);
    expect(validations.length - 1 - validations.indexOf(best)).toBe(2);
    expect(result.state).toBe('finished');
    expect(result.step).toBe(2 * validations.length);
    expect(result.step).toBeLessThan(40);
    expect(result.reason).toBe('no better validation objective in 2 evaluations');
    expect(text).toContain('no better validation objective in 2 evaluations');
    expect(bestStep(run)).toBe(2 * (validations.indexOf(best) + 1));
  });
});

describe('a corpus that says less', () => {
  const bare = (name: string, files: string[]) => {
    fs.mkdirSync(folder.path(name));
    for (const file of files) fs.copyFileSync(folder.path('corpus', file), folder.path(name, file));
    return readSyntheticCorpus(folder.path(name));
  };
  const recoveryKeys = ['auc', 'average_precision', 'frobenius_truth', 'edges_truth', 'hits'];

  test('without truth, leaves recovery out', async () => {
    const files = ['train.txt', 'valid.txt', 'test.txt', 'node_tokens.tsv'];
    const { result, rows } = await train('no-truth', tinyConfig(), bare('blind', files));
    for (const key of recoveryKeys) expect(result.evaluation).not.toHaveProperty(key);
    expect(result.evaluation).toMatchObject({ sentences: 40, nll: expect.any(Number) });
    expect(rows.some((row) => row.auc !== undefined || row.edges !== undefined)).toBe(false);
    expect(rows.some((row) => row.validation !== undefined)).toBe(true);
  });

  test.each(['closed-form', 'pairs'] as const)(
    'with sentences alone, learns bags (%s)',
    async (posterior) => {
      const config = tinyConfig({ symbols: 6, graph: { posterior } });
      const { run, result } = await train(
        `alone-${posterior}`,
        config,
        bare(`words-${posterior}`, ['train.txt']),
      );
      expect(result.state).toBe('finished');
      expect(Number.isFinite(result.evaluation!.nll)).toBe(true);
      const opened = openSyntheticRun(run.directory);
      expect(opened.model.shape).toMatchObject({ symbols: 6, length: 5 });
      expect(opened.model.decoder.logits!.shape).toEqual([6, corpus.vocabulary.length]);
      opened.model.free();
    },
  );

  test('with a true graph but no bags, does not compare symbols that have other names', async () => {
    const files = ['train.txt', 'valid.txt', 'test.txt', 'test_walks.txt', 'adjacency.txt'];
    const { result } = await train('unnamed', tinyConfig({ symbols: 6 }), bare('unnamed-corpus', files));
    for (const key of recoveryKeys) expect(result.evaluation).not.toHaveProperty(key);
  });
});
