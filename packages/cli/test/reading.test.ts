import fs from 'node:fs';
import path from 'node:path';
import { csvText } from '@hidden-schema/base';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-reading');
const corpus = folder.path('planted.csv');
const run = folder.path('run');
const small = ['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'];
const sizes = ['--symbols', '6', '--length', '3', ...small.flatMap((setting) => ['--set', setting])];

/** Music is of the years 2005 and 2006 alone; the others are of all years. */
const rows = plantedTexts().map(([subject, text], n) => {
  const year = subject === 'music' ? 2005 + (n % 2) : 2000 + (n % 10);
  return [n === 4 ? `=1+1 ${text}` : text, subject, year, n % 2 === 0 ? 'left' : 'right'];
});

beforeAll(async () => {
  folder.holdCache();
  // Written as it is: the program's own writer would keep the formula from being one.
  fs.writeFileSync(
    corpus,
    [['text', 'label', 'year', 'side'], ...rows].map((row) => row.join(',')).join('\n'),
  );
  const trained = await hsn(
    'train',
    '--corpus',
    corpus,
    '--time-column',
    'year',
    '--stage',
    'discover',
    '--out',
    run,
    ...sizes,
  );
  expect(trained.code, trained.stderr).toBe(0);
});
afterAll(folder.remove);

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await hsn(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

/** The one line that a wrong question is answered with. */
async function fault(...args: string[]): Promise<string> {
  const { code, stderr } = await hsn(...args);
  expect(code).toBe(1);
  const lines = stderr
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('hsn:'));
  expect(lines).toHaveLength(1);
  expect(stderr).not.toContain('    at ');
  return lines[0]!;
}

describe('hsn find', () => {
  interface Found {
    symbols: { closeness: number; words: string[] }[];
    sentences: { label: string; closeness: number; text: string }[];
    walks: { label: string; shared: number }[];
  }
  test('finds symbols and texts of the phrase', async () => {
    const found = await json<Found>('find', run, 'a rocket to the moon', '--top', '4');
    expect(found.sentences.map(({ label }) => label)).toEqual(['space', 'space', 'space', 'space']);
    expect(found.walks).toHaveLength(4);
    expect(found.symbols[0]!.words).toContain('rocket');
    const near = found.sentences.map(({ closeness }) => closeness);
    expect(near).toEqual(near.toSorted((a, b) => b - a));
  });

  test('a text of the corpus is nearest to itself, at a cosine of 1', async () => {
    const { sentences } = await json<Found>('find', run, String(rows[9]![0]), '--top', '1');
    expect(sentences[0]!.text).toBe(rows[9]![0]);
    expect(sentences[0]!.closeness).toBeCloseTo(1, 4);
  });

  test('tables for people, and a line for wrong questions', async () => {
    const { stdout } = await hsn('find', run, 'soup');
    for (const title of ['The walk of "soup"', 'Nearest symbols', 'Nearest walks', 'Nearest sentences'])
      expect(stdout).toContain(title);
    expect(await fault('find', run, '  ')).toContain('the phrase to look for is empty');
    expect(await fault('find', run, 'soup', '--top', '0')).toContain(
      '--top takes a whole number from 1, got 0',
    );
  });
});

describe('hsn compare', () => {
  interface Compared {
    groups: { group: string; texts: number }[];
    symbols: { group: string; symbol: number; corrected: number; difference: number }[];
  }
  test('each subject has symbols of its own, and writes table, CSV and figure', async () => {
    const { symbols, groups } = await json<Compared>('compare', run);
    expect(groups.map(({ texts }) => texts)).toEqual([40, 40, 40]);
    for (const { group } of groups) {
      const best = symbols.find((one) => one.group === group)!;
      expect(best.corrected).toBeLessThan(1e-6);
      expect(best.difference).toBeGreaterThan(0.5);
    }
    const { stdout } = await hsn('compare', run, '--out', folder.path('figures'));
    expect(stdout).toContain('Symbols that a group has more of');
    for (const name of [
      'compare.svg',
      'compare.png',
      'compare.json',
      'compare-symbols.csv',
      'compare-links.csv',
    ])
      expect(fs.statSync(folder.path(`figures/${name}`)).size).toBeGreaterThan(100);
  });

  test('by another column, which says nothing here', async () => {
    const { symbols, groups } = await json<Compared>(
      'compare',
      run,
      '--by',
      'side',
      '--groups',
      'right,left',
    );
    expect(groups).toEqual([
      { group: 'right', texts: 60 },
      { group: 'left', texts: 60 },
    ]);
    expect(symbols.filter(({ corrected }) => corrected < 0.01)).toEqual([]);
  });

  test('what is not there is named', async () => {
    expect(await fault('compare', run, '--by', 'colour')).toContain(
      'has no column "colour"; its columns are "text", "label", "year", "side": choose one of them',
    );
    expect(await fault('compare', run, '--groups', 'food,sport')).toContain(
      'there is no group "sport"; groups are',
    );
    expect(await fault('compare', run, '--groups', 'food')).toContain(
      '--groups takes two groups with a comma between, got food',
    );
  });
});

