import fs from 'node:fs';
import { Readable } from 'node:stream';
import { examples, TextFolder, texts } from '@hidden-schema/testing/text-folder';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { corpusNotes } from '../src/index.ts';

const folder = new TextFolder();

const labelled = [
  ['good', 'a fine meal'],
  ['bad', 'the soup, cold'],
  ['good', 'she said "never again" and\nleft'],
] as const;

describe('formats', () => {
  test('a sentence a line', async () => {
    const corpus = await folder.of('plain.txt', 'one sentence\nand another\n');
    expect(examples(corpus)).toEqual([
      [undefined, 'one sentence'],
      [undefined, 'and another'],
    ]);
    expect(corpus.report).toMatchObject({ sentences: 2, lines: 2, unlabelled: 2, labels: [] });
    expect(corpus.report.files[0]).toMatchObject({
      name: 'plain.txt',
      format: 'text',
      sentences: 2,
      lines: 2,
    });
    expect(corpusNotes(corpus.report)).toEqual([]);
  });

  test('label, tab, text', async () => {
    const corpus = await folder.of('reviews.tsv', 'good\ta fine meal\nbad\tthe soup\twas cold\n');
    expect(examples(corpus)).toEqual([
      ['good', 'a fine meal'],
      ['bad', 'the soup\twas cold'],
    ]);
    expect(corpus.labels).toEqual(['good', 'bad']);
  });

  test('tab-separated columns by name', async () => {
    const text = 'id\tstars\tbody\n1\t5\tlovely\n2\t1\tawful\n';
    const corpus = await folder.of('t.tsv', text, { textColumn: 'body', labelColumn: 'stars' });
    expect(examples(corpus)).toEqual([
      ['5', 'lovely'],
      ['1', 'awful'],
    ]);
  });

  test('comma-separated values with quoting', async () => {
    const text =
      'label,text,n\r\ngood,a fine meal,1\r\nbad,"the soup, cold",2\r\n"good","she said ""never again"" and\nleft",3\r\n';
    const corpus = await folder.of('t.csv', text);
    expect(examples(corpus)).toEqual(labelled);
    expect(corpus.report.crlf).toBe(1);
    expect(corpus.store.example(2).line).toBe(4);
  });

  test('JSON lines', async () => {
    const rows = [
      { stars: 5, body: 'lovely' },
      { stars: true, body: 'odd' },
      { stars: null, body: 'none' },
    ];
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    const corpus = await folder.of('t.jsonl', text, { textColumn: 'body', labelColumn: 'stars' });
    expect(examples(corpus)).toEqual([
      ['5', 'lovely'],
      ['true', 'odd'],
      [undefined, 'none'],
    ]);
    expect(corpusNotes(corpus.report)).toEqual(['1 sentence without a label']);
  });

  test('Parquet, over row groups', async () => {
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: [1, 2, 3], type: 'INT32' },
        { name: 'label', data: labelled.map(([label]) => label), type: 'STRING' },
        { name: 'text', data: labelled.map(([, text]) => text), type: 'STRING' },
      ],
      rowGroupSize: 2,
    });
    expect(examples(await folder.of('t.parquet', new Uint8Array(bytes)))).toEqual(labelled);
    const stars = await folder.open(folder.file('t.parquet'), { labelColumn: 'id' });
    expect(stars.labels).toEqual(['1', '2', '3']);
  });

  test('any fields survive a CSV', async () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é'), maxLength: 8 });
    const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(field, field), { minLength: 1, maxLength: 5 }), async (rows) => {
        const name = `f${run++}.csv`;
        const text = rows.map(([label, text]) => `${quote(`x${label}`)},${quote(`y${text}`)}\n`).join('');
        const corpus = await folder.of(name, `label,text\n${text}`);
        expect(examples(corpus)).toEqual(
          rows.map(([label, text]) => [`x${label}`.trim(), `y${text}`.trim()]),
        );
        corpus.close();
      }),
      { numRuns: 40 },
    );
  });

  test('standard input', async () => {
    const stdin = Readable.from([Buffer.from('first li'), Buffer.from('ne\nsecond line')]);
    const corpus = await folder.open('-', { stdin });
    expect(texts(corpus)).toEqual(['first line', 'second line']);
    expect(corpus.report.files[0]!.name).toBe('standard input');
    expect(fs.readdirSync(`${folder.cache}/input`)).toEqual([]);
  });
});

