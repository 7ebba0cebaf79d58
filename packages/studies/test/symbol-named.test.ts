import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { symbolNamed } from '../src/symbols/names.ts';

let run = '';
beforeAll(() => {
  run = fs.mkdtempSync(path.join(os.tmpdir(), 'hsn-names-'));
  const found = { 0: 'oil prices', 1: 'Red Sox', 2: 'oil spill', 3: 'rates', 9: 'gone' };
  fs.writeFileSync(
    path.join(run, 'names.json'),
    JSON.stringify({ format: 1, names: { 3: 'red sox' }, found }),
  );
});
afterAll(() => fs.rmSync(run, { recursive: true, force: true }));

test('a symbol by number, by name in any case, and as tables write it', () => {
  expect(symbolNamed(' 2 ', run, 4)).toBe(2);
  expect(symbolNamed('Oil Prices', run, 4)).toBe(0);
  expect(symbolNamed('oil spill (2)', run, 4)).toBe(2);
  expect(symbolNamed('Red Sox (1)', run, 4)).toBe(1);
});

test('names that several symbols or none have', () => {
  expect(() => symbolNamed('red sox', run, 4)).toThrow(
    '2 symbols are called red sox: Red Sox (1), red sox (3); give a number',
  );
  expect(() => symbolNamed('oil', run, 4)).toThrow(
    'no symbol is called "oil"; near it are oil prices (0), oil spill (2), or give a number from 0 to 3',
  );
  // What people called it stands for what was found, and an edit may have left a name of a symbol that is no more.
  expect(() => symbolNamed('rates', run, 4)).toThrow('no symbol is called "rates"; hsn symbols');
  expect(() => symbolNamed('gone', run, 4)).toThrow('no symbol is called "gone"');
  expect(() => symbolNamed('9', run, 4)).toThrow('the symbols of this model are 0 to 3, got 9');
});
