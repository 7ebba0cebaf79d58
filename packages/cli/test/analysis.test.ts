import fs from 'node:fs';
import path from 'node:path';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinyCorpus, tinyFlags } from '@hidden-schema/testing/tiny-corpus';
import { tinyLanguageFlags, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-analysis');
const run = folder.path('run');
const synthetic = folder.path('synthetic');
const out = folder.path('out');

beforeAll(async () => {
  folder.holdCache();
  const sizes = ['--symbols', '6', '--length', '3', ...tinyLanguageFlags, '--set', 'warmStart.steps=0'];
  const corpus = writeTexts(folder.path('reviews.tsv'));
  expect((await hsn('train', '--corpus', corpus, '--out', run, ...sizes)).code).toBe(0);
  tinyCorpus(folder.path('corpus'));
  const args = ['--corpus', folder.path('corpus'), '--out', synthetic, ...tinyFlags];
  expect((await hsn('train', ...args)).code).toBe(0);
});
afterAll(folder.remove);

const png = (name: string) => fs.readFileSync(path.join(out, name)).subarray(1, 4).toString();

describe('hsn graph', () => {
  test.each([() => run, () => synthetic])('statistics, a verdict, and files', async (where) => {
    const ended = await hsn('graph', where(), '--samples', '6', '--out', out);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/inferred +[\d.]+ ± [\d.]+ /);
    expect(ended.stdout).toMatch(/random, p = 0\.5 /);
    expect(ended.stdout).toMatch(/^(Not small|Small)-world: /m);
    expect(png('degree-distribution.png')).toBe('PNG');
    const csv = fs.readFileSync(path.join(out, 'graph-statistics.csv'), 'utf8');
    expect(csv).toMatch(/^graph,edges,edges sd,diameter,/);
  });

  test('JSON has the same numbers, and writes nothing', async () => {
    const ended = await hsn('graph', run, '--samples', '6', '--json');
    const study = JSON.parse(ended.stdout);
    const file = JSON.parse(fs.readFileSync(path.join(out, 'graph-statistics.json'), 'utf8'));
    expect(Object.keys(study)).toEqual(Object.keys(file));
    expect(study.inferred).toMatchObject({ samples: 6, nodes: 6 });
    expect(fs.existsSync(path.join(run, 'figures'))).toBe(false);
  });

  test('exports by the ending of the file', async () => {
    for (const ending of ['gexf', 'graphml', 'json', 'csv']) {
      const file = folder.path(`graph.${ending}`);
      const ended = await hsn('graph', run, '--export', file, '--threshold', '0.01', '--limit', '40');
      expect(ended.stdout).toMatch(/^6 symbols and \d+ links written to /);
      expect(fs.statSync(file).size).toBeGreaterThan(50);
    }
    expect(fs.readFileSync(folder.path('graph-nodes.csv'), 'utf8')).toMatch(/^symbol,name,words,usage,x,y,/);
    const wrong = await hsn('graph', run, '--export', folder.path('graph.dot'));
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toMatch(
      /^hsn: --export takes a file ending in \.gexf, \.graphml, \.json, \.csv, got .*\n$/,
    );
  });
});

describe('labels, symbols and names', () => {
  test('hsn labels', async () => {
    const ended = await hsn('labels', run, '--out', out, '--limit', '60');
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/label +good +bad|label +bad +good/);
    expect(png('label-maps.png')).toBe('PNG');
    const only = await hsn('labels', run, '--only', 'good', '--json');
    expect(JSON.parse(only.stdout).maps).toHaveLength(1);
    expect((await hsn('labels', run, '--only', 'mood')).stderr).toMatch(
      /^hsn: there is no label "mood"; labels are /,
    );
    expect((await hsn('labels', synthetic)).stderr).toMatch(/^hsn: the sentences of .* have no labels/);
  });

  test('a name is shown everywhere', async () => {
    const named = await hsn('rename', run, '2', 'moods');
    expect(named.stdout).toBe('symbol 2 is now "moods"\n');
    const one = JSON.parse((await hsn('symbols', run, '2', '--json')).stdout);
    expect(one).toMatchObject({ symbol: 2, name: 'moods' });
    const graph = folder.path('named.json');
    await hsn('graph', run, '--export', graph);
    expect(JSON.parse(fs.readFileSync(graph, 'utf8')).nodes[2].name).toBe('moods');
    expect((await hsn('rename', run, '2', '')).stdout).toMatch(/^symbol 2 is now ".+"\n$/);
    expect((await hsn('rename', run, '6', 'x')).stderr).toBe(
      'hsn: the symbols of this model are 0 to 5, got 6\n',
    );
  });

  test('hsn symbols', async () => {
    const ended = await hsn('symbols', run, '--out', out);
    expect(ended.stdout).toMatch(/^symbol +usage +sentences +label +words +attended by$/m);
    expect(fs.readFileSync(path.join(out, 'symbols.csv'), 'utf8')).toMatch(/^symbol,usage,/);
    expect((await hsn('symbols', synthetic, '--out', out)).code).toBe(0);
  });
});

