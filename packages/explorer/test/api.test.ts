import fs from 'node:fs';
import path from 'node:path';
import { linkProbabilities, type OpenedModel, openSyntheticRun, readMetrics } from '@hidden-schema/hsn';
import { noGrad, scope, stack, Tensor } from '@hidden-schema/torch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { analysisEndpoints } from '../src/server/analyses.ts';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { Inference } from '../src/server/inference.ts';
import { type Answer, type EndpointName, endpoints } from '../src/shared/api.ts';
import { openApi } from '../src/shared/openapi.ts';
import { identityOf, json, request } from './requests.ts';
import { makeSmallRun, markup, type SmallRun } from './small-run.ts';

let small: SmallRun;
let explorer: Explorer;
let library: OpenedModel;

beforeAll(async () => {
  small = await makeSmallRun();
  explorer = await startExplorer({ run: small.run });
  library = openSyntheticRun(small.run);
}, 120_000);
afterAll(async () => {
  await explorer?.close();
  if (small) fs.rmSync(small.folder, { recursive: true, force: true });
});

/** An answer that fits its schema to the letter. */
async function get<N extends EndpointName>(name: N, address: string, body?: unknown): Promise<Answer<N>> {
  const reply = await request(explorer.url, address, body === undefined ? {} : json(body));
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
  const value = JSON.parse(reply.text) as Answer<N>;
  expect(endpoints[name].response.parse(value)).toEqual(value);
  return value;
}

/** What the library itself reads in sentences of the test split. */
function read(first: number, count: number) {
  const { model, corpus } = library;
  model.train(false);
  return scope(() =>
    noGrad(() => {
      const L = corpus.length;
      const rows = corpus.splits.test.tokens.slice(first * L, (first + count) * L);
      const posterior = model.encode({ tokens: Tensor.fromArray(rows, [count, L]) });
      const walks = posterior.best().flatMap(({ walk }) => walk);
      const nodes = Tensor.fromArray(BigInt64Array.from(walks, BigInt), [count, L]);
      return {
        p: stack(posterior.marginals(), 1).toNumbers(),
        walks,
        logProbability: posterior.logProb(nodes).toNumbers(),
        words: Array.from(rows, (token) => corpus.vocabulary[token]!),
      };
    }),
  );
}

