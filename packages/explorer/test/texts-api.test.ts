import fs from 'node:fs';
import path from 'node:path';
import { type LanguageRun, open } from '@hidden-schema/hsn';
import {
  compareGroups,
  type EncodedCorpus,
  openEncoded,
  studyTime,
  symbolLevels,
  textMap,
  textTimes,
} from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Explorer, startExplorer } from '../src/server/index.ts';
import { type Answer, type EndpointName, endpoints } from '../src/shared/api.ts';
import { identityOf, json, request } from './requests.ts';
import {
  LENGTH,
  makeSmallDiscovered,
  plantedRows,
  type SmallDiscovered,
  SYMBOLS,
} from './small-discovered.ts';

let small: SmallDiscovered;
let explorer: Explorer;
let library: LanguageRun;
let encoded: EncodedCorpus;

beforeAll(async () => {
  small = await makeSmallDiscovered();
  explorer = await startExplorer({ run: small.run });
  await get('graph', '/api/graph');
  library = (await open(small.run)) as LanguageRun;
  encoded = openEncoded(library)!;
}, 120_000);
afterAll(async () => {
  encoded?.close();
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
  const { status, text } = await request(explorer.url, address, body === undefined ? {} : json(body));
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  return [status, error.code, error.message];
};

const bytes = (base64: string) => Uint8Array.from(Buffer.from(base64, 'base64')).buffer;
const bits = (of: (n: number) => boolean): string => {
  const all = Buffer.alloc(Math.ceil(encoded.count / 8));
  for (let n = 0; n < encoded.count; n++) if (of(n)) all[n >> 3]! |= 1 << (n & 7);
  return all.toString('base64');
};
const textsOf = (base64: string): number[] => {
  const all = new Uint8Array(bytes(base64));
  return Array.from({ length: encoded.count }, (_, n) => n).filter((n) => (all[n >> 3]! >> (n & 7)) & 1);
};
const labelOf = (n: number) => encoded.labels[encoded.labelOf[n]!]!;

describe('texts', () => {
  test('the map has the place, walk, label and time of every text', async () => {
    const map = await get('map', '/api/map');
    expect(map).toMatchObject({ count: 120, corpus: 120, symbols: SYMBOLS, length: LENGTH });
    expect(new Uint16Array(bytes(map.places))).toEqual(textMap(library, encoded));
    expect(new Uint16Array(bytes(map.walks))).toEqual(encoded.walks);
    expect(new Int16Array(bytes(map.labelOf))).toEqual(encoded.labelOf);
    const times = new Float64Array(bytes(map.times!));
    for (let n = 0; n < map.count; n++) {
      const { year } = plantedRows.find(({ text }) => text === encoded.sentence(n).text)!;
      expect(new Date(times[n]!).getUTCFullYear()).toBe(year);
    }
    const run = await get('run', '/api/run');
    expect(run.opened!.features).toEqual(expect.arrayContaining(['map', 'compare', 'time', 'levels']));
  });

  test('texts come by their numbers', async () => {
    const { texts } = await get('texts', '/api/texts', { at: [5, 0, 119] });
    expect(texts).toEqual([5, 0, 119].map((n) => encoded.sentence(n)));
    expect(await refused('/api/texts', { at: [120] })).toEqual([
      ...[404, 'not_found', 'there is no text 120; texts are 0 to 119'],
    ]);
    expect((await refused('/api/texts', { at: [] }))[0]).toBe(400);
    expect((await refused('/api/texts', { at: Array.from({ length: 201 }, () => 0) }))[0]).toBe(400);
  });

  test('words are found where they begin, all of them, whatever letters they have', async () => {
    const having = (...words: string[]) =>
      Array.from(encoded.sentences())
        .filter(({ text }) => {
          const own = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
          return words.every((word) => own.some((one) => one.startsWith(word)));
        })
        .map(({ index }) => index);
    const found = await get('matches', '/api/matches?words=Sou+bread');
    expect(textsOf(found.texts)).toEqual(having('sou', 'bread'));
    expect(found.total).toBe(having('sou', 'bread').length);
    expect(found.total).toBeGreaterThan(0);
    const strange = await get('matches', `/api/matches?words=${encodeURIComponent('.*')}`);
    expect(strange.total).toBe(0);
    expect((await refused('/api/matches?words=+'))[0]).toBe(400);
  });
});

describe('groups and times', () => {
  test('two groups are compared as the library does', async () => {
    const first = { name: 'food', texts: bits((n) => labelOf(n) === 'food') };
    const second = { name: 'space', texts: bits((n) => labelOf(n) === 'space') };
    const found = await get('compare', '/api/compare', { first, second });
    const expected = compareGroups(encoded, { pair: ['food', 'space'] });
    expect(found.groups).toEqual(expected.groups);
    expect(found.tests).toEqual({ symbols: expected.symbols.length, links: expected.links.length });
    for (const { group: _, ...one } of expected.symbols)
      expect(found.symbols.find(({ symbol }) => symbol === one.symbol)).toEqual(one);
    expect(found.sure.symbols).toBe(expected.symbols.filter(({ corrected }) => corrected < 0.05).length);
    expect(found.sure.symbols).toBeGreaterThan(1);
  });

  test('one group is compared with all others, and what is in both counts in neither', async () => {
    const first = { name: 'a', texts: bits((n) => n < 60) };
    expect((await get('compare', '/api/compare', { first })).groups).toEqual([
      { group: 'a', texts: 60 },
      { group: 'all other texts', texts: 60 },
    ]);
    const overlapping = await get('compare', '/api/compare', {
      first,
      second: { name: 'a', texts: bits((n) => n >= 50) },
    });
    expect(overlapping.both).toBe(10);
    expect(overlapping.groups).toEqual([
      { group: 'a (1)', texts: 50 },
      { group: 'a (2)', texts: 60 },
    ]);
    const short = { name: 'short', texts: 'AA==' };
    expect(await refused('/api/compare', { first: short })).toEqual([
      ...[400, 'bad_request', 'the group “short” has 1 bytes; 120 texts are 15'],
    ]);
    const none = { name: 'none', texts: bits(() => false) };
    expect((await refused('/api/compare', { first: none }))[0]).toBe(409);
  });

  test('shares over time are the library’s', async () => {
    const found = await get('time', '/api/time?period=decade');
    const { times } = await textTimes(library, encoded);
    const expected = studyTime({ ...walksOf(encoded), times }, { period: 'decade' });
    expect(found.periods).toEqual(expected.periods);
    expect(found.symbols.map(({ shares }) => shares)).toEqual(expected.symbols.map(({ shares }) => shares));
    const bursts = found.symbols.flatMap((one) => one.bursts.map(({ label }) => label));
    expect(bursts).toContain('1960s');
    expect((await refused('/api/time?period=moon'))[2]).toMatch(/expected one of day, week, .* got moon/);
  });
});

const walksOf = ({ walks, symbols, length }: EncodedCorpus) => ({ walks, symbols, length });

describe('levels and edits', () => {
  test('levels are the library’s', async () => {
    const found = await get('levels', '/api/levels?counts=3,5');
    const expected = await symbolLevels(library, [3, 5]);
    expect(found.levels.map(({ groups }) => groups.map(({ symbols }) => symbols))).toEqual(
      expected.levels.map(({ groups }) => groups.map(({ symbols }) => symbols)),
    );
    expect((await refused('/api/levels?counts=0'))[0]).toBe(409);
    expect((await refused('/api/levels?counts=3,x'))[0]).toBe(400);
  });

  test('symbols are merged, split and put back; what cannot be is refused and changes nothing', async () => {
    const before = (await get('run', '/api/run')).opened!;
    const { identity } = before;
    expect((await refused('/api/undo', { identity }))[2]).toMatch(/no edit to undo/);
    expect((await refused('/api/merge', { identity, symbols: [1] }))[0]).toBe(400);
    expect((await refused('/api/merge', { identity, symbols: [1, 1] }))[2]).toMatch(/at least two symbols/);
    expect((await refused('/api/merge', { identity, symbols: [1, 99] }))[0]).toBe(404);
    expect((await refused('/api/symbol/99/split', { identity }))[0]).toBe(404);
    const merged = await get('merge', '/api/merge', { identity, symbols: [1, 2] });
    expect(merged).toMatchObject({ symbols: SYMBOLS - 1, changed: [1], renumbered: [[SYMBOLS - 1, 2]] });
    expect(merged.identity).not.toBe(before.identity);
    expect((await get('graph', '/api/graph')).nodes).toHaveLength(SYMBOLS - 1);
    const map = await get('map', '/api/map');
    expect(map.symbols).toBe(SYMBOLS - 1);
    const firsts = Array.from(new Uint16Array(bytes(map.walks))).filter((_, at) => at % LENGTH === 0);
    const count = (symbol: number) => firsts.filter((one) => one === symbol).length;
    const largest = firsts.reduce((best, symbol) => (count(symbol) > count(best) ? symbol : best));
    const split = await get('split', `/api/symbol/${largest}/split`, { identity: merged.identity });
    expect(split).toMatchObject({ symbols: SYMBOLS, edits: [merged.what, split.what] });
    const once = await get('undo', '/api/undo', { identity: split.identity });
    expect(once.identity).toBe(merged.identity);
    const back = await get('undo', '/api/undo', { identity: once.identity });
    expect(back).toMatchObject({ symbols: SYMBOLS, edits: [], identity: before.identity });
    const walks = new Uint16Array(bytes((await get('map', '/api/map')).walks));
    expect(walks).toEqual(encoded.walks);
  }, 60_000);

  test('a name says what a person had called the symbol before', async () => {
    const identity = await identityOf(explorer.url);
    const name = (text: string) => get('rename', '/api/symbol/0/name', { name: text, identity });
    const found = (await get('graph', '/api/graph')).nodes[0]!.name;
    expect(await name('one')).toEqual({ symbol: 0, name: 'one', before: null });
    expect(await name('two')).toEqual({ symbol: 0, name: 'two', before: 'one' });
    expect(await name('')).toEqual({ symbol: 0, name: found, before: 'two' });
  });

  test('an edit made from symbols that another edit changed is refused, and changes nothing', async () => {
    const seen = (await get('graph', '/api/graph')).identity;
    expect((await get('symbol', '/api/symbol/3')).identity).toBe(seen);
    expect((await get('levels', '/api/levels?counts=3')).identity).toBe(seen);
    const edits: [address: string, body: object][] = [
      ['/api/merge', { symbols: [1, 4] }],
      ['/api/symbol/2/split', {}],
      ['/api/symbol/2/name', { name: 'another symbol' }],
      ['/api/undo', {}],
    ];
    for (const [address, body] of edits) {
      expect((await refused(address, body)).slice(0, 2)).toEqual([400, 'bad_request']);
      expect((await refused(address, { ...body, identity: '' }))[0]).toBe(400);
    }
    const inTerminal = await hsn('merge', small.run, '1', '2');
    expect([inTerminal.code, inTerminal.stderr]).toEqual([0, '']);
    const given = () => JSON.parse(fs.readFileSync(path.join(small.run, 'names.json'), 'utf8')).names;
    const [names, now] = [given(), await identityOf(explorer.url)];
    for (const [address, body] of edits)
      expect([address, ...(await refused(address, { ...body, identity: seen }))]).toEqual([
        ...[address, 409, 'edited'],
        'symbols were edited since this page was loaded; reload and try again',
      ]);
    expect(given()).toEqual(names);
    const graph = await get('graph', '/api/graph');
    expect([graph.nodes.length, graph.identity]).toEqual([SYMBOLS - 1, now]);
    expect((await get('undo', '/api/undo', { identity: now })).identity).toBe(seen);
  }, 60_000);
});
