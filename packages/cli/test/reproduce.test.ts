import fs from 'node:fs';
import { hsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-reproduce');
afterAll(folder.remove);

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
});