describe('attention and interpolation', () => {
  test('hsn attend', async () => {
    const ended = await hsn('attend', run, '--words', 'is,was', '--out', out);
    expect(ended.stdout).toMatch(/^layer +KL\(is, was\) +KL\(was, is\)$/m);
    for (const name of ['attention-layers.png', 'attention-layer-1-heads.png']) expect(png(name)).toBe('PNG');
    expect((await hsn('attend', synthetic, '--words', 'a,b')).stderr).toMatch(/takes a language model\n$/);
  });

  test('hsn interpolate', async () => {
    const two = ['the cat is very good', 'this place was terrible'];
    const flags = ['--max-tokens', '4', '--threshold', '0.0001', '--out', out];
    const ended = await hsn('interpolate', run, ...two, ...flags);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(/^from .*the cat is very good$/m);
    expect(ended.stdout).toMatch(/^path: .+ \(\d\)( → .+ \(\d\))*/m);
    expect((await hsn('interpolate', run, ...two, '--nodewise', ...flags)).code).toBe(0);
  });
});

test('hsn report writes a page and a card', async () => {
  const file = folder.path('report.html');
  const ended = await hsn('report', run, '--out', file, '--samples', '4', '--words', 'is,was');
  expect(ended).toMatchObject({ code: 0 });
  expect(fs.readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/);
  expect(fs.readFileSync(path.join(run, 'MODEL.md'), 'utf8')).toContain('## Limits');
});

describe('hsn reproduce from a run', () => {
  test.each([
    ['table4', /paper, HSN\(50, 5\) +YELP +891\.06 ± 6\.50/],
    ['figure2', /mean degree/],
    ['figure3', /Jensen–Shannon/],
    ['figure4', /Jensen–Shannon/],
    ['table7', /paper: good bad, good great, great bad +12 of 12 +0\.635/],
    ['table8', /Yahoo +the paper, mean of all sizes +22/],
    ['table9', /Interpolate, HSN\(\d+, \d+\) on \S+: (good|bad) – (good|bad)/],
    ['figure11', /its largest component/],
  ])('%s', async (name, shown) => {
    const words = name === 'table7' ? ['--words', 'is,was,good'] : [];
    const ended = await hsn('reproduce', name, '--run', run, '--out', folder.path('paper'), ...words);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(shown);
    expect(ended.stdout.replaceAll('\n', ' ')).toContain('The paper trained BERT and GPT-2');
    const files = fs.readdirSync(folder.path('paper'));
    expect(files).toContain(`${name}.json`);
    const drawn = files.filter((file) => file.startsWith(name) && file.endsWith('.png'));
    if (name.startsWith('figure')) expect(drawn.length).toBeGreaterThan(0);
  });

  test('runs of one size and corpus are told apart by their folders', async () => {
    const other = folder.path('another');
    fs.cpSync(run, other, { recursive: true });
    const both = ['--run', `${run},${other}`, '--quick', '--out', folder.path('both')];
    const { code, stdout } = await hsn('reproduce', 'figure2', ...both);
    expect(code).toBe(0);
    for (const name of ['run', 'another'])
      expect(stdout).toMatch(new RegExp(`HSN\\(6, 3\\) on reviews\\.tsv, ${name} `));
  });

  test('an unknown name', async () => {
    const ended = await hsn('reproduce', 'figure99', '--run', run);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^hsn: "figure99" cannot be reproduced: expected .*table4.*\n$/);
  });
});
