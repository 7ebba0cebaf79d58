import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { languageConfig, loadConfig, syntheticConfig } from '@hidden-schema/hsn/config/settings';
import { SYNTHETIC_DEFAULTS } from '@hidden-schema/hsn/tasks/synthetic/corpus/synthetic';
import { writeSyntheticCorpus } from '@hidden-schema/hsn/tasks/synthetic/corpus/writer';
import { sheetText } from '@hidden-schema/studies/drawing/sheets';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { datasets, ourConfig, paperConfig } from '../src/reproduction/experiments.ts';
import { publishedRecovery } from '../src/reproduction/published.ts';
import { type Table1Options, type Table1Row, table1, table1Size } from '../src/reproduction/table1.ts';
import { table1Sheet } from '../src/reproduction/table1-page.ts';
import { type Table2Row, table2Sheet } from '../src/reproduction/table2.ts';
import { table2Config } from '../src/reproduction/table2-settings.ts';

const folder = temporaryFolder('reproduction');
afterAll(folder.remove);

const options: Table1Options = {
  seeds: 2,
  paperSeeds: 1,
  baselineSeeds: 1,
  sentences: 300,
  steps: 1,
  paperSteps: 1,
  lstmSteps: 1,
};
const table1Text = (some: readonly Table1Row[], format: 'terminal' | 'markdown') =>
  sheetText(table1Sheet(some), format);
let rows: Table1Row[];
const seen: Table1Row[] = [];
const said: string[] = [];
beforeAll(async () => {
  rows = await table1({
    ...options,
    onRow: (row) => seen.push(row),
    onProgress: (text) => said.push(text),
  });
});

describe('table 1', () => {
  test('has every row', () => {
    const names = rows.map(({ dataset, method, p, seed }) => `${dataset} ${method}${p ?? ''} ${seed}`);
    const each = (dataset: string, priors: readonly number[]) => [
      ...[`${dataset} hsn 1`, `${dataset} hsn 2`],
      ...priors.map((p) => `${dataset} paper${p} 1`),
      ...[`${dataset} lstm 1`, `${dataset} counting 1`, `${dataset} baum-welch 1`],
    ];
    expect(names).toEqual([
      ...each('barabasi', [0.1, 0.2]),
      ...each('erdos', [0.5, 0.6]),
      ...each('shared', []),
    ]);
    expect(table1Size(options)).toBe(rows.length);
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
    expect(after(/^Barabási +HSN, near the paper, p = 0.2/)).toMatch(
      /the paper .*0\.989 ± 0\.001 .*1360 ± 104 .*4\.8 ± 0\.5/,
    );
    expect(after(/^Erdős +HSN, near the paper, p = 0.5/)).toMatch(
      /the paper .*0\.95 ± 0\.06 .*2812 ± 344 .*4 ± 6/,
    );
    expect(after(/^Barabási +LSTM/)).toMatch(/the paper .*53\.07 ± 0\.01/);
    expect(after(/^Erdős +LSTM/)).toMatch(/the paper .*48\.24 ± 0\.02/);
    expect(lines.filter((line) => /counting of pairs|Baum-Welch/.test(line))).toHaveLength(6);
    expect(lines.filter((line) => line.includes('the paper '))).toHaveLength(
      Object.keys(publishedRecovery).length,
    );
    expect(lines.find((line) => /^Barabási +HSN, closed-form/.test(line))).toMatch(/of 2/);
  });

  test('as Markdown is one table of equal columns', () => {
    const lines = table1Text(rows, 'markdown').trimEnd().split('\n');
    const cells = (line: string) => line.replaceAll('\\|', '').split('|').length - 2;
    for (const line of lines) {
      expect(line).toMatch(/^\| .* \|$/);
      expect(cells(line)).toBe(15);
    }
    expect(lines[1]!.replaceAll(/[\s|:-]/g, '')).toBe('');
  });

  test('goes on from rows that are there', async () => {
    const said: string[] = [];
    const done = rows.filter(({ method }) => method !== 'counting');
    const again = await table1({ ...options, only: ['shared'], done, onProgress: (text) => said.push(text) });
    expect(said).toEqual(['Barabási, shared tokens: counting, seed 1']);
    expect(again.map(({ method }) => method)).toEqual(['hsn', 'hsn', 'lstm', 'counting', 'baum-welch']);
  });

  test('of some rows has only those', () => {
    const few = rows.filter(({ dataset, method }) => dataset === 'shared' && method !== 'lstm');
    const text = table1Text(few, 'terminal');
    expect(text).not.toContain('Erdős');
    expect(text).not.toContain('LSTM');
    expect(text.trimEnd().split('\n')).toHaveLength(2 + 3);
  });
});

const without = (settings: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));

describe('corpora of others', () => {
  test('take the place of drawn ones, and have one result for what draws nothing', async () => {
    const drawn = { ...SYNTHETIC_DEFAULTS, nodes: 8, tokens: 16, disjoint: true, length: 4, sentences: 60 };
    writeSyntheticCorpus({ ...drawn, graph: 'erdos' }, folder.path('erdos'));
    const few = { seeds: 0, paperSeeds: 0, baselineSeeds: 2, only: ['erdos' as const] };
    const found = await table1({ ...options, ...few, corpora: { erdos: folder.path('erdos') } });
    expect(found.map(({ method, seed }) => `${method} ${seed}`)).toEqual([
      ...['lstm 1', 'lstm 2', 'counting 1', 'baum-welch 1'],
    ]);
    expect(found[2]!.figures.edges_truth).toBeLessThanOrEqual(28);
  });
});

