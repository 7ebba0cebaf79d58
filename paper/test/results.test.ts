// What results are kept as, and what is made of them.
import { describe, expect, test } from 'vitest';
import { tracedFigures } from '../../checks/traced-figures.ts';
import {
  measuredLine,
  parseResult,
  type ResultTable,
  resultText,
  shownCell,
} from '../src/results/result-file.ts';

const result: ResultTable = {
  what: 'Perplexity of two models',
  command: 'hsn reproduce table2 --seeds 2',
  preset: 'paper',
  date: '2026-11-18',
  commit: 'abcdef1',
  hardware: 'one core',
  seeds: [1, 2],
  columns: [{ name: 'model' }, { name: 'perplexity', digits: 1 }, { name: 'share', digits: 3 }],
  rows: [
    ['alone', { mean: 63.74, sd: 0.512, count: 2 }, 0.9574],
    ['with walks', 62.36, null],
  ],
};

describe('a result', () => {
  test('is the same when it is read again', () => {
    expect(parseResult(resultText(result))).toEqual(result);
    expect(JSON.parse(resultText(result))).toEqual(result);
  });

  test.each([
    [{ ...result, rows: [['alone', 1]] }, /a row misses a column/],
    [{ ...result, preset: 'mine' }, /preset/],
    [{ ...result, commit: undefined }, /commit/],
    [{ ...result, note: 'x' }, /note/],
  ])('is refused where something is missing or unknown', (wrong, message) => {
    expect(() => parseResult(JSON.stringify(wrong))).toThrow(message);
  });

  test('shows means, shares and gaps', () => {
    expect(shownCell({ mean: 63.74, sd: 0.512, count: 2 }, 1)).toBe('63.7 ± 0.5');
    expect(shownCell([0.966, 0.33], 3)).toBe('0.966 (0.33)');
    expect(shownCell(null, 1)).toBe('–');
    expect(measuredLine({ ...result, changes: 3 })).toBe(
      '*`hsn reproduce table2 --seeds 2`; paper preset, 2 seeds, 2026-11-18, commit abcdef1 and 3 changed files, one core.*',
    );
  });
});

describe('figures of a page', () => {
  const from = '<!-- figures: results/table2/table2.json -->';
  const faults = (text: string) => tracedFigures(text, () => result);

  test('are in the file that is named, as rounded there', () => {
    expect(faults(`Perplexity is 62.4, and 63.7 alone; *the paper has 19.72*. ${from}`)).toEqual([]);
    expect(faults(`- 95.7 % of them, with 0.96 of all\n  and 0.512. ${from}\n- another of 7.77`)).toEqual([]);
    expect(faults(`| row | 62.36 | \`p = 0.25\` ${from} |`)).toEqual([]);
  });

  test('are faults where they are not', () => {
    expect(faults(`It is 62.5. ${from}`)).toEqual(['62.5 is in none of results/table2/table2.json']);
    expect(faults(`- one: 62.4\n- two: 0.958 ${from}`)).toEqual([
      '0.958 is in none of results/table2/table2.json',
    ]);
    expect(faults(`From 90.1 to 95.7 % ${from}`)).toHaveLength(1);
    expect(faults('Of no file: 62.5')).toEqual([]);
  });

  test('must name a file on a page where all figures do, but for the paper’s own and settings', () => {
    const all = (text: string) => tracedFigures(text, () => result, { all: true });
    expect(all('Of no file: 62.5')).toEqual([expect.stringMatching(/^62\.5 names no file of results/)]);
    expect(all('*The paper has 19.72*, with `p = 0.2`, 12 of 30, in Section 3.1.')).toEqual([]);
    expect(all('<!-- results/a/b.json -->\n| 1.5 |\n<!-- end of results -->\n')).toEqual([]);
  });
});
