import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { UserError } from '@hidden-schema/base';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readSyntheticCorpus } from '../src/tasks/synthetic/corpus/reader.ts';
import { SYNTHETIC_DEFAULTS } from '../src/tasks/synthetic/corpus/synthetic.ts';
import { writeSyntheticCorpus } from '../src/tasks/synthetic/corpus/writer.ts';

let root: string;
let dir: string;
let at = 0;
beforeAll(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-reader-'));
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  dir = path.join(root, `corpus-${at++}`);
  fs.mkdirSync(dir);
});

/** A path of three nodes in the authors' layout, without corpus.json. */
const LAYOUT = {
  'train.txt': 'A B C\nB A D\nC B A\nA B A\n',
  'train_walks.txt': '0 1 2\n1 0 1\n2 1 0\n0 1 0\n',
  'valid.txt': 'C D C\n',
  'valid_walks.txt': '2 1 2\n',
  'test.txt': 'D C D\n',
  'test_walks.txt': '1 2 1\n',
  'adjacency.txt': '0 1 0\n1 0 1\n0 1 0\n',
  'edges.tsv': '0\t1\n1\t2\n',
  'node_tokens.tsv': '0\tA\n1\tB D\n2\tC\n',
};
type Files = Partial<Record<keyof typeof LAYOUT | 'corpus.json', string | Buffer | null>>;

function write(changes: Files = {}): void {
  for (const [name, text] of Object.entries({ ...LAYOUT, ...changes })) {
    if (text !== null) fs.writeFileSync(path.join(dir, name), text);
  }
}

function fault(changes: Files): string {
  write(changes);
  try {
    readSyntheticCorpus(dir);
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    const { message } = error as Error;
    expect(message).not.toContain('\n');
    return message.replaceAll(dir, 'DIR');
  }
  throw new Error('expected a fault');
}