describe('Table 2', () => {
  const choice = { seed: 1, quick: false, set: [] };
  const yaml = (name: string) => {
    const file = fileURLToPath(new URL(`../../experiments/language/${name}.yaml`, import.meta.url));
    return languageConfig(loadConfig(readFileSync(file, 'utf8'), file));
  };

  test.each(['ptb', 'yelp'])('of %s has the settings of experiments/language, texts whole', (corpus) => {
    const model = { symbols: 50, length: 5 };
    const config = table2Config({ ...choice, corpus, model, settings: 'ours' });
    const { encoder, decoder, ...rest } = yaml(`${corpus}-50-5`);
    expect(config).toEqual({
      ...rest,
      encoder: { ...encoder, longest: 512 },
      decoder: { ...decoder, whole: true },
    });
  });

  test.each([
    [50, 5],
    [50, 20],
    [100, 5],
    [100, 20],
  ])('by a preset is its file of HSN(%d, %d)', (symbols, length) => {
    const model = { symbols, length };
    for (const settings of ['paper', 'authors'] as const)
      for (const corpus of ['ptb', 'yahoo', 'yelp'])
        expect(table2Config({ ...choice, corpus, model, settings })).toEqual(
          yaml(`${settings}-${corpus}-${symbols}-${length}`),
        );
    const yahoo = table2Config({ ...choice, corpus: 'yahoo', model, settings: 'paper' });
    expect(yahoo.decoder.wordDropout).toBe(symbols === 50 ? 0.3 : 0);
    expect(yahoo.training.steps).toBe(312_500);
  });

  test('tunes GPT-2 alone for one epoch with the paper’s preset', () => {
    const config = table2Config({ ...choice, corpus: 'ptb', model: 'baseline', settings: 'paper' });
    expect(config).toEqual(yaml('paper-ptb-gpt2'));
    expect(config).toMatchObject({ baseline: true, training: { steps: 1195 }, decoder: { wordDropout: 0 } });
  });

  test('by a preset, quickly, has no weights that a hub alone has', () => {
    const model = { symbols: 50, length: 5 };
    const config = table2Config({ ...choice, corpus: 'ptb', model, settings: 'authors', quick: true });
    expect(config).toMatchObject({ decoder: { name: 'gpt2' }, encoder: { frozen: true } });
    expect(config).toMatchObject({ graph: { klOf: 'mean' }, training: { steps: 60, schedule: 'plateau' } });
  });

  test('takes settings on top, and refuses what there is not', () => {
    const model = { symbols: 50, length: 20 };
    const asked = { ...choice, corpus: 'yelp', model, settings: 'ours' as const, steps: 7 };
    const set = ['decoder.width=96', 'objective.capacity=3'];
    expect(table2Config({ ...asked, set })).toMatchObject({
      decoder: { width: 96 },
      objective: { capacity: 3 },
      training: { steps: 7 },
    });
    expect(table2Config(asked).objective.capacity).toBe(30);
    expect(() => table2Config({ ...asked, set: ['decoder.wide=1'] })).toThrow(/unknown key decoder\.wide/);
  });

  test('has mean and deviation over seeds, and the ratio to the decoder alone', () => {
    const row = (model: Table2Row['model'], seed: number, perplexity: number): Table2Row => ({
      ...{ corpus: 'ptb', model, seed, steps: 10, seconds: 60 },
      ...(model === 'baseline' ? {} : { settings: 'paper' as const }),
      figures: { sentences: 5, perplexity },
    });
    const hsn = { symbols: 50, length: 5 };
    const sheet = table2Sheet([row('baseline', 1, 50), row(hsn, 1, 40), row(hsn, 2, 44)], '');
    const [alone, ours] = sheetText(sheet, 'markdown').split('\n').slice(2);
    expect(alone).toMatch(/\| decoder alone \| ours +\| +1 \| +50\.00 \|/);
    expect(ours).toMatch(
      /\| HSN\(50, 5\) +\| paper +\| +2 \| 42\.00 ± 2\.83 \| +\S* *\| +22\.47 \| 0\.840 ± 0\.057 \|/,
    );
    expect(ours).toContain('9.3 ± 0.2');
  });
});

describe('the settings behind it', () => {
  test('are the corpora of the paper', () => {
    const [barabasi, erdos, shared] = datasets(100, 1);
    expect(barabasi!.settings).toMatchObject({ nodes: 100, tokens: 200, disjoint: true, length: 11 });
    expect(erdos!.settings).toMatchObject({ nodes: 100, tokens: 200, disjoint: true, length: 10 });
    expect(shared!.settings).toMatchObject({ nodes: 100, tokens: 120, disjoint: false, length: 11 });
    const [, written] = datasets(100, 1, 'paper');
    expect(written!.settings).toMatchObject({
      ...{ nodes: 100, tokens: 1000, disjoint: false, length: 10 },
      graphOptions: { probability: 0.5 },
    });
    expect([barabasi!.priors, erdos!.priors]).toEqual([
      [0.1, 0.2],
      [0.5, 0.6],
    ]);
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
    const file = fileURLToPath(new URL('../../experiments/synthetic/paper-erdos.yaml', import.meta.url));
    const preset = syntheticConfig(loadConfig(readFileSync(file, 'utf8'), file));
    const { steps, evaluateEvery, ...training } = paperConfig(1, 50, 0.6, 'paper').training;
    expect({ ...paperConfig(1, 50, 0.6, 'paper'), training }).toEqual({
      ...preset,
      training: without(preset.training, ['steps', 'evaluateEvery']),
    });
    expect([steps, evaluateEvery]).toEqual([50, 50]);
    expect(ourConfig(4, 60)).toMatchObject({ seed: 4, graph: { posterior: 'closed-form', prior: 'beta' } });
  });
});
