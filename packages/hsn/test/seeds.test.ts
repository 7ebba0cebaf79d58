import fs from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { setThreads, Tensor } from '@hidden-schema/torch';
import { afterAll, describe, expect, test } from 'vitest';
import { fitSymbols } from '../src/discovery/fit.ts';
import { readSeeds } from '../src/discovery/seeds.ts';
import { dot, plantedPoints, unit } from './planted-points.ts';

setThreads(1);
const folder = temporaryFolder('seeds');
afterAll(folder.remove);

const file = (name: string, text: string) => {
  fs.writeFileSync(folder.path(name), text);
  return folder.path(name);
};

describe('a file of seeds', () => {
  test('is lines of name, tab and words, or YAML', () => {
    const seeds = [
      { name: 'late delivery', words: ['late', 'parcel', 'courier'] },
      { name: 'food', words: ['soup', 'crème'] },
    ];
    const lines = '# mine\nlate delivery\tLate parcel, courier late\n\nfood\tsoup Crème\n';
    expect(readSeeds(file('seeds.tsv', lines))).toEqual(seeds);
    expect(readSeeds(file('crlf.tsv', lines.replaceAll('\n', '\r\n')))).toEqual(seeds);
    const yaml = 'late delivery: [late, parcel, courier]\nfood: soup crème\n';
    expect(readSeeds(file('seeds.yaml', yaml))).toEqual(seeds);
  });

  test.each([
    ['empty.tsv', '\n', /has no seeds: expected a line for each seed/],
    ['tabless.tsv', 'food soup\n', /line 1: expected name<TAB>word word …, got no tab/],
    ['wordless.tsv', 'food\t!!!\n', /seed 1 \(food\) has no words/],
    ['nameless.tsv', '\tsoup\n', /seed 1 has no name/],
    ['twice.tsv', 'food\tsoup\nfood\tbread\n', /has the seed food twice/],
    ['broken.yaml', 'food: [soup\n', /is not YAML/],
    ['list.yaml', '- food\n', /expected a line for each seed/],
    ['deep.yaml', 'food: [{a: b}]\n', /the words of food are no list of words/],
  ])('%s is refused in one line', (name, text, line) => {
    const read = () => readSeeds(file(name, text));
    expect(read).toThrow(line);
    expect(read).toThrow(/^[^\n]+$/);
  });

  test('that is not there is refused by name', () => {
    expect(() => readSeeds(folder.path('none.tsv'))).toThrow(/cannot read the seeds .*none\.tsv/);
  });
});

describe('seeds in fitting', () => {
  test('are the first symbols and stay near, one that hardly any text has too', async () => {
    const { points, atoms } = plantedPoints(300, 8, { noise: 0.05 });
    // The first two are planted in texts, the third is nearly in none.
    const strange = unit(atoms[0]!.map((x, s) => (s === 5 ? 3 : 0.1 * x)));
    const directions = [atoms[3]!, atoms[6]!, strange];
    const seeds = Tensor.fromArray(Float32Array.from(directions.flat()), [3, 64]);
    const { discovered } = await fitSymbols(points, { symbols: 8, length: 3, seeds });
    const rows = discovered.symbols.toNumbers();
    const row = (k: number) => rows.slice(k * 64, (k + 1) * 64);
    for (const [k, seed] of directions.entries()) expect(dot(row(k), seed), `seed ${k}`).toBeGreaterThan(0.7);
    // Without seeds no symbol is near the strange one.
    const plain = await fitSymbols(points, { symbols: 8, length: 3 });
    const others = plain.discovered.symbols.toNumbers();
    const nearest = Math.max(
      ...Array.from({ length: 8 }, (_, k) => dot(others.slice(k * 64, (k + 1) * 64), strange)),
    );
    expect(nearest).toBeLessThan(0.7);
  });

  test('more seeds than symbols are refused', async () => {
    const { points } = plantedPoints(50, 6);
    const seeds = points.narrow(0, 0, 4);
    await expect(fitSymbols(points, { symbols: 3, length: 2, seeds })).rejects.toThrow(
      '4 seeds need as many symbols, got 3',
    );
  });
});
