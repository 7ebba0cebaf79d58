import fs from 'node:fs';
import path from 'node:path';
import { type LanguageRun, linkProbabilities, open } from '@hidden-schema/hsn';
import {
  type EncodedCorpus,
  interpolateTexts,
  labelMaps,
  openEncoded,
  sentenceAttention,
  storedMeanings,
} from '@hidden-schema/studies';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { Inference } from '../src/server/inference.ts';
import { type Answer, type EndpointName, endpoints } from '../src/shared/api.ts';
import { tokensAfterLeaving } from './leaving.ts';
import { json, request } from './requests.ts';
import { labelNames, makeSmallLanguage, type SmallLanguage } from './small-language.ts';
import { markup } from './small-run.ts';

let small: SmallLanguage;
let explorer: Explorer;
let library: LanguageRun;
let encoded: EncodedCorpus;
const text = 'the cat was too salty';

beforeAll(async () => {
  small = await makeSmallLanguage();
  explorer = await startExplorer({ run: small.runs });
  await get('graph', '/api/graph');
  library = (await open(small.run)) as LanguageRun;
  encoded = openEncoded(library)!;
}, 120_000);
afterAll(async () => {
  await explorer?.close();
  small?.remove();
});

/** An answer that fits its schema to the letter. */
async function get<N extends EndpointName>(name: N, address: string, body?: unknown): Promise<Answer<N>> {
  const reply = await request(explorer.url, address, body === undefined ? {} : json(body));
  expect([reply.status, reply.text]).toEqual([200, reply.text]);
  const value = JSON.parse(reply.text) as Answer<N>;
  expect(endpoints[name].response.parse(value)).toEqual(value);
  return value;
}

const refused = async (address: string, body?: unknown) => {
  const { status, text: answer } = await request(explorer.url, address, body === undefined ? {} : json(body));
  return [status, JSON.parse(answer).error.code];
};

describe('a language run gives what the library gives', () => {
  test('run, graph, symbols', async () => {
    const run = await get('run', '/api/run');
    expect(run).toMatchObject({ id: 'first', model: 'language', state: 'finished', problem: null });
    expect(run.opened).toMatchObject({ step: library.step, symbols: 8, walk: 3, notes: [] });
    expect(run.opened!.labels.toSorted()).toEqual([...labelNames].sort());
    expect(run.opened!.features).toEqual(
      expect.arrayContaining(['encode', 'write', 'interpolate', 'labels', 'samples']),
    );
    const graph = await get('graph', '/api/graph');
    const p = linkProbabilities(library.model);
    for (const [i, j, probability] of graph.links) expect(probability).toBeCloseTo(p[i * 8 + j]!, 6);
    const meanings = await storedMeanings(library, { encoded });
    expect(graph.nodes.map(({ usage }) => usage)).toEqual(meanings.map(({ usage }) => usage));
    const k = graph.nodes.toSorted((a, b) => b.usage - a.usage)[0]!.symbol;
    const symbol = await get('symbol', `/api/symbol/${k}`);
    const { words, attended, labels, usageByPosition, examples } = meanings[k]!;
    expect(symbol).toMatchObject({ words, attended, labels, usageByPosition, tokens: [] });
    expect(symbol.examples.map(({ text: sentence }) => sentence)).toEqual(examples.map((one) => one.text));
    expect(await refused('/api/symbol/8')).toEqual([404, 'not_found']);
  });

  test('sentences: walk, reconstruction, attention, nearest', async () => {
    const read = await get('reading', '/api/encode', { text });
    const { walks } = await library.texts.read([text]);
    const { walk, probabilities } = walks[0]!;
    expect(read.walk!.steps.map(({ symbol }) => symbol)).toEqual(walk);
    const product = probabilities.reduce((sum, p) => sum + Math.log(p), 0);
    expect(read.walk!.logProbability).toBeCloseTo(product, 4);
    for (const { probability, alternatives } of read.walk!.steps) {
      expect(alternatives).toHaveLength(3);
      const sum = alternatives.reduce((total, other) => total + other.probability, probability);
      expect(sum).toBeLessThanOrEqual(1 + 1e-6);
    }
    const written = await get('generate', '/api/generate', { walk, force: true });
    expect(written.samples.map((one) => one.text)).toEqual(await library.texts.write(walk));
    const heat = await get('attention', '/api/attention', { text });
    const expected = await sentenceAttention(library, text);
    expect(heat).toMatchObject({ tokens: expected.tokens, walk: expected.walk, layers: 2, heads: 2 });
    for (const [t, row] of heat.weights.entries())
      for (const [i, weight] of row.entries()) expect(weight).toBeCloseTo(expected.weights[t]![i]!, 5);
    const one = await get('attention', '/api/attention', { text, layer: 1, head: 0 });
    const alone = await sentenceAttention(library, text, { layer: 1, head: 0 });
    expect(one.weights[1]![2]).toBeCloseTo(alone.weights[1]![2]!, 5);
    expect(await refused('/api/attention', { text, layer: 2 })).toEqual([400, 'bad_request']);
    const near = await get('nearest', '/api/nearest', { walk, limit: 4 });
    const found = encoded.nearest(walk, { limit: 4 });
    expect(near.sentences.map(({ index, shared }) => [index, shared])).toEqual(
      found.map(({ sentence, shared }) => [sentence.index, shared]),
    );
  });

  test('generation: samples by seed, missing links forced', async () => {
    const p = linkProbabilities(library.model);
    const pairs = Array.from({ length: 64 }, (_, at) => [Math.floor(at / 8), at % 8] as const);
    const [i, j] = pairs.find(([a, b]) => p[a * 8 + b]! < 0.5)!;
    expect(await refused('/api/generate', { walk: [i, j] })).toEqual([409, 'missing_link']);
    const sampling = { count: 3, temperature: 1, topK: 20, topP: 0.9, seed: 5, maxTokens: 8 };
    const body = { walk: [i, j], ...sampling, force: true };
    const first = await get('generate', '/api/generate', body);
    expect(first.links[0]).toBeCloseTo(p[i * 8 + j]!, 6);
    expect(first.samples.map((one) => one.text)).toEqual(await library.texts.write([i, j], sampling));
    expect(await get('generate', '/api/generate', body)).toEqual(first);
    expect(await refused('/api/generate', { walk: [99] })).toEqual([404, 'not_found']);
    expect(await refused('/api/generate', { walk: [] })).toEqual([400, 'bad_request']);
    expect(await refused('/api/generate', { walk: [1], temperature: -1 })).toEqual([400, 'bad_request']);
  });

  test('interpolation, labels, pages, samples', async () => {
    const other = 'my friend seems cheap';
    for (const variant of ['window', 'nodes'] as const) {
      const way = await get('interpolate', '/api/interpolate', { from: text, to: other, variant });
      const { path: route, steps, unreachable } = await interpolateTexts(library, text, other, { variant });
      expect(way).toMatchObject({ path: route, steps, unreachable, variant });
    }
    const maps = labelMaps(encoded);
    const labels = await get('labels', '/api/labels');
    expect(labels.divergence).toEqual(maps.divergence);
    for (const [at, map] of labels.maps.entries())
      expect([map.label, map.nodes]).toEqual([maps.maps[at]!.label, Array.from(maps.maps[at]!.nodes)]);
    const query = `symbol=2&label=${encodeURIComponent(labelNames[1])}&offset=1&limit=2`;
    const page = await get('encoded', `/api/encoded?${query}`);
    const expected = encoded.page(1, 2, { symbol: 2, label: labelNames[1] });
    expect([page.total, page.sentences]).toEqual([expected.total, expected.sentences]);
    const { samples } = await get('samples', '/api/samples?limit=2');
    expect(samples).toHaveLength(2);
    expect([samples[0]!.written]).toEqual(await library.texts.write(samples[0]!.walk));
    const listed = await get('sentences', '/api/sentences?split=train&limit=200');
    expect(listed.sentences.some((one) => one.text.includes(markup[0]!))).toBe(true);
  });
});

