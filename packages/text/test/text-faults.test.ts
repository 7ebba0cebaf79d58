import fs from 'node:fs';
import { examples, TextFolder, texts } from '@hidden-schema/testing/text-folder';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { corpusNotes } from '../src/index.ts';

const folder = new TextFolder();
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

describe('bytes that are not UTF-8 (fault 21)', () => {
  const bad = bytes('fine\n', 'caf', [0xe9], ' au lait\n', 'fine again\n');

  test('file, line and byte, and what to do', async () => {
    expect(await folder.fault('bad.txt', bad)).toBe(
      'bad.txt:2:4 is not valid UTF-8 (byte 0xe9); name its encoding, as --encoding windows-1252, or choose --on-bad-utf8 replace or skip',
    );
    expect(await folder.fault('bom.txt', bytes([0xef, 0xbb, 0xbf], 'ab', [0xff]))).toContain('bom.txt:1:6 ');
    // A surrogate written out in three bytes is no UTF-8 either.
    expect(await folder.fault('cesu.txt', bytes('x', [0xed, 0xa0, 0x80]))).toContain('cesu.txt:1:2 ');
  });

  test('replaced or skipped, and counted', async () => {
    const replaced = await folder.of('bad.txt', bad, { onBadUtf8: 'replace' });
    expect(texts(replaced)).toEqual(['fine', 'caf\uFFFD au lait', 'fine again']);
    expect(replaced.report.badUtf8).toEqual({ policy: 'replace', lines: 1 });
    expect(corpusNotes(replaced.report)).toEqual([
      '1 line not in UTF-8: read with U+FFFD in place of the bad bytes',
    ]);
    const skipped = await folder.open(folder.file('bad.txt'), { onBadUtf8: 'skip' });
    expect(texts(skipped)).toEqual(['fine', 'fine again']);
    expect(corpusNotes(skipped.report)).toEqual(['1 line not in UTF-8: left out']);
  });

  test('in a CSV record over several lines, in JSON lines and in Parquet', async () => {
    const csv = bytes('text,label\n"one\n', [0xff], '\nthree",a\nnext,b\n');
    expect(await folder.fault('t.csv', csv)).toContain('t.csv:3:1 ');
    expect(examples(await folder.open(folder.file('t.csv'), { onBadUtf8: 'skip' }))).toEqual([['b', 'next']]);
    const json = bytes('{"text": "', [0xc3, 0x28], '"}\n{"text": "ok"}\n');
    expect(texts(await folder.of('t.jsonl', json, { onBadUtf8: 'skip' }))).toEqual(['ok']);
    const table = parquetWriteBuffer({
      columnData: [
        { name: 'text', data: [new Uint8Array([0x61, 0xff]), new Uint8Array([0x62])], type: 'BYTE_ARRAY' },
      ],
    });
    expect(await folder.fault('t.parquet', new Uint8Array(table))).toBe(
      't.parquet:1:2 is not valid UTF-8 in column "text" (byte 0xff); mend the file, or choose --on-bad-utf8 replace or skip',
    );
    expect(texts(await folder.open(folder.file('t.parquet'), { onBadUtf8: 'replace' }))).toEqual([
      'a\uFFFD',
      'b',
    ]);
  });
});

describe('odd files (fault 22)', () => {
  test('an empty file, and one of blank lines', async () => {
    expect(await folder.fault('empty.txt', '')).toBe(
      'empty.txt holds no sentence: it is empty; expected a sentence a line',
    );
    expect(await folder.fault('blank.txt', '\n  \n\t\n')).toBe(
      'blank.txt holds no sentence: of 3 lines 3 are blank and 0 are not UTF-8; expected a sentence a line',
    );
    expect(await folder.fault('empty.parquet', '')).toContain(
      'empty.parquet is not a Parquet file that can be read',
    );
  });

  test('BOM, CRLF, blank lines, no final newline, NUL', async () => {
    const corpus = await folder.of('odd.txt', '\uFEFFone\r\n\r\n  two  \r\nthr\0ee');
    expect(texts(corpus)).toEqual(['one', 'two', 'three']);
    expect(corpus.report).toMatchObject({ boms: 1, crlf: 1, blank: 1, noFinalNewline: 1, nul: 1, lines: 4 });
    expect(corpusNotes(corpus.report)).toEqual([
      '1 blank line passed over',
      'NUL characters removed from 1 text',
    ]);
  });

  test('lone surrogates become U+FFFD, pairs stay', async () => {
    const corpus = await folder.of('s.jsonl', '{"text": "a\\ud800b \\ud83d\\ude00"}\n');
    expect(texts(corpus)).toEqual(['a\uFFFDb 😀']);
    expect(corpus.report.loneSurrogates).toBe(1);
  });

  test('one class only', async () => {
    const corpus = await folder.of('one.tsv', 'good\ta\ngood\tb\n');
    expect(corpusNotes(corpus.report)).toEqual([
      'one class only: every label is "good", so labels tell nothing',
    ]);
  });

  test('columns that are missing, and rows that do not fit', async () => {
    expect(await folder.fault('a.csv', 'prose,stars\nx,1\n')).toBe(
      'a.csv has no column "text"; its columns are "prose", "stars": choose one with --text-column',
    );
    expect(await folder.fault('b.csv', 'text,stars\nx,1\n', { labelColumn: 'label' })).toContain(
      'has no column "label"; its columns are "text", "stars": choose one with --label-column',
    );
    expect(await folder.fault('c.csv', 'text,label\nx, y,1\n')).toBe(
      'c.csv:2 has 3 fields where the header has 2; put texts with commas in quotation marks',
    );
    expect(await folder.fault('d.csv', 'text,label\n"never closed,1\nmore\n')).toContain(
      'd.csv:2 opens a quotation mark that is never closed',
    );
    expect(await folder.fault('e.csv', 'text,label\n"x"y,1\n')).toContain(
      'e.csv:2 has "y,1" after a closing quotation mark',
    );
    expect(await folder.fault('f.tsv', 'good\tx\nno tab here\n')).toContain(
      'f.tsv:2 has no tab; expected "label<TAB>text"',
    );
    expect(await folder.fault('g.jsonl', '{"text": "x"}\n{oops\n')).toContain('g.jsonl:2 is not JSON: ');
    expect(await folder.fault('h.jsonl', '[["x"]]\n')).toContain(
      'h.jsonl:1 is a list; expected one object a line',
    );
    expect(await folder.fault('i.jsonl', '{"text": 5}\n')).toContain(
      'i.jsonl:1 has a "text" that is a number; expected text',
    );
    expect(await folder.fault('j.jsonl', '{"text": "x", "label": {}}\n')).toContain(
      'j.jsonl:1 has a label that is an object',
    );
    const table = parquetWriteBuffer({ columnData: [{ name: 'body', data: ['x'], type: 'STRING' }] });
    expect(await folder.fault('k.parquet', new Uint8Array(table))).toContain('its columns are "body"');
    const many = Array.from({ length: 10_001 }, (_, i) => `l${i}\tx${i}`).join('\n');
    expect(await folder.fault('l.tsv', many, { textColumn: '2', labelColumn: '1' })).toContain(
      'has more than 10000 different labels',
    );
  });
});

