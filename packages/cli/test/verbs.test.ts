import fs from 'node:fs';
import { type LabelPrediction, predictionText } from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-verbs');
const run = folder.path('run');
const many = folder.path('many');
const labels = 77;

/** As many intents, of which the first has most texts and the others ten each. */
function intents(): string[] {
  const planted = ['music', 'food', 'space'].map((subject) =>
    plantedTexts().flatMap(([label, text]) => (label === subject ? [text!] : [])),
  );
  return Array.from({ length: 10 * labels + 30 }, (_, n) => {
    const intent = n >= 10 * labels ? 0 : n % labels;
    const texts = planted[intent % 3]!;
    return `intent${intent}\t${texts[n % texts.length]} word${n}`;
  });
}

beforeAll(async () => {
  folder.holdCache();
  const corpus = folder.path('planted.tsv');
  const longer = (text: string) => `${text} ${'again and again '.repeat(80)}`;
  writeTexts(
    corpus,
    plantedTexts().map(([label, text], n) => `${label}\t${n === 0 ? longer(text!) : text}`),
  );
  const sizes = ['--stage', 'discover', '--symbols', '5', '--length', '3'];
  const made = await hsn('train', '--corpus', corpus, '--out', run, ...sizes);
  expect(made.code, made.stderr).toBe(0);
  expect(made.stderr).toContain('longer than the encoder reads at once: cut into 2 passages');
  expect(made.stderr).not.toContain("decoder's positions");
  writeTexts(folder.path('intents.tsv'), intents());
  const other = await hsn('train', '--corpus', folder.path('intents.tsv'), '--out', many, ...sizes);
  expect(other.code, other.stderr).toBe(0);
});
afterAll(folder.remove);

const csvLines = (file: string) => fs.readFileSync(file, 'utf8').trim().split('\n');

describe('77 labels', () => {
  test('compare shows the largest groups and writes all', async () => {
    const { code, stdout, stderr } = await hsn('compare', many);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('65 smaller groups, which stand in the files');
    const groups = new Set(
      csvLines(`${many}/figures/compare-symbols.csv`)
        .slice(1)
        .map((line) => line.split(',')[1]),
    );
    expect(groups.size).toBe(labels);
  });

  test('predict shows the largest labels and writes all', async () => {
    const { code, stdout, stderr } = await hsn('predict', many);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`Shown are the 12 labels with most texts; the files hold all ${labels}.`);
    expect(csvLines(`${many}/figures/predict-accuracy.csv`)).toHaveLength(labels + 3);
  });

  test('report and labels work', async () => {
    expect((await hsn('labels', many)).code).toBe(0);
    const { code, stderr } = await hsn('report', many, '--json');
    expect(code, stderr).toBe(0);
    expect(fs.readFileSync(`${many}/report.html`, 'utf8')).toContain('Labels compared');
  });
});

test('a column whose values are names of texts is refused in a line', async () => {
  const file = folder.path('names.csv');
  const rows = plantedTexts().slice(0, 120);
  fs.writeFileSync(
    file,
    ['text,label,id', ...rows.map(([label, text], n) => `${text},${label},row${n}`)].join('\n'),
  );
  const out = folder.path('ids');
  const made = await hsn(
    'train',
    '--corpus',
    file,
    '--stage',
    'discover',
    '--symbols',
    '4',
    '--length',
    '2',
    '--out',
    out,
  );
  expect(made.code, made.stderr).toBe(0);
  const { code, stderr } = await hsn('compare', out, '--by', 'id');
  expect(code).toBe(1);
  expect(stderr).toContain('too many to compare');
});

test('a pair says which direction is which', async () => {
  const { stdout, code, stderr } = await hsn('compare', run, '--groups', 'music,food');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('Symbols that music or food has more of than the other');
  expect(stdout.replaceAll('\n', ' ')).toContain('food in rows of music, music in rows of food');
  expect(stdout.replaceAll('\n', ' ')).toContain('a difference above 0 is more in music');
});

test('tables fit 80 columns', async () => {
  process.env.COLUMNS = '80';
  try {
    for (const verb of [
      ['symbols', run],
      ['symbols', run, '0'],
      ['compare', run],
      ['find', run, 'guitar', 'music'],
    ]) {
      const { stdout } = await hsn(...verb);
      const long = stdout
        .split('\n')
        .filter((line) => [...line].length > 80 && !line.startsWith('written to'));
      expect(long, verb.join(' ')).toEqual([]);
    }
  } finally {
    delete process.env.COLUMNS;
  }
});

test.each([
  [['rename', run, '1', 'mine', '--json'], { symbol: 1, name: 'mine' }],
  [['merge', run, '0', '1', '--json'], { symbols: 4 }],
  [['undo', run, '--list', '--json'], [{ what: expect.stringContaining('merged') }]],
  [['undo', run, '--json'], { symbols: 5, undone: expect.stringContaining('merged') }],
  [
    ['export', run, '--table', 'symbols', '--out', folder.path('s.csv'), '--json'],
    { written: [{ rows: 5 }] },
  ],
])('%j prints JSON', async (args, expected) => {
  const { stdout, stderr, code } = await hsn(...args);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject(expected as object);
});

test('several tables go to a folder, vectors among them', async () => {
  const out = folder.path('tables');
  const { stdout, stderr, code } = await hsn('export', run, '--table', 'texts,symbols,vectors', '--out', out);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(`5 rows written to ${out}/symbols.parquet`);
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(`${out}/vectors.parquet`) });
  const texts = await parquetReadObjects({ file: await asyncBufferFromFile(`${out}/texts.parquet`) });
  expect(rows.filter(({ of }) => of === 'symbol')).toHaveLength(5);
  expect(rows.filter(({ of }) => of === 'text')).toHaveLength(texts.length);
  // The symbol that a text begins with is the nearest to it in the space that both are in.
  const vectorOf = ({ of: _, number: __, ...vector }: (typeof rows)[number]) =>
    Object.values(vector).map(Number);
  const symbols = rows.filter(({ of }) => of === 'symbol').map(vectorOf);
  const nearest = (vector: number[]) => {
    const dots = symbols.map((symbol) => symbol.reduce((sum, value, at) => sum + value * vector[at]!, 0));
    return dots.indexOf(Math.max(...dots));
  };
  const hits = texts.filter(
    ({ walk }, n) => Number(String(walk).split(' ')[0]) === nearest(vectorOf(rows[n]!)),
  );
  expect(hits.length / texts.length).toBeGreaterThan(0.9);
});

test('faults name what was typed', async () => {
  const help = await hsn('help', 'foo');
  expect([help.code, help.stderr]).toEqual([2, 'hsn: there is no verb foo; hsn --help lists all\n']);
  expect((await hsn('help', 'sym')).stderr).toContain('near it are symbols, synth');
  const { stderr } = await hsn(
    'train',
    '--corpus',
    folder.path('intents.tsv'),
    '--symbols',
    '0',
    '--out',
    folder.path('x'),
  );
  expect(stderr).toContain('symbols: expected a whole number of at least 2, got 0 (--symbols)');
});

test('that nothing predicts a label is said in a sentence', () => {
  const share = (right: number) => ({ count: right, texts: 100, share: right / 100, interval: [0, 1] });
  const text = predictionText({
    accuracy: share(30),
    floor: { ...share(31), label: 'music' },
    p: 0.5,
    coefficients: [],
    labels: [],
  } as unknown as LabelPrediction);
  expect(text).toBe(
    'Walks do not predict the label better than always saying "music" (p = 0.5000). No symbol or link predicts a label better than chance.',
  );
});