describe('splits', () => {
  test('a folder with train, valid and test files of any format, walks passed over', async () => {
    folder.write({
      'c/train.tsv': 'x\tone\ny\ttwo\n',
      'c/dev.txt': 'three\n',
      'c/test.jsonl': '{"text": "four"}\n',
      'c/train_walks.txt': '0 1\n1 0\n',
      'c/README.md': 'not text',
    });
    const corpus = await folder.open(folder.file('c'));
    expect(texts(corpus)).toEqual(['one', 'two', 'three', 'four']);
    const rows = Object.fromEntries(Object.entries(corpus.splits).map(([name, rows]) => [name, [...rows]]));
    expect(rows).toEqual({ train: [0, 1], valid: [2], test: [3] });
  });

  test('shards, and files named for each split', async () => {
    folder.write({
      's/train-00001-of-00002.txt': 'b',
      's/train-00000-of-00002.txt': 'a',
      's/validation.txt': 'c',
    });
    const shards = await folder.open(folder.file('s'));
    expect([texts(shards), [...shards.splits.valid]]).toEqual([['a', 'b', 'c'], [2]]);
    folder.write({ 'p.txt': 'one\n', 'q.txt': 'two\n' });
    const named = await folder.open({ train: folder.file('p.txt'), test: [folder.file('q.txt')] });
    expect([[...named.splits.train], [...named.splits.valid], [...named.splits.test]]).toEqual([
      [0],
      [],
      [1],
    ]);
  });

  test('by seed: close to the shares, repeatable, and equal texts lie together', async () => {
    const lines = Array.from({ length: 2000 }, (_, i) => `sentence number ${i % 1500}`);
    const corpus = await folder.of('many.txt', lines.join('\n'), { split: [70, 20, 10], seed: 3 });
    const { train, valid, test } = corpus.splits;
    expect(train.length + valid.length + test.length).toBe(2000);
    expect(Math.abs(train.length - 1400)).toBeLessThan(100);
    expect(Math.abs(valid.length - 400)).toBeLessThan(80);
    const of = (rows: Int32Array) => new Set(Array.from(rows, (row) => lines[row]));
    const [inTrain, inTest] = [of(train), of(test)];
    expect([...inTest].filter((text) => inTrain.has(text))).toEqual([]);
    const again = await folder.open(folder.file('many.txt'), { split: [70, 20, 10], seed: 3 });
    expect(again.cached).toBe(true);
    expect(again.splits).toEqual(corpus.splits);
    const other = await folder.open(folder.file('many.txt'), { split: [70, 20, 10], seed: 4 });
    expect(other.splits.train).not.toEqual(train);
  });

  test('one sentence is a sentence to train on', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const corpus = await folder.of('one.txt', 'alone', { split: [1, 50, 50], seed });
      expect([...corpus.splits.train]).toEqual([0]);
      expect(corpusNotes(corpus.report, { batchSize: 32 })).toContain(
        '1 sentence, fewer than a batch of 32: batches hold what there is',
      );
    }
  });

  test('duplicates are removed when asked for, across files too', async () => {
    folder.write({ 'd/train.txt': 'a\nb\na\n', 'd/test.txt': 'b\nc\n' });
    const kept = await folder.open(folder.file('d'));
    expect(kept.report.sentences).toBe(5);
    const removed = await folder.open(folder.file('d'), { duplicates: 'remove' });
    expect(texts(removed)).toEqual(['a', 'b', 'c']);
    expect([...removed.splits.test]).toEqual([2]);
    expect(corpusNotes(removed.report)).toEqual(['2 duplicates removed']);
  });

  test('a folder that cannot be trained on', async () => {
    folder.write({ 'e/dev.tsv': 'a\tb\n', 'e/test.tsv': 'a\tb\n', 'f/notes.bin': 'x' });
    await expect(folder.open(folder.file('e'))).rejects.toThrow(
      'no training texts: dev.tsv is for valid, test.tsv is for test; expected a train file, or name one file to be split',
    );
    await expect(folder.open(folder.file('f'))).rejects.toThrow(
      'holds no corpus; expected a table such as train.csv',
    );
    await expect(folder.open(folder.file('g.txt'))).rejects.toThrow('g.txt does not exist');
    await expect(folder.of('h.txt', 'a', { split: [0, 1, 1] })).rejects.toThrow(
      'split: expected three shares',
    );
  });
});
