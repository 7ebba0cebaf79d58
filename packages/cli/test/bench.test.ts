import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { allotted, Budget } from '../../../bench/budget.ts';
import { followBench } from '../../../bench/follow-bench.ts';
import { growthExponent } from '../../../bench/growth.ts';
import type { Measurement } from '../../../bench/measure.ts';
import { resultsTable, withPart, withRun } from '../../../bench/report.ts';

const line = (changes: Partial<Measurement> = {}): Measurement => ({
  ...{ bench: 'a step', unit: 's', ours: 1, peer: 3, ratio: 3, goal: 'ratio >= 2', met: true },
  ...changes,
});

/** What a bench that is this script told. */
async function told(script: string, most = 60): Promise<Measurement[]> {
  const lines: Measurement[] = [];
  const environment = { ...process.env };
  await followBench({ name: 'made-up', args: ['-e', script], environment, most }, (one) => lines.push(one));
  return lines;
}

const print = `console.log(${JSON.stringify(JSON.stringify(line()))});`;

test('a bench that fails keeps what it measured, and has a line that says so', async () => {
  const [measured, fault] = await told(`${print} process.exitCode = 3;`);
  expect(measured).toEqual(line());
  expect(fault).toMatchObject({
    bench: 'made-up',
    ours: null,
    note: 'failed: it ended with 3; stderr says more',
  });
});

test('a bench that hangs is ended with what it started, which holds its output open', async () => {
  const script = `${print}
    require('node:child_process').spawn('sleep', ['1000'], { stdio: ['ignore', 'inherit', 'inherit'] });
    setInterval(() => {}, 1000);`;
  const [measured, fault] = await told(script, 1);
  expect(measured).toEqual(line());
  expect(fault!.note).toMatch(/^ended by force after 1 s/);
});

test('what a bench prints beside its lines is no line', async () => {
  expect(await told(`console.log('hello'); console.log('[]'); ${print}`)).toEqual([line()]);
});

test('what one bench does not use goes to those after it', () => {
  expect(allotted(60, [1, 2, 3])).toBe(10);
  expect(allotted(58, [2, 3])).toBeCloseTo(23.2);
  expect(new Budget().fits(1e9)).toBe(true);
  expect(new Budget(0).fits(1)).toBe(false);
  expect(new Budget(10).next(4).left()).toBeLessThanOrEqual(2.5);
});

test('a run takes the place of what its benchmarks gave before, and the page has one table', () => {
  const before = {
    runs: ['the first', 'the second'],
    lines: [
      { ...line({ bench: 'old' }), from: 'one', run: 0 },
      { ...line({ list: 7, met: false }), from: 'two', run: 1 },
    ],
  };
  const told = [
    { name: 'one', measurements: [line({ list: 2, oursMB: 10, peerMB: 20 }), line({ bench: 'a | b' })] },
    { name: 'three', measurements: [line({ list: 8, ours: null, met: null, note: 'failed: x' })] },
  ];
  const results = withRun(before, told, 'the third');
  expect(results.runs).toEqual(['the second', 'the third']);
  const table = resultsTable(results);
  const page = withPart(
    '# Speed\n\n<!-- bench:begin -->\nold\n<!-- bench:end -->\n\nProse.\n',
    'bench',
    table,
  );
  expect(page).toMatch(/^# Speed\n\n<!-- bench:begin -->\n1 of the 2 goals /);
  expect(page).toMatch(/<!-- bench:end -->\n\nProse\.\n$/);
  expect(page).not.toContain('old');
  expect(page).toContain('- run 2: the third');
  expect(page).toContain('| a \\| b | s | 1 | 3 | 3 |  | ratio >= 2 | yes | 2 |');
  expect(page).toContain('| 2, against PyTorch: a step | s | 1 | 3 | 3 | 10 / 20 | ratio >= 2 | yes | 2 |');
  expect(page).toContain('| ratio >= 2 | **no** | 1 |');
  expect(page).toContain('8, start: a step (failed: x) | s | – |');
});

test('time that grows as a power gives the power', () => {
  expect(growthExponent([100, 300, 1000].map((k) => [k, 0.01 * k ** 1.5]))).toBeCloseTo(1.5);
});

const program = fileURLToPath(new URL('../../../bench/main.ts', import.meta.url));
const bench = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', program, ...args], { encoding: 'utf8' });

test.each([
  [['nothing'], 'there is no benchmark named nothing'],
  [['all', '--budget', 'soon'], '--budget takes a number above 0, got soon'],
  [['all', '--peers', 'conda'], '--peers takes pip or debian, got conda'],
  [['engine', '--peers-folder', '/nowhere'], '/nowhere is no virtual environment'],
  [['profile', 'engine', '--write'], '--write goes with benchmarks'],
])('%j is refused with a line', (args, words) => {
  const { status, stderr } = bench(...args);
  expect(status).toBe(2);
  expect(stderr.split('\n')[0]).toContain(words);
});