describe('hsn predict', () => {
  test('reads subjects off walks, and a coin off nothing', async () => {
    type Predicted = {
      accuracy: { share: number };
      floor: { share: number };
      p: number;
      coefficients: { label: string }[];
    };
    const subject = await json<Predicted>('predict', run);
    expect(subject.accuracy.share).toBeGreaterThan(0.95);
    expect(subject.floor.share).toBeLessThan(0.35);
    expect(subject.p).toBeLessThan(1e-10);
    expect(new Set(subject.coefficients.map(({ label }) => label)).size).toBe(3);
    const side = await json<Predicted>('predict', run, '--by', 'side');
    expect(side.p).toBeGreaterThan(0.01);
  });

  test('needs two labels', async () => {
    expect(await fault('predict', run, '--by', 'text')).toContain(
      'two labels with at least 5 texts each are needed',
    );
  });
});

describe('hsn time', () => {
  interface Timed {
    column: string;
    symbols: { symbol: number; bursts: { label: string }[] }[];
  }
  test('a subject of two years is a burst of these years', async () => {
    const { column, symbols } = await json<Timed>('time', run, '--period', 'year');
    expect(column).toBe('year');
    const bursts = symbols.flatMap(({ bursts }) => bursts.map(({ label }) => label));
    expect(bursts).toContain('2005 to 2006');
    const { stdout } = await hsn('time', run, '--out', folder.path('figures'));
    expect(stdout).toContain('Bursts: when');
    expect(fs.existsSync(folder.path('figures/time-symbols.png'))).toBe(true);
  });

  test('dates and columns that are not there are named', async () => {
    expect(await fault('time', run, '--time-column', 'side')).toMatch(
      /planted\.csv:\d+ has "(left|right)" as its date; expected a year/,
    );
    expect(await fault('time', run, '--period', 'eon')).toContain('--period takes one of day, week');
  });

  test('training refuses dates it cannot read, by row and value, and makes no run', async () => {
    const bad = folder.path('bad.csv');
    fs.writeFileSync(
      bad,
      csvText([
        ['text', 'when'],
        ['one text', '1999'],
        ['another text', 'soon'],
      ]),
    );
    const out = folder.path('none');
    expect(await fault('train', '--corpus', bad, '--time-column', 'when', '--out', out, ...sizes)).toContain(
      'bad.csv:3 has "soon" as its date; expected a year (1861)',
    );
    expect(await fault('train', '--corpus', bad, '--time-column', 'then', '--out', out, ...sizes)).toContain(
      'bad.csv has no column "then"',
    );
    const plain = folder.path('plain.txt');
    fs.writeFileSync(plain, 'a text\nanother\n');
    expect(
      await fault('train', '--corpus', plain, '--time-column', 'when', '--out', out, ...sizes),
    ).toContain('plain.txt was read without names of columns, so it has no column "when"');
    expect(fs.existsSync(out)).toBe(false);
  });
});