describe('readSyntheticCorpus', () => {
  test("reads the authors' layout", () => {
    write();
    const corpus = readSyntheticCorpus(dir);
    expect(corpus.vocabulary).toEqual(['A', 'B', 'D', 'C']);
    expect([corpus.length, corpus.notes, corpus.generator]).toEqual([3, [], undefined]);
    expect(corpus.splits.train).toEqual({
      count: 4,
      tokens: Int32Array.of(0, 1, 3, 1, 0, 2, 3, 1, 0, 0, 1, 0),
      walks: Int32Array.of(0, 1, 2, 1, 0, 1, 2, 1, 0, 0, 1, 0),
    });
    expect([corpus.splits.valid.count, corpus.splits.test.count]).toEqual([1, 1]);
    expect(corpus.bags).toEqual({
      nodes: 3,
      probabilities: Float64Array.of(1, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 1),
    });
    expect(corpus.truth).toEqual({ nodes: 3, data: Uint8Array.of(0, 1, 0, 1, 0, 1, 0, 1, 0) });
  });

  test('takes CRLF, a BOM, blank lines and a missing final newline, and counts what it skips', () => {
    write();
    const plain = readSyntheticCorpus(dir);
    write({
      'train.txt': '\uFEFFA B C\r\nB A D\r\n\r\n  \r\nC  B\tA\r\nA B A ',
      'adjacency.txt': '\uFEFF0 1 0\r\n1 0 1\r\n0 1 0',
      'node_tokens.tsv': '2\tC\r\n0\tA\r\n\r\n1\tB D',
    });
    const { splits, truth, notes, fingerprint, bags } = readSyntheticCorpus(dir);
    expect({ splits, truth, bags }).toEqual({ splits: plain.splits, truth: plain.truth, bags: plain.bags });
    expect(notes).toEqual(['train.txt: skipped 2 blank lines']);
    expect(fingerprint).not.toBe(plain.fingerprint);
  });

  test('probabilities of a third column', () => {
    write({ 'node_tokens.tsv': '0\tA\t1\n1\tB D\t0.25 0.75\n2\tC\n' });
    expect([...readSyntheticCorpus(dir).bags!.probabilities]).toEqual([
      1, 0, 0, 0, 0, 0.25, 0.75, 0, 0, 0, 0, 1,
    ]);
  });

  test('works with train.txt alone: no truth, splits drawn by the seed', () => {
    const lines = Array.from({ length: 100 }, (_, i) => `w${i} x${i % 7} ß`);
    fs.writeFileSync(path.join(dir, 'train.txt'), lines.join('\n'));
    const corpus = readSyntheticCorpus(dir, { seed: 3 });
    const { train, valid, test } = corpus.splits;
    expect([train.count, valid.count, test.count]).toEqual([70, 20, 10]);
    expect([corpus.truth, corpus.bags, train.walks, valid.walks]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    const back = [train, valid, test].flatMap(({ tokens, count }) =>
      Array.from({ length: count }, (_, row) =>
        [0, 1, 2].map((i) => corpus.vocabulary[tokens[3 * row + i]!]).join(' '),
      ),
    );
    expect(back.toSorted()).toEqual(lines.toSorted());
    expect(corpus.notes).toEqual([
      'valid.txt and test.txt not found: 20 sentences for valid and 10 sentences for test taken from the 100 of train.txt (seed 3)',
    ]);
    expect(readSyntheticCorpus(dir, { seed: 3 }).splits).toEqual(corpus.splits);
    expect(readSyntheticCorpus(dir, { seed: 4 }).splits).not.toEqual(corpus.splits);
  });

  test('only test.txt missing: its share comes from train, walks along with it', () => {
    const [sentences, walks] = [LAYOUT['train.txt'].repeat(4), LAYOUT['train_walks.txt'].repeat(4)];
    write({ 'train.txt': sentences, 'train_walks.txt': walks, 'test.txt': null, 'test_walks.txt': null });
    const { train, valid, test } = readSyntheticCorpus(dir).splits;
    expect([train.count, valid.count, test.count]).toEqual([14, 1, 2]);
    expect([...valid.walks!]).toEqual([2, 1, 2]);
    // Node 0 has only the token A (number 0): rows of walks and tokens must have moved together.
    expect([...train.tokens, ...test.tokens].map((token) => token === 0)).toEqual(
      [...train.walks!, ...test.walks!].map((node) => node === 0),
    );
  });

  test('a foreign corpus.json is ignored with a note', () => {
    write({ 'corpus.json': '{"name": "other"}' });
    expect(readSyntheticCorpus(dir).notes).toEqual([
      'corpus.json is not a record of hsn synth and was ignored',
    ]);
  });

  test('tokens split over a chunk boundary stay whole', () => {
    const line = `${'é'.repeat(400)} ${'z'.repeat(250)}`;
    fs.writeFileSync(path.join(dir, 'train.txt'), `${line}\n`.repeat(3000));
    const corpus = readSyntheticCorpus(dir);
    expect(corpus.vocabulary.map((token) => token.length)).toEqual([400, 250]);
    expect(corpus.splits.train.count + corpus.splits.valid.count + corpus.splits.test.count).toBe(3000);
  });

  test('100000 sentences are written and read', () => {
    const out = path.join(dir, 'large');
    writeSyntheticCorpus({ ...SYNTHETIC_DEFAULTS, length: 11 }, out);
    expect(readSyntheticCorpus(out).splits.train.count).toBe(70_000);
  });
});

describe('faults, each in one line', () => {
  test('folder or train.txt missing', () => {
    expect(() => readSyntheticCorpus(path.join(dir, 'none'))).toThrow(
      /none does not exist; check the path, or draw one with "hsn synth"/,
    );
    expect(fault({ 'train.txt': null })).toBe(
      'DIR has no train.txt; expected a file with one sentence a line',
    );
    expect(() => readSyntheticCorpus(path.join(dir, 'valid.txt'))).toThrow(/is a file; expected a folder/);
  });

  test.each<[string, Files, string]>([
    ['empty', { 'train.txt': '\n \n' }, 'train.txt in DIR is empty; expected one sentence a line'],
    [
      'ragged',
      { 'train.txt': 'A B C\nB A\nC B A\nA B A\nA\n' },
      'train.txt:2 has 2 tokens where most sentences have 3 (and 1 more line differs); all sentences of a synthetic corpus must be equally long',
    ],
    [
      'ragged first line',
      { 'train.txt': 'A B C D\nB A D\nC B A\n' },
      'train.txt:1 has 4 tokens where most sentences have 3; all sentences of a synthetic corpus must be equally long',
    ],
    [
      'another length in valid',
      { 'valid.txt': 'A B\n' },
      'valid.txt:1 has 2 tokens where the sentences of train.txt have 3; all sentences of a synthetic corpus must be equally long',
    ],
    [
      'a token outside every bag',
      { 'valid.txt': 'C X C\n', 'test.txt': 'X C Y\n' },
      'the token "X" at valid.txt:1 is in no bag of node_tokens.tsv (the first of 3 such tokens); add it to a bag or remove the sentence',
    ],
    [
      'no tab',
      { 'node_tokens.tsv': '0 A\n' },
      'node_tokens.tsv:1 is "0 A"; expected "node<TAB>token token …", probabilities in a third column',
    ],
    [
      'a node without tokens',
      { 'node_tokens.tsv': '0\tA\n1\t\n' },
      'node_tokens.tsv:2 is "1\\t"; expected "node<TAB>token token …", probabilities in a third column',
    ],
    [
      'no bags',
      { 'node_tokens.tsv': '' },
      'node_tokens.tsv is empty; expected a line "node<TAB>tokens" for each node',
    ],
    [
      'a gap',
      { 'node_tokens.tsv': '0\tA\n1\tB D\n3\tC\n' },
      'node_tokens.tsv has no line for node 2; nodes must be numbered 0 to 3 without gaps',
    ],
    [
      'a node twice',
      { 'node_tokens.tsv': '0\tA\n1\tB D\n1\tC\n' },
      'node_tokens.tsv:3 gives node 1 a second bag; its first is on line 2',
    ],
    [
      'a token twice',
      { 'node_tokens.tsv': '0\tA A\n1\tB D\n2\tC\n' },
      'node_tokens.tsv:1 has the token "A" twice in one bag',
    ],
    [
      'bad probabilities',
      { 'node_tokens.tsv': '0\tA\n1\tB D\t0.5 0.6\n2\tC\n' },
      'node_tokens.tsv:2: expected 2 probabilities that sum to 1 in the third column, got "0.5 0.6"',
    ],
    [
      'not square',
      { 'adjacency.txt': '0 1 0\n1 0 1\n' },
      'adjacency.txt has 2 rows of 3 entries; expected a square matrix',
    ],
    [
      'ragged rows',
      { 'adjacency.txt': '0 1 0\n1 0\n0 1 0\n' },
      'adjacency.txt:2 has 2 entries where the first row has 3',
    ],
    [
      'not 0 or 1',
      { 'adjacency.txt': '0 1 0\n1 0 0.5\n0 1 0\n' },
      'adjacency.txt:2 has the entry "0.5"; expected only 0 and 1',
    ],
    [
      'asymmetric',
      { 'adjacency.txt': '0 1 1\n1 0 1\n0 1 0\n' },
      'adjacency.txt is not symmetric: nodes 0 and 2 are linked in one direction only; the graph is undirected',
    ],
    [
      'another size',
      { 'adjacency.txt': '0 1\n1 0\n' },
      'adjacency.txt is 2 by 2, but node_tokens.tsv has 3 nodes; they must agree',
    ],
    [
      'a walk missing',
      { 'train_walks.txt': '0 1 2\n1 0 1\n2 1 0\n' },
      'train_walks.txt has 3 walks, but train.txt has 4 sentences; expected one walk a sentence',
    ],
    [
      'walks of other sentences',
      { 'train_walks.txt': '0 1 2\n2 1 0\n1 0 1\n0 1 0\n' },
      'train_walks.txt:2 does not match train.txt:2: token 1 is not in the bag of node 2',
    ],
    [
      'a node out of range',
      { 'test_walks.txt': '1 3 1\n' },
      'test_walks.txt:1 passes node 3, but the nodes are 0 to 2',
    ],
    [
      'no node number',
      { 'test_walks.txt': '1 two 1\n' },
      'test_walks.txt:1 has the node "two"; expected whole numbers from 0',
    ],
    [
      'a step without a link',
      { 'valid.txt': 'C A C\n', 'valid_walks.txt': '2 0 2\n' },
      'valid_walks.txt:1 steps from node 2 to 0, which adjacency.txt does not link',
    ],
    [
      'invalid UTF-8',
      { 'train.txt': Buffer.concat([Buffer.from('A B C\nB é '), Buffer.of(0xff), Buffer.from('\n')]) },
      'train.txt:2:6 is not valid UTF-8 (byte 0xff); convert the file to UTF-8',
    ],
    [
      'a cut sequence',
      { 'train.txt': Buffer.concat([Buffer.from('A B '), Buffer.of(0xef, 0xbf), Buffer.from('\n')]) },
      'train.txt:1:5 is not valid UTF-8 (byte 0xef); convert the file to UTF-8',
    ],
    [
      'a lone surrogate',
      { 'train.txt': Buffer.concat([Buffer.from('A B C\n'), Buffer.of(0xed, 0xa0, 0x80)]) },
      'train.txt:2:1 is not valid UTF-8 (byte 0xed); convert the file to UTF-8',
    ],
    ['NUL', { 'train.txt': 'A B C\nA \0 C\n' }, 'train.txt:2:3 is a NUL byte; expected UTF-8 text'],
    [
      'a line of 3 MB',
      { 'train.txt': `A B C\n${'A '.repeat(1_500_000)}` },
      'train.txt:2 is longer than 1048576 bytes; expected one sentence or row a line',
    ],
  ])('%s', (_, changes, message) => {
    expect(fault(changes)).toBe(message);
  });
});
