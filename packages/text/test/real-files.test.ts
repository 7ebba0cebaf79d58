import fs from 'node:fs';
import { examples, TextFolder, texts } from '@hidden-schema/testing/text-folder';
import { describe, expect, test } from 'vitest';
import { corpusNotes, TextFiles } from '../src/index.ts';

const folder = new TextFolder();
const notesOf = async (name: string, options = {}) =>
  (await TextFiles.find(folder.file(name), { cache: folder.cache, ...options })).notes;

describe('tables as people have them', () => {
  const rows = [
    ['good', 'a fine meal; really'],
    ['bad', 'the "soup" was cold'],
  ];
  const excel =
    '\uFEFFDate;Text;Label\r\n2024-01-05;"a fine meal; really";good\r\n2024-01-06;"the ""soup"" was cold";bad\r\n';

  test("Excel's CSV: byte order mark, semicolons, names in capitals", async () => {
    expect(examples(await folder.of('excel.csv', excel))).toEqual(rows);
    expect(await notesOf('excel.csv')).toEqual([
      'excel.csv: first row taken as names: Date, Text, Label; texts from Text, labels from Label, columns separated by ";"',
    ]);
    expect(examples(await folder.of('sep.csv', `sep=;\r\n${excel.slice(1)}`))).toEqual(rows);
  });

  test('UTF-16 by its byte order mark, and encodings that are named', async () => {
    const wide = await folder.of('wide.csv', Buffer.from(excel, 'utf16le'));
    expect(examples(wide)).toEqual(rows);
    expect(corpusNotes(wide.report)).toContain('1 file read as UTF-16, by the byte order mark');
    const big = Buffer.from('\uFEFFcafé\nnaïve\n', 'utf16le').swap16();
    expect(texts(await folder.of('big.txt', big))).toEqual(['café', 'naïve']);
    const latin = Buffer.from('caf\xe9 \x80 5\n', 'latin1');
    expect(texts(await folder.of('latin.txt', latin, { encoding: 'cp1252' }))).toEqual(['café € 5']);
    expect(await folder.fault('latin.txt', latin)).toContain('as --encoding windows-1252');
    expect(await folder.fault('latin.txt', latin, { encoding: 'klingon' })).toContain('--encoding takes');
    const half = Buffer.concat([Buffer.from('\uFEFFab', 'utf16le'), Buffer.from([0x00, 0xd8])]);
    expect(await folder.fault('half.txt', half)).toContain('half.txt is not valid utf-16le');
  });

  test('TSV with a row of names, found or asked for', async () => {
    const table = 'id\ttext\tlabel\n1\tone text\ta\n2\tanother\tb\n';
    expect(examples(await folder.of('t.tsv', table))).toEqual([
      ['a', 'one text'],
      ['b', 'another'],
    ]);
    expect(await notesOf('t.tsv')).toEqual([
      't.tsv: first row taken as names: id, text, label; texts from text, labels from label',
    ]);
    expect(texts(await folder.open(folder.file('t.tsv'), { header: false }))).toContain('text');
    // A label that is called as columns often are is no header.
    const plain = 'comment\tnice\npraise\tlovely\ncomment\todd\n';
    expect((await folder.of('p.tsv', plain)).labels).toEqual(['comment', 'praise']);
    expect(await notesOf('p.tsv')).toEqual([]);
  });

  test('without a row of names columns are numbers', async () => {
    const table = Array.from({ length: 8 }, (_, i) => `"${i % 2}","title ${i}","a long text, number ${i}"`);
    const corpus = await folder.of('n.csv', table.join('\n'));
    expect(examples(corpus)[7]).toEqual(['1', 'a long text, number 7']);
    expect(await notesOf('n.csv')).toEqual([
      'n.csv: no row of names, so columns are numbers; texts from column 3, labels from column 1',
    ]);
    const titles = await folder.open(folder.file('n.csv'), { textColumn: '2' });
    expect(texts(titles)[0]).toBe('title 0');
  });

  test('a delimiter that is named', async () => {
    const corpus = await folder.of('d.csv', 'text~label\nhello, you~a\n', { delimiter: '~' });
    expect(examples(corpus)).toEqual([['a', 'hello, you']]);
    expect(await folder.fault('d.csv', 'a', { delimiter: '::' })).toContain(
      '--delimiter takes one character',
    );
  });

  test('dates and numbers of rows are no labels unless they are named', async () => {
    const day = (i: number) => `2024-02-${String(1 + (i % 28)).padStart(2, '0')}`;
    const dated = Array.from({ length: 40 }, (_, i) => `${day(i)}\ttext ${i}`).join('\n');
    const corpus = await folder.of('dated.tsv', dated);
    expect([corpus.labels, texts(corpus)[0]]).toEqual([[], 'text 0']);
    expect(await notesOf('dated.tsv')).toEqual([
      'dated.tsv: the first column holds dates, such as 2024-02-01, so it is not taken as labels; --label-column 1 takes it, --time-column 1 takes dates',
    ]);
    const named = await folder.open(folder.file('dated.tsv'), { labelColumn: '1', textColumn: '2' });
    expect(named.labels).toHaveLength(28);
    expect((await notesOf('dated.tsv', { labelColumn: '1', textColumn: '2' })).at(-1)).toContain('are dates');
    const ids = Array.from({ length: 40 }, (_, i) => `${i}\ttext ${i}`).join('\n');
    expect((await folder.of('ids.tsv', ids)).labels).toEqual([]);
  });

  test('texts of 0.2.0 are read as they were then', async () => {
    const table = 'label\ttext\na\tone\n';
    const corpus = await folder.of('old.tsv', table, { layout: 'declared' });
    expect(examples(corpus)).toEqual([
      ['label', 'text'],
      ['a', 'one'],
    ]);
    expect(texts(await folder.open(folder.file('old.tsv')))).toEqual(['one']);
  });
});