describe('the API gives what the library gives', () => {
  test('run, evaluation, metrics', async () => {
    await get('graph', '/api/graph');
    const run = await get('run', '/api/run');
    expect(run).toMatchObject({
      ...{ name: 'run', model: 'synthetic', state: 'finished', lastStep: 20, steps: 20, problem: null },
      config: library.run.config,
      opened: {
        step: library.step,
        symbols: 12,
        corpus: {
          length: 6,
          fingerprint: library.corpus.fingerprint,
          sentences: { train: 420, valid: 120, test: 60 },
        },
        features: ['encode', 'truth'],
      },
    });
    const stored = JSON.parse(fs.readFileSync(path.join(small.run, 'evaluation.json'), 'utf8'));
    expect(await get('evaluation', '/api/evaluation')).toEqual(stored);
    const { rows } = readMetrics(path.join(small.run, 'metrics.jsonl'));
    expect(await get('metrics', '/api/metrics')).toEqual({
      rows,
      from: 0,
      total: rows.length,
      state: 'finished',
    });
    const later = await get('metrics', '/api/metrics?after=10');
    expect(later.rows).toEqual(rows.filter(({ step }) => step > 10));
    expect((await get('metrics', `/api/metrics?from=${rows.length - 1}`)).rows).toEqual(rows.slice(-1));
    expect(await get('metrics', '/api/metrics?from=9999')).toMatchObject({ from: 0, rows });
  });

  test('graph', async () => {
    const graph = await get('graph', '/api/graph');
    const p = linkProbabilities(library.model);
    const expected: [number, number, number][] = [];
    for (let i = 0; i < 12; i++)
      for (let j = i; j < 12; j++) if (p[i * 12 + j]! >= 0.01) expected.push([i, j, p[i * 12 + j]!]);
    const byPair = (a: number[], b: number[]) => a[0]! - b[0]! || a[1]! - b[1]!;
    expect(graph.links.toSorted(byPair)).toEqual(expected);
    expect(graph.links.map(([, , q]) => q)).toEqual(
      graph.links.map(([, , q]) => q).toSorted((a, b) => b - a),
    );
    const bags = fs.readFileSync(path.join(small.corpus, 'node_tokens.tsv'), 'utf8').trim().split('\n');
    expect(graph.nodes.map(({ tokens }) => tokens.toSorted())).toEqual(
      bags.map((line) => line.split('\t')[1]!.split(' ').sort()),
    );
    expect(graph.nodes.reduce((sum, { usage }) => sum + usage, 0)).toBeCloseTo(1, 4);
    const edges = fs.readFileSync(path.join(small.corpus, 'edges.tsv'), 'utf8').trim().split('\n');
    expect(graph.truth).toEqual(edges.map((line) => line.split('\t').map(Number)));
    expect(graph.layout).toHaveLength(24);
    expect(graph.layout.every((x) => x >= 0 && x <= 1)).toBe(true);
    const apart = new Set(graph.nodes.map((_, k) => `${graph.layout[2 * k]} ${graph.layout[2 * k + 1]}`));
    expect(apart.size).toBe(12);
    // The strongest first; all of them stronger than chance.
    const lows = graph.strengths.map(([, , , , low]) => low);
    expect(lows.every((low) => low > 1)).toBe(true);
    expect(lows).toEqual(lows.toSorted((x, y) => y - x));
  });

  test('symbols: usage, neighbours, examples', async () => {
    const { p, walks, words } = read(0, 60);
    const links = linkProbabilities(library.model);
    for (const k of [0, 5, 11]) {
      const symbol = await get('symbol', `/api/symbol/${k}`);
      expect(symbol.sample).toBe(60);
      for (const [i, usage] of symbol.usageByPosition.entries()) {
        let mean = 0;
        for (let n = 0; n < 60; n++) mean += p[(n * 6 + i) * 12 + k]! / 60;
        expect(usage).toBeCloseTo(mean, 5);
      }
      const near = Array.from({ length: 12 }, (_, j) => j).filter((j) => links[k * 12 + j]! >= 0.01);
      expect(symbol.neighbours.map((next) => next.symbol).sort((a, b) => a - b)).toEqual(near);
      const passing = Array.from({ length: 60 }, (_, n) => n).filter((n) =>
        walks.slice(n * 6, n * 6 + 6).includes(k),
      );
      expect(symbol.examples.map(({ index }) => index)).toEqual(passing.slice(0, 12));
      for (const { index, tokens, walk, positions } of symbol.examples) {
        expect(tokens).toEqual(words.slice(index * 6, index * 6 + 6));
        expect(walk).toEqual(walks.slice(index * 6, index * 6 + 6));
        expect(positions.map((at) => walk[at])).toEqual(positions.map(() => k));
      }
    }
  });

  test('a sentence: walk, probabilities, alternatives', async () => {
    const { p, walks, logProbability, words } = read(3, 1);
    const encoded = await get('reading', '/api/encode', { text: `  ${words.join('  ')}\n` });
    const steps = encoded.walk!.steps;
    expect(steps.map(({ symbol }) => symbol)).toEqual(walks);
    expect(steps.map(({ token }) => token)).toEqual(words);
    expect(encoded.walk!.logProbability).toBeCloseTo(logProbability[0]!, 5);
    for (const [i, step] of steps.entries()) {
      const row = p.slice(i * 12, i * 12 + 12);
      expect(step.probability).toBeCloseTo(Math.max(...row), 6);
      const ranked = row.toSorted((a, b) => b - a).slice(1, 4);
      for (const [rank, other] of step.alternatives.entries())
        expect(other.probability).toBeCloseTo(ranked[rank]!, 6);
    }
  });

  test('a sentence that cannot be read is explained', async () => {
    const encoded = await get('reading', '/api/encode', { text: `none ${markup[0]} none other` });
    expect(encoded).toMatchObject({ walk: null, unknown: ['none', 'other'] });
    expect(encoded.tokens.map(({ known }) => known)).toEqual([false, true, false, false]);
    expect(encoded.problem).toBe(
      'This run reads sentences of 6 tokens; this one has 4. Not in the vocabulary: “none”, “other”.',
    );
  });

  test('sentences, page by page', async () => {
    const lines = fs.readFileSync(path.join(small.corpus, 'train.txt'), 'utf8').trim().split('\n');
    const page = await get('sentences', '/api/sentences?split=train&offset=415&limit=10');
    expect(page).toMatchObject({ total: 420, offset: 415, split: 'train' });
    expect(page.sentences.map(({ text }) => text)).toEqual(lines.slice(415));
    expect((await get('sentences', '/api/sentences?offset=9999')).sentences).toEqual([]);
  });
});

