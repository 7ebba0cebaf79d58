import { expect, test } from 'vitest';
import { formatMeanSd, formatNumber, formatTable, meanSd, wrapText } from '../src/tables.ts';

const columns = [{ title: 'graph' }, { title: 'AUC', digits: 3 }, { title: 'edges' }];
const rows = [
  ['Barabási', 1, '291 ± 0'],
  ['Erdős (0.5)', 0.94, '3131 ± 104'],
  ['日本', undefined, '–'],
];

test('a table for a terminal', () => {
  expect(formatTable(columns, rows, 'terminal')).toBe(
    [
      'graph          AUC       edges',
      '───────────  ─────  ──────────',
      'Barabási     1.000     291 ± 0',
      'Erdős (0.5)  0.940  3131 ± 104',
      '日本             –           –',
      '',
    ].join('\n'),
  );
});

test('the same as Markdown', () => {
  expect(formatTable(columns, rows.slice(0, 2), 'markdown')).toBe(
    [
      '| graph       |   AUC |      edges |',
      '| ----------- | ----: | ---------: |',
      '| Barabási    | 1.000 |    291 ± 0 |',
      '| Erdős (0.5) | 0.940 | 3131 ± 104 |',
      '',
    ].join('\n'),
  );
});

test('cells cannot break the table or steer the terminal', () => {
  const hostile = [['a|b\n<script>`*_', '\x1b[31mred\x07\u202e']];
  const terminal = formatTable([{ title: 'x' }, { title: 'y' }], hostile, 'terminal');
  expect(terminal.split('\n').length).toBe(4);
  expect(terminal).not.toMatch(/[^\P{C}\n]/u);
  const line = formatTable([{ title: 'x' }, { title: 'y' }], hostile, 'markdown').split('\n')[2]!;
  expect(line).toContain('a\\|b \\<script\\>\\`\\*\\_');
});

test('a row shorter than the columns is filled, no rows give the head', () => {
  expect(formatTable(columns, [['a']], 'terminal')).toContain('a      –    –');
  expect(formatTable([{ title: 'a' }], [], 'markdown')).toBe('| a   |\n| --- |\n');
});

test('mean and standard deviation', () => {
  expect(meanSd([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ mean: 5, sd: Math.sqrt(32 / 7), count: 8 });
  expect(meanSd([3])).toEqual({ mean: 3, sd: undefined, count: 1 });
  expect(meanSd([]).mean).toBeNaN();
});

test('mean ± standard deviation in words', () => {
  expect(formatMeanSd(meanSd([0.988, 0.989, 0.99]), 3)).toBe('0.989 ± 0.001');
  expect(formatMeanSd(meanSd([1256, 1464]), 0)).toBe('1360 ± 147');
  expect(formatMeanSd(meanSd([17.2, 16.1, 18.4]))).toBe('17.23 ± 1.15');
  expect(formatMeanSd(meanSd([291, 291, 291]))).toBe('291 ± 0');
  expect(formatMeanSd(meanSd([0.5]), 2)).toBe('0.50');
  expect(formatMeanSd(meanSd([]))).toBe('–');
});

test('numbers', () => {
  expect([0, 3, -12, 0.5, 12.345, 1234.5, 1e-7, 123456789, 1e20].map((value) => formatNumber(value))).toEqual(
    ['0', '3', '-12', '0.500', '12.3', '1235', '1.00e-7', '123456789', '1.00e+20'],
  );
  expect(formatNumber(-0.0001, 2)).toBe('0.00');
  expect(formatNumber(6_609_919_939_977.5, 2)).toBe('6.61e+12');
  expect(formatNumber(999_999_999.4, 1)).toBe('999999999.4');
  expect(
    [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((v) => formatNumber(v)),
  ).toEqual(['–', '∞', '−∞']);
});

test('a narrow terminal gets text on several lines, numbers whole, and says which columns are left out', () => {
  const wide = [
    { title: 'symbol' },
    { title: '95 %', align: 'left' as const, optional: true },
    { title: 'texts in all' },
  ];
  const lines = formatTable(wide, [['oil prices and other things', '1.0 to 2.0 %', 12345]], 'terminal', 24);
  expect(lines).toBe(
    [
      'symbol          texts in',
      '                     all',
      '───────────  ───────────',
      'oil prices         12345',
      'and other',
      'things',
      'left out, as the terminal is narrow: 95 %',
      '',
    ].join('\n'),
  );
  expect(
    Math.max(
      ...lines
        .split('\n')
        .slice(0, 5)
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(24);
  expect(wrapText('a verylongwordindeed b', 8)).toEqual(['a', 'verylong', 'wordinde', 'ed b']);
  expect(wrapText('verylongword', 8)).toEqual(['verylong', 'word']);
});
