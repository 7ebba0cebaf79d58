import fs from 'node:fs';
import path from 'node:path';
import { Run, verifyRun } from '@hidden-schema/hsn';
import { symbolNames } from '@hidden-schema/studies';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { plantedTexts, type Subject, subjects } from '@hidden-schema/testing/planted-subjects';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { writeTexts } from '@hidden-schema/testing/tiny-texts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = temporaryFolder('cli-granularity');
const run = folder.path('run');
const symbols = 9;

beforeAll(async () => {
  folder.holdCache();
  const corpus = folder.path('planted.tsv');
  writeTexts(
    corpus,
    plantedTexts().map((row) => row.join('\t')),
  );
  const small = [
    ...['decoder.width=16', 'decoder.layers=1', 'decoder.heads=2', 'decoder.vocabularySize=320'],
    ...['training.steps=2', 'training.batch=16', 'training.evaluateEvery=2', 'training.warmup=1'],
  ].flatMap((setting) => ['--set', setting]);
  const sizes = ['--symbols', String(symbols), '--length', '3', ...small];
  const made = await hsn('train', '--corpus', corpus, '--stage', 'discover', '--out', run, ...sizes);
  expect(made.code, made.stderr).toBe(0);
});
afterAll(folder.remove);

interface Group {
  symbols: number[];
  name: string;
  words: string[];
  share: number;
  parent: number | null;
}

/** Files of a run with their contents; locks, and what undoing keeps, apart. */
function contents(directory: string): Record<string, string> {
  const files = fs.readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const told = files.filter(
    (name) => fs.statSync(path.join(directory, name)).isFile() && !/lock$|^edits/.test(name),
  );
  return Object.fromEntries(
    told.sort().map((name) => [name, fs.readFileSync(path.join(directory, name), 'base64')]),
  );
}

const subjectOf = (word: string) =>
  (Object.keys(subjects) as Subject[]).find((subject) => subjects[subject].includes(word));