describe('names', () => {
  test('are stored in the run, shown everywhere, and taken away again', async () => {
    const name = `${markup[1]} & "été" 🌳`;
    const identity = await identityOf(explorer.url);
    expect(await get('rename', '/api/symbol/3/name', { name: ` ${name} `, identity })).toEqual({
      ...{ symbol: 3, name, before: null },
    });
    const stored = () => JSON.parse(fs.readFileSync(path.join(small.run, 'names.json'), 'utf8'));
    expect(stored()).toEqual({ format: 1, names: { 3: name } });
    expect((await get('graph', '/api/graph')).nodes[3]!.name).toBe(name);
    expect((await get('symbol', '/api/symbol/3')).name).toBe(name);
    await get('rename', '/api/symbol/0/name', { name: 'second', identity });
    expect(stored().names).toEqual({ 0: 'second', 3: name });
    for (const symbol of [0, 3]) await get('rename', `/api/symbol/${symbol}/name`, { name: '', identity });
    expect(stored().names).toEqual({});
  });

  test('that are no names are refused, and a damaged file is not overwritten', async () => {
    const identity = await identityOf(explorer.url);
    const refused = async (name: unknown) =>
      (await request(explorer.url, '/api/symbol/3/name', json({ name, identity }))).status;
    for (const name of ['x'.repeat(81), 'a\u0000b', 'a\nb', '\u202eabc', '\ud800', 3, null])
      expect(await refused(name)).toBe(400);
    const file = path.join(small.run, 'names.json');
    fs.writeFileSync(file, '{"format":1,"na');
    expect(await refused('fine')).toBe(409);
    expect(fs.readFileSync(file, 'utf8')).toBe('{"format":1,"na');
    expect((await get('graph', '/api/graph')).nodes[3]!.name).toBeNull();
    fs.rmSync(file);
  });
});

describe('what may go wrong', () => {
  test('a run in training without a checkpoint says so, and shows its metrics', async () => {
    const copy = path.join(small.folder, 'young');
    fs.cpSync(small.run, copy, { recursive: true });
    fs.rmSync(path.join(copy, 'checkpoints'), { recursive: true });
    fs.rmSync(path.join(copy, 'evaluation.json'));
    const record = JSON.parse(fs.readFileSync(path.join(copy, 'run.json'), 'utf8'));
    fs.writeFileSync(path.join(copy, 'run.json'), JSON.stringify({ ...record, state: 'running' }));
    // The lock of a process that lives: this one.
    const { Lock } = await import('@hidden-schema/torch');
    const lock = Lock.acquire(path.join(copy, 'lock'), copy);
    const young = await startExplorer({ run: copy });
    try {
      const graph = await request(young.url, '/api/graph');
      expect([graph.status, JSON.parse(graph.text).error.code]).toEqual([409, 'not_yet']);
      const run = JSON.parse((await request(young.url, '/api/run')).text);
      expect(run).toMatchObject({ state: 'running', opened: null });
      expect(run.problem).toContain('has not written a checkpoint yet');
      expect((await request(young.url, '/api/evaluation')).status).toBe(404);
      expect(JSON.parse((await request(young.url, '/api/metrics')).text).rows.length).toBeGreaterThan(5);
      fs.cpSync(path.join(small.run, 'checkpoints'), path.join(copy, 'checkpoints'), { recursive: true });
      expect((await request(young.url, '/api/graph')).status).toBe(200);
    } finally {
      await young.close();
      lock.release();
    }
  });

  test('what is no run is refused before a server starts', async () => {
    await expect(startExplorer({ run: small.corpus })).rejects.toThrow('is not a run');
  });

  test('tasks wait in line up to the limit, and leave it with their clients', async () => {
    const inference = new Inference(small.run, { queue: 2, silence: 600_000 });
    const left = new AbortController();
    const first = inference.ask('opened', undefined);
    const second = inference.ask('rename', { k: 1, name: 'never', identity: '' }, left.signal);
    const third = inference.ask('graph', {});
    await expect(inference.ask('graph', {})).rejects.toMatchObject({ status: 429 });
    expect(inference.load).toBe(3);
    left.abort();
    await expect(second).rejects.toMatchObject({ code: 'left' });
    expect(inference.load).toBe(2);
    expect((await first).symbols).toBe(12);
    expect((await third).nodes[1]!.name).toBeNull();
    const late = inference.ask('graph', {});
    const closed = expect(late).rejects.toMatchObject({ code: 'closing' });
    await inference.close();
    await closed;
  });
});

test('the OpenAPI document names every endpoint and its schemas', async () => {
  const reply = await request(explorer.url, '/api/openapi.json');
  const analyses = await analysisEndpoints();
  const document = JSON.parse(reply.text);
  expect(document).toEqual(JSON.parse(JSON.stringify(openApi(document.info.version, analyses))));
  const all = [...Object.values(endpoints), ...analyses];
  expect(Object.keys(document.paths)).toEqual(all.map(({ path: address }) => address.replace(':k', '{k}')));
  const { get: sentences } = document.paths['/api/sentences'];
  expect(
    sentences.parameters.map(({ name, required }: { name: string; required: boolean }) => [name, required]),
  ).toEqual([
    ['run', false],
    ['offset', false],
    ['limit', false],
    ['split', false],
  ]);
  expect(document.paths['/api/encode'].post.requestBody.content['application/json'].schema.required).toEqual([
    'text',
  ]);
});
