// docs/research/departures.md says what the settings are, and checks/departures.ts notices when it does not.
import { expect, test } from 'vitest';
import { departuresPage, departureTables } from '../../../checks/departures.ts';

test('the tables in the document are those of the settings', () => {
  const { now, then } = departuresPage();
  expect(then).toBe(now);
});

test('have a row with a reason for each setting that differs, and for no other', () => {
  const rows = departureTables()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(' | '));
  expect(rows.length).toBeGreaterThan(30);
  for (const row of rows) {
    expect(new Set(row.slice(1, -1).map((cell) => cell.replace(' (not said)', ''))).size).toBeGreaterThan(1);
    expect(row.at(-1)!.length).toBeGreaterThan(10);
  }
  const named = (setting: string) => rows.find(([name]) => name === `\`${setting}\``);
  expect(rows).toContainEqual(['`graph.p`', '0.5', '0.5', '0.2', '0.2', '0.2', expect.any(String)]);
  expect(named('graph.prior')?.slice(1, 4)).toEqual(['bernoulli', 'drawn', 'beta']);
  expect(named('encoder.sharpness')?.[1]).toBe('1 (not said)');
  expect(named('graph.layers')).toBeUndefined();
});
