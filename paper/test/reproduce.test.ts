import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, expect, test } from 'vitest';
import { parseResult, type ResultTable } from '../src/results/result-file.ts';

const folder = temporaryFolder('cli-reproduce');
afterAll(folder.remove);

const commit = () => execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

test('hsn reproduce table1 prints the table, and writes it as Markdown and JSON', async () => {
  const out = folder.path('tables');
  const few = [
    '--seeds',
    '1',
    '--paper-seeds',
    '1',
    '--baseline-seeds',
    '1',
    '--steps',
    '1',
    '--paper-steps',
    '1',
    '--lstm-steps',
    '1',
  ];
  const args = ['--quick', ...few, '--sentences', '200', '--only', 'barabasi,shared', '--out', out];
  const { code, stdout, stderr } = await hsn('reproduce', 'table1', ...args);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('table1: 10 models in');
  expect(stdout).toMatch(/Barabási +HSN, closed-form graph/);
  expect(stdout).toMatch(/the paper +0\.989 ± 0\.001/);
  expect(stdout).toMatch(/Barabási, shared tokens +Baum-Welch/);
  expect(stdout).not.toContain('Erdős');
  expect(stdout).toContain('written to');
  const rows = JSON.parse(fs.readFileSync(folder.path('tables', 'table1.json'), 'utf8')) as {
    dataset: string;
  }[];
  expect(rows).toHaveLength(10);
  const markdown = fs.readFileSync(folder.path('tables', 'table1.md'), 'utf8');
  const table = markdown.split('\n').filter((line) => line.startsWith('| '));
  expect(table.length).toBe(2 + 10 + 3);
  expect(markdown).toContain('NLL is in the authors');
  const before = fs.statSync(folder.path('tables', 'table1-rows.json')).size;
  const results = folder.path('results');
  const again = await hsn('reproduce', 'table1', ...args, '--write', results);
  expect(again.stdout.startsWith(stdout)).toBe(true);
  const kept = parseResult(
    fs.readFileSync(folder.path('results', 'table1', 'table1.json'), 'utf8'),
  ) as ResultTable;
  expect(kept).toMatchObject({ preset: 'near', seeds: [1], commit: commit() });
  expect(kept.command).toBe(
    'hsn reproduce table1 --quick --seeds 1 --paper-seeds 1 --baseline-seeds 1 --steps 1 --paper-steps 1 --lstm-steps 1 --sentences 200 --only barabasi,shared',
  );
  expect(kept.rows.length).toBe(10 + 3);
  expect(fs.statSync(folder.path('tables', 'table1-rows.json')).size).toBe(before);
});

test.each([
  [['table1', '--corpus', 'folder'], /^hsn: --corpus has "folder": expected barabasi=FOLDER, erdos=FOLDER/],
  [['table1', '--corpus', 'shared=folder'], /^hsn: --corpus has "shared": expected barabasi=FOLDER/],
  [['table1', '--priors', '0.1,2'], /^hsn: --priors takes link probabilities between 0 and 1.*got "2"\n$/],
  [['table1', '--settings', 'ours'], /^hsn: table1 takes --settings near, paper or authors, got "ours"\n$/],
  [['table1', '--seeds', 'x'], /^hsn: --seeds takes a whole number from 0, got x\n$/],
  [['table2'], /^hsn: table2 needs texts: give --corpus, expected ptb=FILE or FOLDER/],
  [['table2', '--corpus', 'a=b', '--models', '70-5'], /^hsn: --models takes alone, 50-5, .*got "70-5"\n$/],
  [
    ['table2', '--corpus', 'a=b', '--settings', 'near'],
    /^hsn: table2 takes --settings ours, paper or authors/,
  ],
  [['table2', '--corpus', 'a=b', '--set', 'decoder.wide=1'], /^hsn: settings: unknown key decoder\.wide/],
  [['table6', '--words', 'x'], /^hsn: table6 does not use --words; it takes --quick, --seeds/],
  [['table4', '--seeds', '3'], /^hsn: table4 does not use --seeds; it takes --run, --corpus, --quick/],
  [['interpolations', '--run', 'nowhere', '--pairs', '0'], /^hsn: .*nowhere/],
])('hsn reproduce %s is refused', async (args, message) => {
  const ended = await hsn('reproduce', ...args, '--out', folder.path('refused'));
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(
    ended.stderr
      .split('\n')
      .filter((line) => line.startsWith('hsn: '))
      .join('\n'),
  ).toMatch(new RegExp(message.source.replace(/\\n\$$/, '$')));
  expect(fs.existsSync(folder.path('refused'))).toBe(false);
});