/** Of each symbol: its name, its share of first steps, its words. */
async function meanings(): Promise<{ name: string; usageByPosition: number[]; words: { word: string }[] }[]> {
  const { stdout, stderr, code } = await hsn('symbols', run, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** The two symbols that the hierarchy joins first. */
async function nearestPair(): Promise<[number, number]> {
  const { stdout } = await hsn('symbols', run, '--levels', '8', '--json');
  const { joinings } = JSON.parse(stdout) as { joinings: { kept: number; gone: number }[] };
  return [joinings[0]!.kept, joinings[0]!.gone];
}

describe('levels', () => {
  test('three groups are the three planted subjects, nested in the level above', async () => {
    const { stdout, stderr, code } = await hsn('symbols', run, '--levels', '3,6,2', '--json');
    expect(code, stderr).toBe(0);
    const { levels } = JSON.parse(stdout) as { levels: { count: number; groups: Group[] }[] };
    expect(levels.map(({ count }) => count)).toEqual([2, 3, 6]);
    const [two, three, six] = levels.map(({ groups }) => groups);
    const found = three!.map(({ words }) => new Set(words.slice(0, 4).map(subjectOf)));
    for (const subject of found) expect(subject.size).toBe(1);
    expect(new Set(found.map((subject) => [...subject][0])).size).toBe(3);
    for (const { symbols: own, parent } of six!) {
      const above = three![parent!]!.symbols;
      expect(own.every((symbol) => above.includes(symbol))).toBe(true);
    }
    for (const groups of [two!, three!, six!]) {
      expect(groups.flatMap((group) => group.symbols).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
      expect(groups.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6);
      expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
    }
  });

  test('print as a tree, and are written as tables', async () => {
    const { stdout } = await hsn('symbols', run, '--levels', '3', '--out', folder.path('levels'));
    expect(stdout).toMatch(/^\S.* \[\d+\] {2}\d+\.\d %/m);
    expect(stdout).toMatch(/^ {2}\S.* \(\d\) {2}\d+\.\d %/m);
    const table = fs.readFileSync(folder.path('levels', 'symbol-levels.csv'), 'utf8').trim().split('\n');
    expect(table).toHaveLength(1 + symbols);
  });

  test.each([
    ['0', 'levels are numbers of groups from 1 to 9, got 0'],
    ['3,ten', '--levels takes numbers with commas between, got 3,ten'],
    ['10', 'levels are numbers of groups from 1 to 9, got 10'],
  ])('refuse %s', async (given, line) => {
    const { stderr, code } = await hsn('symbols', run, '--levels', given);
    expect([code, stderr]).toEqual([1, `hsn: ${line}\n`]);
  });
});

describe('merge, split and undo', () => {
  test('a merged symbol has the texts of both, the others their names; undo gives every byte back', async () => {
    const was = await meanings();
    const [a, b] = await nearestPair();
    const untouched = contents(run);
    const { stdout, stderr, code } = await hsn('merge', run, String(b), String(a));
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`merged ${was[a]!.name} (${a}) and ${was[b]!.name} (${b}) into ${a}`);
    expect(Run.open(run).config).toMatchObject({ symbols: symbols - 1 });
    expect(verifyRun(run).faults).toEqual([]);
    const now = await meanings();
    expect(now).toHaveLength(symbols - 1);
    // The last symbol has moved to the number that became free.
    const last = b === symbols - 1 ? undefined : b;
    for (const [symbol, { name }] of now.entries())
      if (symbol !== a) expect(name).toBe(was[symbol === last ? symbols - 1 : symbol]!.name);
    const share = (of: (typeof was)[number]) => of.usageByPosition[0]!;
    expect(Math.abs(share(now[a]!) - share(was[a]!) - share(was[b]!))).toBeLessThan(0.15);
    const other = [0, 1, 2].find((symbol) => symbol !== a && symbol !== b)!;
    await hsn('rename', run, String(other), 'mine');
    const undone = await hsn('undo', run);
    expect(undone.stdout).toContain('undone: merged');
    // What was named since is named still.
    expect(symbolNames(run).get(other)).toBe('mine');
    await hsn('rename', run, String(other), '');
    expect(contents(run)).toEqual(untouched);
  });

  test('a split symbol is two that share its texts; several edits are undone one after the other', async () => {
    const was = await meanings();
    const untouched = contents(run);
    const shares = was.map(({ usageByPosition }) => usageByPosition[0]!);
    const largest = shares.indexOf(Math.max(...shares));
    const { stdout, stderr, code } = await hsn('split', run, String(largest));
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`into ${largest} and ${symbols}`);
    const now = await meanings();
    expect(now).toHaveLength(symbols + 1);
    const first = (k: number) => now[k]!.usageByPosition[0]!;
    expect(first(largest)).toBeGreaterThan(0);
    expect(first(symbols)).toBeGreaterThan(0);
    expect(Math.abs(first(largest) + first(symbols) - was[largest]!.usageByPosition[0]!)).toBeLessThan(0.1);
    await hsn('merge', run, String(largest), String(symbols));
    expect(Run.open(run).config).toMatchObject({ symbols });
    expect((await hsn('undo', run, '--list')).stdout.trim().split('\n')).toHaveLength(2);
    await hsn('undo', run);
    await hsn('undo', run);
    expect(contents(run)).toEqual(untouched);
  });

  test('a decoder goes on after an edit, and undoing what it learnt since is refused', async () => {
    const was = symbolNames(run);
    const merged = await hsn('merge', run, '0', '1');
    expect(merged.stdout).toContain('symbol 8 is 1 now');
    const now = symbolNames(run);
    expect(now.get(1)).toBe(was.get(8));
    for (const symbol of [2, 3, 4, 5, 6, 7]) expect(now.get(symbol)).toBe(was.get(symbol));
    const trained = await hsn('train', '--out', run, '--resume');
    expect(trained.code, trained.stderr).toBe(0);
    const { code, stderr } = await hsn('generate', run, '--walk', '0,1,2', '--max-tokens', '3');
    expect(code, stderr).toBe(0);
    const split = await hsn('merge', run, '3', '4');
    expect(split.code, split.stderr).toBe(0);
    expect((await hsn('generate', run, '--walk', '0,1,2', '--max-tokens', '3')).code).toBe(0);
    expect(verifyRun(run).faults).toEqual([]);
    expect((await hsn('undo', run)).code).toBe(0);
    const refused = await hsn('undo', run);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /was trained on to step \d+ since it was edited, which undoing would lose/,
    );
  });

  test.each([
    [['merge', '3'], 'merging takes at least two symbols, got 3'],
    [['merge', '3', '3'], 'merging takes at least two symbols, got 3'],
    [['merge', '3', '70'], 'the symbols of this model are 0 to 7, got 70'],
    [
      ['merge', '0', '1', '2', '3', '4', '5', '6', '7'],
      '8 of 8 symbols as one would leave 1; a run needs at least 2',
    ],
    [
      ['split', 'zzzz'],
      'no symbol is called "zzzz"; hsn symbols RUN lists all, or give a number from 0 to 7',
    ],
  ])('%j gets one clear line and changes nothing', async ([verb, ...given], line) => {
    const untouched = contents(run);
    const { code, stderr } = await hsn(verb!, run, ...given);
    expect([code, stderr]).toEqual([1, `hsn: ${line}\n`]);
    expect(contents(run)).toEqual(untouched);
  });

  test('with nothing to undo, or too few texts to split, one clear line too', async () => {
    const other = folder.path('other');
    fs.cpSync(run, other, { recursive: true });
    fs.rmSync(path.join(other, 'edits'), { recursive: true });
    const { code, stderr } = await hsn('undo', other);
    expect([code, stderr]).toEqual([
      1,
      `hsn: ${other} has no edit to undo: nothing was merged, split, updated or named\n`,
    ]);
    // Halves of halves have ever fewer texts.
    for (let k = 0; ; k++) {
      const split = await hsn('split', other, '0');
      if (split.code === 0 && k < 8) continue;
      expect(split.stderr).toMatch(/^hsn: symbol 0 cannot be split: .* each half needs 5\n$/);
      break;
    }
  });
});
