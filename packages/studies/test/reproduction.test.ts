import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { datasets, ourConfig, paperConfig, published } from '../src/reproduction/experiments.ts';
import { type Table1Row, table1 } from '../src/reproduction/table1.ts';
import { table1Text } from '../src/reproduction/table1-page.ts';

const folder = temporaryFolder('reproduction');
afterAll(folder.remove);

let rows: Table1Row[];
const seen: Table1Row[] = [];
const said: string[] = [];
beforeAll(async () => {
  rows = await table1({
    seeds: 2,
    paperSeeds: 1,
    sentences: 300,
    steps: 1,
    paperSteps: 1,
    lstmSteps: 1,
    onRow: (row) => seen.push(row),
    onProgress: (text) => said.push(text),
  });
});

describe('table 1', () => {
  test('has every row', () => {
    const names = rows.map(({ dataset, method, seed }) => `${dataset} ${method} ${seed}`);
    const each = (dataset: string, paper: boolean) => [
      ...[`${dataset} hsn 1`, `${dataset} hsn 2`],
      ...(paper ? [`${dataset} paper 1`] : []),
      ...[`${dataset} lstm 1`, `${dataset} counting 1`, `${dataset} baum-welch 1`],
    ];
    expect(names).toEqual([...each('barabasi', true), ...each('erdos', true), ...each('shared', false)]);
    expect(seen).toEqual(rows);
    expect(said).toHaveLength(rows.length);
    for (const { method, figures, seconds } of rows) {
      expect(seconds).toBeGreaterThan(0);
      const wanted = method === 'lstm' ? ['nll', 'nll_authors'] : ['auc', 'edges_sampled', 'frobenius_truth'];
      for (const name of wanted) expect(Number.isFinite(figures[name]), `${method} ${name}`).toBe(true);
    }
  });

  test('as text has ours, with the figures of the paper under them', () => {
    const lines = table1Text(rows, 'terminal').trimEnd().split('\n');
    const after = (pattern: RegExp) => lines[lines.findIndex((line) => pattern.test(line)) + 1];
    expect(after(/^Barabási +HSN, paper's settings/)).toMatch(/the paper .*0\.989 ± 0\.001 .*1360 ± 104/);
    expect(after(/^Erdős +HSN, paper's settings/)).toMatch(/the paper .*0\.94 ± 0\.06 .*3131 ± 156/);
    expect(after(/^Barabási +LSTM/)).toMatch(/the paper .*53\.07 ± 0\.01/);
    expect(after(/^Erdős +LSTM/)).toMatch(/the paper .*48\.24 ± 0\.02/);
    expect(lines.filter((line) => /counting of pairs|Baum-Welch/.test(line))).toHaveLength(6);
    expect(lines.filter((line) => line.includes('the paper '))).toHaveLength(Object.keys(published).length);
    expect(lines.find((line) => /^Barabási +HSN, closed-form/.test(line))).toMatch(/of 2/);
  });

  test('as Markdown is one table of equal columns', () => {
    const lines = table1Text(rows, 'markdown').trimEnd().split('\n');
    const cells = (line: string) => line.replaceAll('\\|', '').split('|').length - 2;
    for (const line of lines) {
      expect(line).toMatch(/^\| .* \|$/);
      expect(cells(line)).toBe(14);
    }
    expect(lines[1]!.replaceAll(/[\s|:-]/g, '')).toBe('');
  });

  test('of some rows has only those', () => {
    const few = rows.filter(({ dataset, method }) => dataset === 'shared' && method !== 'lstm');
    const text = table1Text(few, 'terminal');
    expect(text).not.toContain('Erdős');
    expect(text).not.toContain('LSTM');
    expect(text.trimEnd().split('\n')).toHaveLength(2 + 3);
  });
});

describe('the settings behind it', () => {
  test('are the corpora of the paper', () => {
    const [barabasi, erdos, shared] = datasets(100, 1);
    expect(barabasi!.settings).toMatchObject({ nodes: 100, tokens: 200, disjoint: true, length: 11 });
    expect(erdos!.settings).toMatchObject({ nodes: 100, tokens: 200, disjoint: true, length: 10 });
    expect(shared!.settings).toMatchObject({ nodes: 100, tokens: 120, disjoint: false, length: 11 });
    expect([barabasi!.paperP, erdos!.paperP]).toEqual([0.2, 0.6]);
  });

  test("are the paper's own in its rows, and not in ours", () => {
    expect(paperConfig(3, 50, 0.6)).toMatchObject({
      seed: 3,
      graph: { posterior: 'pairs', prior: 'bernoulli', p: 0.6, klWeight: 'batch' },
      walk: { expectation: 'sampled' },
      objective: { kind: 'information', aggregation: 'mean' },
      encoder: { teacher: 'none', blocks: 2 },
      training: { steps: 50 },
    });
    expect(ourConfig(4, 60)).toMatchObject({ seed: 4, graph: { posterior: 'closed-form', prior: 'beta' } });
  });
});
