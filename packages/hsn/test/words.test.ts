import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openTextCorpus } from '@hidden-schema/testing/text-corpus';
import { trainByteBpe } from '@hidden-schema/text';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasEdge } from '../src/tasks/synthetic/corpus/graphs.ts';
import { readAdjacency } from '../src/tasks/synthetic/corpus/hidden-graph.ts';
import { THEMES } from '../src/tasks/synthetic/corpus/word-topics.ts';
import {
  drawWords,
  WORD_DEFAULTS,
  WordSampler,
  type WordSettings,
  wordFaults,
  writeWordsCorpus,
} from '../src/tasks/synthetic/corpus/words.ts';

let root: string;
beforeAll(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-words-'));
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

const settings = (changes: Partial<WordSettings> = {}): WordSettings => ({
  ...WORD_DEFAULTS,
  sentences: 500,
  ...changes,
});
const lines = (folder: string, name: string): string[] =>
  fs.readFileSync(path.join(folder, name), 'utf8').split('\n').slice(0, -1);

test('topics: enough of them, no phrase twice, nothing that breaks a line', () => {
  const topics = THEMES.flatMap(({ topics }) => topics);
  const phrases = topics.flatMap(({ phrases }) => phrases);
  expect(topics.length).toBe(36);
  expect(topics.every(({ phrases }) => phrases.length === 6)).toBe(true);
  expect(new Set(phrases).size).toBe(phrases.length);
  for (const phrase of phrases) expect(phrase).toMatch(/^[a-z][A-Za-z -]+[a-z]$/);
});

describe('a corpus of words', () => {
  let folder: string;
  beforeAll(() => {
    folder = path.join(root, 'words');
    writeWordsCorpus(settings(), folder);
  });

  test('is a folder with labelled splits and the truth beside them', () => {
    expect(fs.readdirSync(folder).sort()).toEqual([
      'adjacency.txt',
      'corpus.json',
      'edges.tsv',
      'node_phrases.tsv',
      'test.tsv',
      'test_walks.txt',
      'train.tsv',
      'train_walks.txt',
      'valid.tsv',
      'valid_walks.txt',
    ]);
    expect(['train', 'valid', 'test'].map((split) => lines(folder, `${split}.tsv`).length)).toEqual([
      400, 50, 50,
    ]);
    const record = JSON.parse(fs.readFileSync(path.join(folder, 'corpus.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(record).toMatchObject({
      format: 'hsn-words-corpus',
      version: 1,
      counts: { nodes: 36, phrases: 216 },
    });
  });

  test('each sentence is its walk on the graph, in the words of the nodes, under the right label', () => {
    const { truth } = readAdjacency(path.join(folder, 'adjacency.txt'));
    const nodes = lines(folder, 'node_phrases.tsv').map((line) => line.split('\t'));
    const walks = lines(folder, 'train_walks.txt').map((line) => line.split(' ').map(Number));
    for (const [i, line] of lines(folder, 'train.tsv').entries()) {
      const [label, text] = line.split('\t') as [string, string];
      const walk = walks[i]!;
      expect(walk.length).toBe(5);
      for (let at = 1; at < 5; at++) expect(hasEdge(truth, walk[at - 1]!, walk[at]!)).toBe(true);
      expect(text).toMatch(/^[A-Z].*\.$/);
      const said = `${text[0]!.toLowerCase()}${text.slice(1, -1)}`;
      let rest = said;
      for (const node of walk) {
        const phrase = nodes[node]!.slice(3).find((phrase) => rest.startsWith(phrase));
        expect(phrase).toBeDefined();
        rest = rest.slice(phrase!.length).replace(/^(, | and )/, '');
      }
      expect(rest).toBe('');
      const themes = walk.map((node) => nodes[node]![1]!);
      const most = Math.max(...themes.map((theme) => themes.filter((other) => other === theme).length));
      expect(themes.filter((theme) => theme === label).length).toBe(most);
    }
  });

  test('communities are blocks of the graph', () => {
    const { adjacency, nodes } = drawWords(settings());
    let [inside, between] = [0, 0];
    for (let i = 0; i < 36; i++)
      for (let j = 0; j < i; j++)
        if (hasEdge(adjacency, i, j)) nodes[i]!.theme === nodes[j]!.theme ? inside++ : between++;
    expect(inside).toBeGreaterThan(3 * between);
    expect(new Set(nodes.map(({ topic }) => topic.name)).size).toBe(36);
  });

  test('the same seed gives the same files, another other ones', () => {
    const read = (name: string, changes: Partial<WordSettings>) => {
      const out = path.join(root, name);
      writeWordsCorpus(settings(changes), out);
      return fs.readdirSync(out).map((file) => fs.readFileSync(path.join(out, file), 'utf8'));
    };
    const first = fs.readdirSync(folder).map((file) => fs.readFileSync(path.join(folder, file), 'utf8'));
    expect(read('again', {})).toEqual(first);
    expect(read('other', { seed: 2 })).not.toEqual(first);
  });

  test('opens as a corpus of text', async () => {
    const tokenizer = trainByteBpe(['the a'], 260);
    const sides = { encoder: { tokenizer, longest: 256 }, decoder: { tokenizer, longest: 256 } };
    const corpus = await openTextCorpus(folder, sides, { cache: path.join(root, 'cache') });
    expect([corpus.splits.train.length, corpus.splits.valid.length, corpus.splits.test.length]).toEqual([
      400, 50, 50,
    ]);
    expect(corpus.labels.toSorted()).toEqual(THEMES.map(({ name }) => name).toSorted());
    corpus.close();
  });

  test('other graphs and lengths', () => {
    const watts = settings({ graph: 'watts', graphOptions: { neighbours: 4 }, nodes: 20, length: 1 });
    const language = drawWords(watts);
    const { walk, text, label } = new WordSampler(language, watts).next();
    expect(walk.length).toBe(1);
    const { topic, theme } = language.nodes[walk[0]!]!;
    expect([topic.phrases.map((phrase) => phrase.toLowerCase()), label]).toEqual([
      expect.arrayContaining([text.slice(0, -1).toLowerCase()]),
      THEMES[theme]!.name,
    ]);
  });

  test('faults, all at once', () => {
    const of = (changes: Partial<WordSettings>) =>
      wordFaults(settings(changes)).map(({ setting, text }) => `${setting}: ${text}`);
    expect(of({ nodes: 37 })).toEqual(['nodes: there are topics for 36 nodes, got 37']);
    expect(of({ graphOptions: { blocks: 7 } })).toEqual([
      'blocks: there are themes for 6 communities, got 7',
    ]);
    expect(of({ graphOptions: { blocks: 3 } })[0]).toContain(
      'a theme has 6 topics, but 36 nodes in 3 communities need 12',
    );
    expect(of({ length: 0, sentences: 0, split: [0, 1, 1] }).length).toBe(3);
    expect(() => drawWords(settings({ nodes: 37 }))).toThrow('nodes: there are topics for 36 nodes, got 37');
    expect(() => writeWordsCorpus(settings(), folder)).toThrow(
      'is not empty; choose another folder, or --force',
    );
    fs.mkdirSync(path.join(root, 'foreign'));
    fs.writeFileSync(path.join(root, 'foreign/mine.txt'), 'x');
    expect(() => writeWordsCorpus(settings(), path.join(root, 'foreign'), { force: true })).toThrow(
      'holds more than a corpus (mine.txt)',
    );
  });
});