describe('hsn export --table', () => {
  interface Row {
    text: string;
    label: string;
    walk: number[];
    names: string[];
    weights: number[];
    unsure: boolean;
    year: string;
  }
  const exported = (file: string, ...more: string[]) =>
    hsn('export', run, '--table', 'texts', '--out', folder.path(file), ...more);

  test('one row a text in every format, all the same', async () => {
    for (const file of ['texts.jsonl', 'texts.csv', 'texts.parquet']) {
      const { code, stdout, stderr } = await exported(file, '--columns', 'year', '--unsure', '10%');
      expect(code, stderr).toBe(0);
      expect(stdout).toBe(`120 rows written to ${folder.path(file)}\n`);
    }
    const lines = fs.readFileSync(folder.path('texts.jsonl'), 'utf8').trim().split('\n');
    const plain = lines.map((line) => JSON.parse(line) as Row);
    expect(plain.map(({ text }) => text).toSorted()).toEqual(rows.map(([text]) => String(text)).toSorted());
    for (const { text, label, year } of plain)
      expect(rows).toContainEqual([text, label, Number(year), expect.anything()]);
    expect(plain.filter(({ unsure }) => unsure)).toHaveLength(12);
    const parquet = (await parquetReadObjects({
      file: await asyncBufferFromFile(folder.path('texts.parquet')),
    })) as Record<string, unknown>[];
    expect(parquet).toHaveLength(120);
    for (const [n, row] of parquet.entries())
      expect(row).toMatchObject({
        text: plain[n]!.text,
        walk: plain[n]!.walk.join(' '),
        names: plain[n]!.names.join('; '),
        unsure: plain[n]!.unsure,
        year: plain[n]!.year,
      });
    const csv = fs.readFileSync(folder.path('texts.csv'), 'utf8');
    expect(csv.split('\r\n')[0]).toBe('text,label,split,walk,names,steps,weights,probability,unsure,year');
    // What a spreadsheet would run as a formula is text.
    expect(csv).toContain("'=1+1 the");
    expect(csv).not.toMatch(/^=|,=/m);
  });

  test('symbols, links, words and examples', async () => {
    for (const table of ['symbols', 'links', 'words', 'examples']) {
      const { code, stderr } = await hsn(
        'export',
        run,
        '--table',
        table,
        '--format',
        'jsonl',
        '--out',
        folder.path(table),
      );
      expect(code, stderr).toBe(0);
      const first = JSON.parse(fs.readFileSync(folder.path(table), 'utf8').split('\n')[0]!) as Record<
        string,
        unknown
      >;
      expect(Object.keys(first).length).toBeGreaterThan(4);
    }
    expect(fs.readFileSync(folder.path('symbols'), 'utf8').trim().split('\n')).toHaveLength(6);
  });

  test('wrong questions get a line and leave nothing', async () => {
    expect(await fault('export', run, '--table', 'walks', '--out', folder.path('w.csv'))).toContain(
      '--table takes one of texts, symbols, links, words, examples, vectors, got walks',
    );
    expect(await fault('export', run, '--table', 'texts', '--out', folder.path('w.xls'))).toContain(
      '--out takes a file ending in .csv, .jsonl, .parquet',
    );
    expect(
      await fault('export', run, '--table', 'texts', '--unsure', '200%', '--out', folder.path('w.csv')),
    ).toContain('--unsure takes a share above 0 and below 1');
    expect(
      await fault('export', run, '--table', 'links', '--columns', 'year', '--out', folder.path('w.csv')),
    ).toContain('--columns is for --table texts');
    expect(
      await fault('export', run, '--table', 'texts', '--columns', 'nothing', '--out', folder.path('w.csv')),
    ).toContain('has no column "nothing"');
    expect(await fault('export', run, '--unsure', '5%', '--out', folder.path('model'))).toContain(
      '--unsure is for tables',
    );
    expect(
      fs.readdirSync(folder.path('.')).filter((name) => name.startsWith('w.') || name.includes('partial')),
    ).toEqual([]);
  });
});