describe('several runs', () => {
  test('are listed, and each is asked by its id', async () => {
    const { runs } = await get('runs', '/api/runs');
    expect(runs.map(({ id, settings }) => [id, settings.seed])).toEqual([
      ['first', 1],
      ['second', 2],
    ]);
    const stored = JSON.parse(fs.readFileSync(path.join(small.other, 'evaluation.json'), 'utf8'));
    const { steps, ...figures } = stored; // a list for each step is no figure of the run
    expect(steps).toHaveLength(3);
    expect(runs[1]!.figures).toEqual(figures);
    expect(await get('evaluation', '/api/evaluation?run=second')).toEqual(figures);
    const graph = await get('graph', '/api/graph?run=second');
    expect(graph.links).not.toEqual((await get('graph', '/api/graph?run=first')).links);
    expect(await refused('/api/graph?run=..%2Ffirst')).toEqual([404, 'not_found']);
    expect(await refused('/api/run?run=third')).toEqual([404, 'not_found']);
  });

  test('one that is stored alone shows what it has when its corpus is gone', async () => {
    const moved = path.join(small.folder, 'moved');
    fs.cpSync(small.run, moved, { recursive: true });
    const record = JSON.parse(fs.readFileSync(path.join(moved, 'run.json'), 'utf8'));
    record.corpus.directory = path.join(small.folder, 'gone.tsv');
    fs.writeFileSync(path.join(moved, 'run.json'), JSON.stringify(record));
    const alone = await startExplorer({ run: moved });
    try {
      const graph = JSON.parse((await request(alone.url, '/api/graph')).text) as Answer<'graph'>;
      expect(graph.nodes.reduce((sum, { usage }) => sum + usage, 0)).toBeCloseTo(1, 5);
      const run = JSON.parse((await request(alone.url, '/api/run')).text) as Answer<'run'>;
      expect(run.opened!.notes.join()).toContain('is gone');
      expect(run.opened!.features).not.toContain('samples');
    } finally {
      await alone.close();
    }
  });
});

test('a client that leaves while tokens are written stops it within one token', async () => {
  const inference = new Inference(small.run, { queue: 4, silence: 600_000 });
  try {
    await inference.ask('opened', undefined);
    expect(await tokensAfterLeaving(inference, 5)).toBeLessThanOrEqual(1);
  } finally {
    await inference.close();
  }
});
