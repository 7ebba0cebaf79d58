// The paper's corpora in the forms that people have them.
import fs from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { convertPaperCorpus } from '../src/tasks/paper-corpora.ts';

const folder = temporaryFolder('paper-corpora');
afterAll(folder.remove);
const source = folder.path('source');
const out = folder.path('out');

beforeEach(() => {
  for (const each of [source, out]) fs.rmSync(each, { recursive: true, force: true });
  fs.mkdirSync(source);
});

const write = (name: string, text: string) => fs.writeFileSync(path.join(source, name), text);
const read = (name: string) => fs.readFileSync(path.join(out, name), 'utf8');
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ` sentence ${from + i} \n`).join('');

describe('the treebank', () => {
  test('cut as Mikolov cut it is cut again at the sections of the paper', () => {
    write('ptb.train.txt', numbered(42_068));
    write('ptb.valid.txt', numbered(3370, 42_068));
    write('ptb.test.txt', numbered(3761, 45_438));
    write('README', 'not a split');
    const { counts, notes } = convertPaperCorpus('ptb', source, out);
    expect(counts).toEqual({ train: 38_212, valid: 5527, test: 5460 });
    expect(read('valid.txt').split('\n', 1)).toEqual(['sentence 38212']);
    expect(read('test.txt').split('\n', 1)).toEqual(['sentence 43739']);
    expect(read('test.txt').trimEnd().split('\n').at(-1)).toBe('sentence 49198');
    expect(notes[0]).toMatch(/cut again after sections 18 and 21/);
    expect(notes[1]).toBe(
      'the paper has 38219 / 5527 / 5462 for train, valid and test; these are 38212 / 5527 / 5460',
    );
  });

  test('in the paper’s own counts has nothing to note', () => {
    write('train.txt', numbered(38_219));
    write('dev.txt', numbered(5527));
    write('test.txt', numbered(5462));
    expect(convertPaperCorpus('ptb', source, out).notes).toEqual([]);
  });
});

describe('documents', () => {
  test('with a label before a tab keep it', () => {
    write('yahoo.train.txt', '3\twhy is  the sky blue ?\r\n\n7\thow do i cook rice\n');
    write('yahoo.valid.txt', '3\ta _UNK b\n');
    write('yahoo.test.txt', '0\tc d\n');
    const { counts, labels, notes } = convertPaperCorpus('yahoo', source, out);
    expect({ counts, labels }).toEqual({ counts: { train: 2, valid: 1, test: 1 }, labels: 3 });
    expect(read('train.tsv')).toBe('3\twhy is the sky blue ?\n7\thow do i cook rice\n');
    expect(notes).toEqual([
      'the paper has 100000 / 10000 / 10000 for train, valid and test; these are 2 / 1 / 1',
    ]);
  });

  test('without labels are lines', () => {
    for (const split of ['train', 'val', 'test']) write(`yelp-${split}.data`, `good ${split}\nodd\ttab\n`);
    expect(convertPaperCorpus('yelp', source, out).labels).toBe(0);
    expect([read('train.txt'), read('valid.txt')]).toEqual(['good train\nodd tab\n', 'good val\nodd tab\n']);
  });
});

test('ATOMIC’s official form becomes tuples', () => {
  const head = 'event,xEffect,oReact,prefix,split\n';
  const row = (event: string, split: string) =>
    `${event},"[""gets tired"", ""sleeps""]","[""happy""]","[]",${split}\n`;
  write('v4_atomic_trn.csv', head + row('PersonX runs', 'trn'));
  write('v4_atomic_dev.csv', head + row('PersonX sings', 'dev'));
  write('v4_atomic_tst.csv', head + row('PersonX eats', 'tst'));
  const { counts, notes } = convertPaperCorpus('atomic', source, out);
  expect(counts).toEqual({ train: 3, valid: 3, test: 3 });
  expect(read('train.tsv').split('\n', 1)).toEqual(['PersonX runs\txEffect\tgets tired']);
  expect(notes[0]).toContain('710000 / 80000 / 87000');
});

describe('what is refused', () => {
  test.each<[string, () => string, RegExp]>([
    ['a file', () => path.join(source, 'x.txt'), /is not a folder; expected one with files for train/],
    ['a split that is missing', () => source, /has no file for test; expected train\.txt/],
  ])('%s', (_, where, message) => {
    write('x.txt', 'x\n');
    write('train.txt', 'x\n');
    write('valid.txt', 'x\n');
    expect(() => convertPaperCorpus('yelp', where(), out)).toThrow(message);
    expect(fs.existsSync(out)).toBe(false);
  });

  test('two files for one split', () => {
    write('valid.txt', 'x\n');
    write('dev.txt', 'x\n');
    expect(() => convertPaperCorpus('yelp', source, out)).toThrow(/dev\.txt and valid\.txt for valid/);
  });
});
