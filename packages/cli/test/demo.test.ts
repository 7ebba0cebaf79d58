import fs from 'node:fs';
import { runHsn } from '@hidden-schema/testing/hsn-process';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, expect, test } from 'vitest';

const folder = temporaryFolder('cli-demo');
afterAll(folder.remove);

test('hsn demo hides a graph, finds it, and draws both', async () => {
  const out = folder.path('demo');
  const args = ['demo', '--no-serve', '--sentences', '6000', '--steps', '5', '--out', out];
  const { code, stdout, stderr } = await runHsn(...args);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(
    'A graph of 40 symbols and 111 links was drawn, each symbol given 2 tokens, and 6000 sentences',
  );
  expect(stdout).toMatch(/recovered +true\n/);
  // The graph comes from sweeps over the sentences; the few steps here train only the reading of single sentences.
  const auc = Number(/ROC AUC of links +(\d\.\d+)/.exec(stdout)?.[1]);
  expect(auc).toBeGreaterThan(0.99);
  expect(stdout.match(/read as/g)).toHaveLength(3);
  for (const name of ['recovery.svg', 'recovery.png'])
    expect(fs.statSync(folder.path('demo', 'run', 'figures', name)).size).toBeGreaterThan(1000);
  expect(fs.existsSync(folder.path('demo', 'corpus', 'train.txt'))).toBe(true);
});