describe('hsn encode --unsure', () => {
  test("marks the least certain of the run's own texts, in every format, and drops none", async () => {
    const marked: number[] = [];
    for (const format of ['tsv', 'jsonl', 'parquet']) {
      const out = folder.path(`walks.${format}`);
      const { code, stderr } = await hsn('encode', run, corpus, '--unsure', '10%', '--out', out);
      expect(code, stderr).toBe(0);
      if (format === 'parquet') {
        const read = (await parquetReadObjects({ file: await asyncBufferFromFile(out) })) as {
          unsure: boolean;
        }[];
        expect(read).toHaveLength(120);
        marked.push(read.filter(({ unsure }) => unsure).length);
      } else {
        const lines = fs.readFileSync(out, 'utf8').trim().split('\n');
        const body =
          format === 'tsv'
            ? lines.slice(1).map((line) => line.split('\t')[3] === '1')
            : lines.map((line) => (JSON.parse(line) as { unsure: boolean }).unsure);
        expect(body).toHaveLength(120);
        marked.push(body.filter(Boolean).length);
      }
    }
    expect(new Set(marked).size).toBe(1);
    expect(Math.abs(marked[0]! - 12)).toBeLessThanOrEqual(1);
    expect(await fault('encode', run, corpus, '--unsure', 'some')).toContain(
      '--unsure takes a share above 0 and below 1',
    );
  });
});

describe('hsn encode --names', () => {
  test('writes the walk in words, as the names file has them, in every format', async () => {
    const { found } = JSON.parse(fs.readFileSync(path.join(run, 'names.json'), 'utf8')) as {
      found: Record<string, string>;
    };
    // A symbol that the walk stays on is named once.
    const inWords = (walk: readonly number[]) =>
      walk.filter((symbol, at) => symbol !== walk[at - 1]).map((symbol) => found[symbol]!);
    const outs = ['tsv', 'jsonl', 'parquet'].map((format) => folder.path(`named.${format}`));
    for (const out of outs) {
      const { code, stderr } = await hsn('encode', run, corpus, '--names', '--out', out);
      expect(code, stderr).toBe(0);
    }
    const [tsv, jsonl] = outs.map((out) => fs.readFileSync(out, 'utf8').trim().split('\n'));
    const plain = jsonl!.map((line) => JSON.parse(line) as { walk: number[]; names: string[] });
    expect(plain).toHaveLength(120);
    for (const { walk, names } of plain) expect(names).toEqual(inWords(walk));
    expect(tsv![0]).toBe('walk\tnames\tprobability\tsteps\ttext');
    expect(tsv!.slice(1).map((line) => line.split('\t')[1])).toEqual(
      plain.map(({ names }) => names.join(' → ')),
    );
    const parquet = await parquetReadObjects({ file: await asyncBufferFromFile(outs[2]!) });
    expect(parquet.map(({ names }) => names)).toEqual(plain.map(({ names }) => names.join(' → ')));
  });
});

describe('hsn explain', () => {
  interface Explained {
    words: { word: string; symbol: number | null }[];
    walk: number[];
    html: string;
  }
  test('words of a subject carry its symbol, others carry none', async () => {
    const { words, walk } = await json<Explained>('explain', run, 'the rocket and the galaxy and the comet');
    // The walk may end before all words of the subject are told.
    const told = words.filter(
      ({ word, symbol }) => ['rocket', 'galaxy', 'comet'].includes(word) && symbol !== null,
    );
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(words.every(({ symbol }) => symbol === null || walk.includes(symbol))).toBe(true);
    expect(words.filter(({ word, symbol }) => ['the', 'and'].includes(word) && symbol !== null)).toEqual([]);
  });

  test('nothing of a text becomes markup or steers the terminal', async () => {
    const { html } = await json<Explained>('explain', run, '<b>rocket</b> & moon');
    expect(html).not.toContain('<b>');
    expect(html).toContain('&lt;b&gt;');
    const { stdout } = await hsn('explain', run, 'rocket \u001b[31m moon');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/rocket\[\d\]/);
    const file = folder.path('explained.html');
    await hsn('explain', run, '<script>alert(1)</script> rocket', '--html', file);
    const page = fs.readFileSync(file, 'utf8');
    expect(page).toContain("default-src 'none'");
    expect(page).not.toContain('<script>');
  });

  test('leaving out the words that carry a symbol changes it more often than leaving out others', async () => {
    const found = await json<{ texts: number; without: { share: number }; random: { share: number } }>(
      'explain',
      run,
      '--check',
      '20',
    );
    expect(found.texts).toBeGreaterThan(5);
    expect(found.without.share).toBeGreaterThan(found.random.share);
    expect(await fault('explain', run)).toContain('which text is to be explained?');
  });
});