describe('JSON', () => {
  test('a list over lines, a path, and objects without a text', async () => {
    const list = [
      { content: { body: 'one, [with] "marks" and {braces}' }, meta: { kind: 'a' } },
      { content: {} },
      { content: { body: 'two' } },
    ];
    const options = { textColumn: 'content.body', labelColumn: 'meta.kind' };
    const corpus = await folder.of('list.json', JSON.stringify(list, null, 2), options);
    expect(examples(corpus)).toEqual([
      ['a', 'one, [with] "marks" and {braces}'],
      [undefined, 'two'],
    ]);
    expect(corpusNotes(corpus.report)).toContain('1 row without a text passed over');
    const lines = list.map((row) => JSON.stringify(row)).join('\n');
    expect(examples(await folder.of('lines.json', lines, options))).toEqual(examples(corpus));
  });

  test('a list of texts, an empty one, one that is cut, and one without the column', async () => {
    expect(texts(await folder.of('t.json', '["one", "two, too"]'))).toEqual(['one', 'two, too']);
    expect(await folder.fault('e.json', '[]')).toContain('holds no sentence');
    expect(await folder.fault('cut.json', '[{"text": "one"}, {"text": ')).toContain('is never closed');
    expect(await folder.fault('none.json', '[{"body": "one"}]')).toBe(
      'none.json has no column "text"; its columns are "body": choose one with --text-column',
    );
    const long = `[{"text": "${'x'.repeat(4000)}"}, {"text": "short"}]`;
    const corpus = await folder.of('long.json', long, { longestLine: 1000 });
    expect([texts(corpus), corpus.report.tooLong]).toEqual([['short'], 1]);
  });
});

describe('folders of documents', () => {
  const files = {
    'docs/sport/a.txt': 'The match\nwas long.\n',
    'docs/sport/b.md': '---\ntitle: x\n---\n# Final\n\nThey **won** [the cup](http://x.org/y).\n',
    'docs/money/c.html':
      '<html><head><title>Rates</title><style>p{}</style></head><body><p>Rates &amp; prices</p><script>bad()</script></body></html>',
    'docs/money/notes.bin': 'passed over',
  };

  test('one file is one document, folders are labels, markup is left out', async () => {
    folder.write(files);
    const corpus = await folder.open(folder.file('docs'));
    expect(examples(corpus)).toEqual([
      ['money', 'Rates\n\nRates & prices'],
      ['sport', 'The match\nwas long.'],
      ['sport', 'Final\n\nThey won the cup.'],
    ]);
    expect(await notesOf('docs')).toEqual([
      'docs: 3 documents, one a file, labels are the 2 folders in it; --input-format text reads one a line',
    ]);
  });

  test('what it is known by: contents and names of its documents, wherever the folder lies', async () => {
    folder.write(files);
    const print = async (name: string) =>
      (await (await TextFiles.find(folder.file(name), { cache: folder.cache })).fingerprint()).fingerprint;
    const before = await print('docs');
    fs.cpSync(folder.file('docs'), folder.file('copy'), { recursive: true });
    expect(await print('copy')).toBe(before);
    fs.renameSync(folder.file('copy/sport/a.txt'), folder.file('copy/money/a.txt'));
    expect(await print('copy')).not.toBe(before);
    folder.write({ 'docs/sport/a.txt': 'Another match.' });
    expect(await print('docs')).not.toBe(before);
  });

  test('splits as folders, links that are not followed, and lines where they are asked for', async () => {
    folder.write({ 's/train/pos/1.txt': 'good', 's/train/neg/2.txt': 'bad', 's/test/pos/3.txt': 'fine' });
    const corpus = await folder.open(folder.file('s'));
    expect(examples(corpus)).toEqual([
      ['neg', 'bad'],
      ['pos', 'good'],
      ['pos', 'fine'],
    ]);
    expect([...corpus.splits.test]).toEqual([2]);
    folder.write({ 'l/a.txt': 'one\ntwo\n', 'l/b.txt': 'three\n', 'secret.txt': 'secret' });
    fs.symlinkSync(folder.file('secret.txt'), folder.file('l/c.txt'));
    expect(texts(await folder.open(folder.file('l')))).toEqual(['one\ntwo', 'three']);
    fs.rmSync(folder.file('l/c.txt'));
    expect(texts(await folder.open(folder.file('l'), { format: 'text' }))).toEqual(['one', 'two', 'three']);
    expect(texts(await folder.open(folder.file('l'), { layout: 'declared' }))).toEqual([
      'one',
      'two',
      'three',
    ]);
  });

  test('a document that is not UTF-8 is named by its place', async () => {
    folder.write({ 'u/x/a.txt': Buffer.from('caf\xe9', 'latin1'), 'u/x/b.txt': 'fine' });
    await expect(folder.open(folder.file('u'))).rejects.toThrow('x/a.txt:1:4 is not valid UTF-8');
    const skipped = await folder.open(folder.file('u'), { onBadUtf8: 'skip' });
    expect(texts(skipped)).toEqual(['fine']);
  });
});
