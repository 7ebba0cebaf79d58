import fs from 'node:fs';
import { temporaryFolder } from '@hidden-schema/testing/temporary-folder';
import { afterAll, describe, expect, test } from 'vitest';
import { drawPassages, passageRows, readSpeeches, speechPassages } from '../src/speeches.ts';

const folder = temporaryFolder('speeches');
afterAll(folder.remove);

describe('speeches', () => {
  const speeches = readSpeeches();
  const passages = speechPassages(speeches);

  test('are all there, in order, with who gave them', () => {
    expect(speeches.length).toBeGreaterThan(230);
    expect(speeches[0]).toMatchObject({ year: 1790, president: 'George Washington' });
    const lincoln = speeches.find(({ year, president }) => year === 1863 && president.includes('Lincoln'));
    expect(lincoln?.party).toBe('Republican');
    expect(speeches.map(({ year }) => year)).toEqual(speeches.map(({ year }) => year).sort((a, b) => a - b));
  });

  test('are cut into passages that hold every word', () => {
    expect(passages.length).toBeGreaterThan(25_000);
    const words = (texts: { text: string }[]) =>
      texts.reduce((sum, { text }) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
    expect(words(passages)).toBe(words(speeches));
    expect(passages.every(({ text }) => text.split(' ').length >= 50)).toBe(true);
    expect(passages[0]).toMatchObject({ year: 1790, decade: '1790s', speech: 0 });
  });

  test('are drawn from evenly: by seed, in order, no speech more than another while it lasts', () => {
    const drawn = drawPassages(passages, 700, 1);
    expect(drawn).toHaveLength(700);
    expect(drawn).toEqual(drawPassages(passages, 700, 1));
    expect(drawn).not.toEqual(drawPassages(passages, 700, 2));
    expect(drawn.map(({ speech }) => speech)).toEqual(
      drawn.map(({ speech }) => speech).sort((a, b) => a - b),
    );
    const counts = speeches.map((_, speech) => drawn.filter((one) => one.speech === speech).length);
    expect(Math.min(...counts)).toBe(3);
    expect(Math.max(...counts)).toBe(4);
    expect(new Set(drawn.map(({ text }) => text)).size).toBeGreaterThan(690);
    expect(drawPassages(passages.slice(0, 9), 100, 1)).toEqual(passages.slice(0, 9));
  });

  test('make a table', () => {
    expect(passageRows(passages.slice(0, 1))).toEqual([
      ['year', 'decade', 'president', 'party', 'text'],
      [1790, '1790s', 'George Washington', 'none', passages[0]!.text],
    ]);
  });
});

describe('a folder that is none', () => {
  test('without files, or with one that is no speech', () => {
    expect(() => readSpeeches(folder.path())).toThrow(/ holds no speeches; expected JSON files$/);
    fs.writeFileSync(folder.path('1790.json'), '{"year": "1790", "name": "x", "party": "y", "text": "z"}');
    expect(() => readSpeeches(folder.path())).toThrow(
      /1790\.json is no speech: expected a year, and name, party and text as texts$/,
    );
  });
});
