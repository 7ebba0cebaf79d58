// The authors' pickles as a corpus: against what Python wrote, and refused where files disagree.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/reader';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { convertAuthorsCorpus } from '../src/authors-corpus.ts';

const fixture = fileURLToPath(new URL('../../fixtures/authors-corpus', import.meta.url));
const folder = temporaryFolder('authors');
afterAll(folder.remove);
const source = folder.path('source');
const out = folder.path('corpus');

beforeEach(() => {
  for (const each of [source, out]) fs.rmSync(each, { recursive: true, force: true });
  fs.cpSync(fixture, source, { recursive: true });
});

test('becomes the corpus that their sentences and walks are', () => {
  const corpus = convertAuthorsCorpus(source, out);
  expect(corpus).toEqual(readSyntheticCorpus(out));
  expect(corpus.truth).toMatchObject({ nodes: 6 });
  expect(corpus.notes).toEqual([]);
  for (const [split, count] of [
    ['train', 30],
    ['valid', 8],
    ['test', 7],
  ] as const) {
    expect(corpus.splits[split].count).toBe(count);
    const walks = fs.readFileSync(path.join(out, `${split}_walks.txt`), 'utf8');
    expect(walks).toBe(fs.readFileSync(path.join(fixture, `${split}_walks.expected`), 'utf8'));
    const text = fs.readFileSync(path.join(fixture, `${split}.txt`), 'utf8');
    expect(fs.readFileSync(path.join(out, `${split}.txt`), 'utf8')).toBe(text.replaceAll('\r\n', '\n'));
  }
  expect(fs.readFileSync(path.join(out, 'edges.tsv'), 'utf8')).toBe(
    '0\t1\n0\t2\n1\t3\n1\t4\n2\t4\n3\t5\n4\t5\n',
  );
  expect(fs.readFileSync(path.join(out, 'node_tokens.tsv'), 'utf8')).toMatch(/^0\tT0B T0A\n1\tT1B T1A\n/);
});

test('is not written over another one unless told', () => {
  convertAuthorsCorpus(source, out);
  expect(() => convertAuthorsCorpus(source, out)).toThrow(/is not empty/);
  expect(convertAuthorsCorpus(source, out, { force: true }).length).toBe(5);
});

test.each<[string, () => void, RegExp]>([
  [
    'no graph',
    () => fs.rmSync(path.join(source, 'adjacency_schemata.pkl')),
    /has no adjacency_schemata\.pkl; expected/,
  ],
  [
    'a dict for a graph',
    () => copy('schema_words.pkl', 'adjacency_schemata.pkl'),
    /adjacency_schemata\.pkl holds no square array/,
  ],
  ['walks for bags', () => copy('toy.val_walks.pkl', 'schema_words.pkl'), /schema_words\.pkl holds no dict/],
  [
    'a graph for walks',
    () => copy('adjacency_schemata.pkl', 'toy.val_walks.pkl'),
    /toy\.val_walks\.pkl holds no list/,
  ],
  [
    'walks of other sentences',
    () => copy('toy.val_walks.pkl', 'toy.test_walks.pkl'),
    /test_walks\.txt has 8 walks, but test\.txt has 7/,
  ],
  [
    'walks of two corpora',
    () => copy('toy.val_walks.pkl', 'other.val_walks.pkl'),
    /other\.val_walks\.pkl and toy\.val_walks\.pkl/,
  ],
  [
    'a pickle that calls',
    () => fs.writeFileSync(path.join(source, 'schema_words.pkl'), '\x80\x03cos\nsystem\n.', 'latin1'),
    /names "os system".*byte 2/,
  ],
])('refuses %s, and leaves nothing', (_, change, message) => {
  change();
  expect(() => convertAuthorsCorpus(source, out)).toThrow(message);
  expect(fs.readdirSync(folder.path()).filter((name) => name !== 'source')).toEqual([]);
});

function copy(from: string, to: string): void {
  fs.copyFileSync(path.join(source, from), path.join(source, to));
}