describe('long lines (fault 23)', () => {
  test('a line of 1 MB is cut at the limit and counted', async () => {
    const long = 'word '.repeat(210_000);
    const corpus = await folder.of('long.txt', `short\n${long}\nshort\n`, { longestText: 1000 });
    expect(texts(corpus).map((text) => text.length)).toEqual([5, 999, 5]);
    expect(corpus.report.cut).toBe(1);
    expect(corpus.report.tokens!.encoder).toMatchObject({ longest: 64, cutSentences: 1 });
    expect(corpusNotes(corpus.report)[0]).toBe('1 text longer than the limit, cut there');
    const emoji = await folder.of('emoji.txt', '😀'.repeat(20), { longestText: 17 });
    expect(texts(emoji)).toEqual(['😀'.repeat(8)]);
  });

  test('longer than is held: cut, or left out where its end is needed', async () => {
    const options = { longestLine: 64, longestText: 64 };
    const long = 'é'.repeat(100);
    const plain = await folder.of('p.txt', `${long}\nnext\n`, options);
    expect([texts(plain), plain.report.cut]).toEqual([['é'.repeat(32), 'next'], 1]);
    const csv = await folder.of(
      'p.csv',
      `text,label\n"a ""${long}"" b\nc",x\n"${long}, ""and"" more",y\nnext,z\n`,
      options,
    );
    expect([examples(csv), csv.report.tooLong]).toEqual([[['z', 'next']], 2]);
    const json = await folder.of('p.jsonl', `{"text": "${long}"}\n{"text": "next"}\n`, options);
    expect([texts(json), json.report.tooLong]).toEqual([['next'], 1]);
    expect(corpusNotes(json.report)).toEqual(['1 record too long to be read, left out']);
  });

  test('a line of 1 GB takes bounded memory', async () => {
    const file = folder.file('huge.txt');
    fs.writeFileSync(file, 'first\n');
    // A hole reads as NUL bytes without taking space on disk.
    fs.truncateSync(file, 1 << 30);
    fs.appendFileSync(file, '\nlast\n');
    let peak = 0;
    const before = process.memoryUsage().rss;
    const corpus = await folder.open(file, {
      onProgress: () => {
        peak = Math.max(peak, process.memoryUsage().rss);
      },
    });
    expect(texts(corpus)).toEqual(['first', 'last']);
    expect(corpus.report).toMatchObject({ lines: 3, nul: 1, blank: 1 });
    expect(peak - before).toBeLessThan(200 * 2 ** 20);
  }, 60_000);
});

test('memory does not grow with the corpus (fault 24)', async () => {
  const file = folder.file('big.txt');
  const block = Array.from(
    { length: 1000 },
    (_, i) => `sentence ${i} of a corpus that is read once and never held`,
  ).join('\n');
  const out = fs.openSync(file, 'w');
  for (let i = 0; i < 40; i++) fs.writeSync(out, `${block}\n`);
  fs.closeSync(out);
  const held: number[] = [];
  const corpus = await folder.open(file, {
    onProgress: ({ phase, sentences }) => {
      if (phase === 'tokenising' && sentences % 2560 === 0) held.push(process.memoryUsage().arrayBuffers);
    },
  });
  expect(corpus.store.count).toBe(40_000);
  expect(held.length).toBeGreaterThan(10);
  // Buffers in use at the end are no more than some batches' worth above those near the start.
  expect(held.at(-1)! - held[2]!).toBeLessThan(30 * 2 ** 20);
  expect(corpus.store.lengths.encoder.byteLength + corpus.store.lengths.decoder.byteLength).toBe(4 * 40_000);
});
