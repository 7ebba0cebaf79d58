import fs from 'node:fs';
import { csvText, guardedText, restoredText, tsvLine } from '@hidden-schema/base';
import { examples, TextFolder, texts } from '@hidden-schema/testing/text-folder';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { type ExportedGraph, graphText, nodesCsv } from '../src/runs/graph-export.ts';
import { walkSink } from '../src/runs/walk-files.ts';

const folder = new TextFolder();
const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', '=1+1', '-x', '@sum'];

describe('names that every object has (fault 40)', () => {
  test('as files', async () => {
    folder.write(Object.fromEntries(names.slice(0, 4).map((name) => [`in/${name}.txt`, `${name} text\n`])));
    const corpus = await folder.open(folder.file('in'));
    expect(texts(corpus).sort()).toEqual(
      names
        .slice(0, 4)
        .map((name) => `${name} text`)
        .sort(),
    );
    expect(corpus.report.files.map(({ split }) => split)).toEqual([null]);
  });

  test('as labels', async () => {
    const corpus = await folder.of('l.tsv', names.map((name) => `${name}\tx ${name}\n`).join(''));
    expect(corpus.labels).toEqual(names);
    expect(examples(corpus)).toEqual(names.map((name) => [name, `x ${name}`]));
  });

  test.each(['constructor', '__proto__'])('as the column %s', async (name) => {
    const settings = { textColumn: name, labelColumn: 'toString' };
    const json = await folder.of('c.jsonl', `{"${name}": "a text", "toString": "l"}\n`, settings);
    expect(examples(json)).toEqual([['l', 'a text']]);
    expect(await folder.fault('d.jsonl', '{"text": "x", "toString": "l"}\n', settings)).toContain(
      `has no column "${name}"; its columns are "text", "toString"`,
    );
    const csv = await folder.of('c.csv', `${name},toString\na text,l\n`, settings);
    expect(examples(csv)).toEqual([['l', 'a text']]);
    const columnData = [
      { name, data: ['a text'], type: 'STRING' as const },
      { name: 'toString', data: ['l'], type: 'STRING' as const },
    ];
    const table = await folder.of('c.parquet', new Uint8Array(parquetWriteBuffer({ columnData })), settings);
    expect(examples(table)).toEqual([['l', 'a text']]);
  });
});

describe('exports (fault 40)', () => {
  const plain = { words: ['=cmd', 'word'], usage: 0.5, x: -1.5, y: 0 };
  const graph: ExportedGraph = {
    title: 't',
    nodes: [
      { symbol: 0, name: '=HYPERLINK("x")', ...plain, labels: Object.fromEntries([['__proto__', 0.25]]) },
      { symbol: 1, name: '-1.5', ...plain, labels: { constructor: 0.75, toString: 1 } },
    ],
    links: [[0, 1, 0.5]],
  };

  test('numbers stay numbers, and no text is run by a spreadsheet', () => {
    expect(nodesCsv(graph)).toBe(
      [
        'symbol,name,words,usage,x,y,label:__proto__,label:constructor,label:toString',
        `0,"'=HYPERLINK(""x"")",'=cmd word,0.5,-1.5,0,0.25,0,0`,
        "1,-1.5,'=cmd word,0.5,-1.5,0,0,0.75,1",
        '',
      ].join('\r\n'),
    );
    for (const format of ['gexf', 'graphml', 'json', 'csv'] as const)
      expect(graphText(graph, format)).not.toMatch(/function|native code|\[object/);
    expect(JSON.parse(graphText(graph, 'json')).nodes[0].labels).toHaveProperty(['__proto__'], 0.25);
    expect(csvText([['=a', '+a', '-a', '@a', '\ta', '\ra', 'a=', -1, '-1e5', "'=a"]])).toBe(
      `'=a,'+a,'-a,'@a,'\ta,"'\ra",a=,-1,-1e5,''=a\r\n`,
    );
    expect(tsvLine(['=a', 'b\tc\nd', -2])).toBe("'=a\tb c d\t-2\n");
  });

  test('every text comes back from the form that is safe', () => {
    const strange = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '1', 'a') });
    fc.assert(
      fc.property(strange, (text) => {
        const safe = guardedText(text);
        expect(safe).not.toMatch(/^[=+@\t\r]|^-(?!\d+$)/);
        expect(restoredText(safe)).toBe(text);
      }),
    );
  });

  test('walks as TSV are read again as the texts they were, other tables as they are', async () => {
    const written = ['=1+1', "'=x", "'quoted'", '-5', '- a dash', '@home', 'plain'];
    const file = folder.file('walks.tsv');
    const sink = walkSink('tsv', file);
    await sink.write(written.map((text) => ({ text, walk: [1, 2], probabilities: [0.5, 0.25] })));
    await sink.finish();
    expect(fs.readFileSync(file, 'utf8')).toContain("\t'=1+1\n");
    expect(texts(await folder.open(file, { textColumn: 'text' }))).toEqual(written);
    const other = await folder.of('other.tsv', "text\tlabel\n'=x\ta\n", { textColumn: 'text' });
    expect(texts(other)).toEqual(["'=x"]);
  });
});
