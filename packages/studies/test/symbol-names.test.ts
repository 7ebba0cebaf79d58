import { describe, expect, test } from 'vitest';
import { phrasesOf, surfaceWords, writtenForms } from '../src/measures/phrases.ts';
import { nameSymbols, partsFromNames, partsFromTexts, sameStem } from '../src/measures/symbol-names.ts';
import { oneSymbolEach } from '../src/measures/symbol-uses.ts';

const lists = (...words: string[]) => words.map((list) => list.split(' ').filter(Boolean));

describe('names from words alone', () => {
  const names = (...words: string[]) => nameSymbols(lists(...words));

  test('are two words of different stems', () => {
    expect(names('album albums rock', 'company companies bank', 'mexico mexican peru')).toEqual([
      'album, rock',
      'company, bank',
      'mexico, peru',
    ]);
  });

  test('take the word that another symbol does not have', () => {
    expect(names('film directed starring', 'film directed tamil')).toEqual(['film, starring', 'film, tamil']);
  });

  test('take one more word where another symbol has the same two in any order', () => {
    const found = names('river lake boat', 'lake river boat', 'song drum');
    expect(found).toEqual(['river, lake, boat (0)', 'lake, river, boat (1)', 'song, drum']);
  });

  test('are all different, however little there is', () => {
    const found = names('', 'river', 'river', '', 'river lake', 'lake river', 'river lake');
    expect(new Set(found).size).toBe(found.length);
    expect(found.slice(0, 3)).toEqual(['no words (0)', 'river (1)', 'river (2)']);
  });
});

describe('names from texts', () => {
  const verbs = ['rose', 'moved', 'fell', 'slept'];
  const york = (n: number) => `Many people ${verbs[n % 4]} to New York ${verbs[(n + 1) % 4]} , did they ?`;
  const rates = (n: number) =>
    `The ${verbs[n % 4]} interest rates ${verbs[(n + 1) % 4]} again , said the bank .`;
  const films = (n: number) => `A film directed by somebody ${n} , and a film that nobody saw .`;
  const texts = [york, rates, films].flatMap((text) => Array.from({ length: 12 }, (_, n) => text(n)));
  const uses = oneSymbolEach(texts.map((_, n) => Math.floor(n / 12)));
  const words = lists('york people', 'rates bank', 'film directed');
  const names = nameSymbols(words, partsFromTexts(words, { texts, uses }));

  test('are phrases as they are written, capitals and order included', () => {
    expect(names.slice(0, 2)).toEqual(['New York', 'interest rates']);
  });

  test('leave out what goes on with a function word', () => {
    expect(names[2]).toBe('film, directed');
  });

  test('add a word where two symbols have one phrase', () => {
    const both = [...Array(10).fill('New York markets fell'), ...Array(10).fill('New York museums opened')];
    const own = lists('york markets', 'york museums');
    const of = { texts: both, uses: oneSymbolEach(both.map((_, n) => (n < 10 ? 0 : 1))) };
    const found = nameSymbols(own, partsFromTexts(own, of));
    expect(found[0]).toMatch(/markets/);
    expect(found[1]).toMatch(/museums/);
  });

  test('of groups are made of the parts that their symbols have', () => {
    expect(nameSymbols(lists('rates bank', 'york'), partsFromNames(names))).toEqual([
      'interest rates',
      'New York',
    ]);
  });
});

describe('phrases', () => {
  const read = (texts: string[], heads: string[]) => {
    const surface = surfaceWords(texts);
    const content = new Set(surface.words.filter((word) => !['of', 'the', 'by', 'its'].includes(word)));
    return phrasesOf(surface, { content, heads: new Set(heads), minTexts: 3, leastNpmi: 0.2 });
  };
  const times = (text: string, rest: string) =>
    Array.from({ length: 5 }, (_, n) => `${text} ${rest}${n} end`);

  test('are parted by punctuation and numbers, and joined by a function word between names', () => {
    expect(read(times('oil, prices', 'x'), ['oil'])).toEqual([]);
    expect(read(times('oil 7 prices', 'x'), ['oil'])).toEqual([]);
    expect(read(times('House of Representatives', 'x'), ['house']).map(({ form }) => form)).toEqual([
      'House of Representatives',
    ]);
    expect(read(times('census its population', 'x'), ['census'])).toEqual([]);
  });

  test('are completed by the word that always follows', () => {
    expect(
      read(times('in New South Wales', 'x'), ['new']).map(({ form, words }) => [form, ...words]),
    ).toContainEqual(['New South Wales', 'new', 'south', 'wales']);
  });

  test('have the NPMI of their counts', () => {
    const texts = [...times('oil prices', 'x'), 'oil', 'prices'];
    const tokens = 5 * 4 + 2;
    const expected = Math.log(5 / tokens / (6 / tokens) ** 2) / -Math.log(5 / tokens);
    expect(read(texts, ['oil'])[0]!.npmi).toBeCloseTo(expected, 12);
  });

  test('capitals at the beginning of a sentence do not count', () => {
    const surface = surfaceWords(['Oil rose. Oil fell.', 'Then oil rose.', 'In York it rained.']);
    const forms = writtenForms(surface, new Set(['oil', 'york']));
    expect(Object.fromEntries(forms)).toEqual({ oil: 'oil', york: 'York' });
  });
});

test('stems', () => {
  const same = [
    'album albums',
    'mexico mexican',
    'economy economic',
    'city cities',
    'politics politician',
    'tax taxes',
  ];
  const different = ['star state', 'tax taxi', 'market marine', 'film firm', 'tory story'];
  for (const pair of same)
    expect([pair, sameStem(...(pair.split(' ') as [string, string]))]).toEqual([pair, true]);
  for (const pair of different)
    expect([pair, sameStem(...(pair.split(' ') as [string, string]))]).toEqual([pair, false]);
});
