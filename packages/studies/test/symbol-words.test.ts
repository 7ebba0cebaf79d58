import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { symbolWords } from '../../../paper/src/reproduction/c-tf-idf.ts';
import { documentTerms } from '../src/measures/document-terms.ts';
import { corpusStopWords, englishStopWords } from '../src/measures/stop-words.ts';
import { oneSymbolEach } from '../src/measures/symbol-uses.ts';
import {
  documentFrequencies,
  letterRuns,
  type TokenizeOptions,
  textWords,
  wordsOfRun,
} from '../src/measures/text-words.ts';

const countingWords = (text: string, options: TokenizeOptions = {}): string[] =>
  letterRuns(text).flatMap((run) => wordsOfRun(run, options));

describe('words for counting', () => {
  test.each([
    ['The Company’s well-known 3rd-party apps', ['the', 'company', 'well', 'known', '3rd', 'party', 'apps']],
    ["They're sure she didn't say it's theirs", ['they', 'sure', 'she', "didn't", 'say', 'it', 'theirs']],
    ["l'homme d’État qu'il n'aime", ['homme', 'état', 'qu', 'il', 'aime']],
    ["rock 'n' roll in '68, 1968 or 2,000", ['rock', 'roll', 'in', 'or']],
    ['a_b x2 naïve nai\u0308ve ÜBER Straße', ['x2', 'naïve', 'naïve', 'über', 'straße']],
    ['война и мир, λόγος', ['война', 'мир', 'λόγος']],
    ['हिन्दी में', ['हिन्दी', 'में']],
    ['', []],
    ['… — !', []],
  ])('%s', (text, words) => {
    expect(countingWords(text)).toEqual(words);
  });

  test('of scripts without spaces are cut by a dictionary', () => {
    expect(countingWords('東京都は日本の首都です')).toEqual(expect.arrayContaining(['日本', '首都']));
    expect(countingWords('ภาษาไทย ง่าย').length).toBeGreaterThan(1);
  });

  test('of a text in ASCII are those found in any text', () => {
    const text = "Don't a1 b's 'quoted' it''s x'2y o'clock-ish don't2 99 r'n'b";
    expect([...countingWords(text), 'é']).toEqual(
      countingWords(`${text} é`, { shortest: 1 }).filter((w) => w.length > 1 || w === 'é'),
    );
  });

  test('as short as asked, without numbers', () => {
    expect(countingWords('we saw 12 of 1500', { shortest: 3 })).toEqual(['saw']);
  });
});

describe('vocabulary', () => {
  const texts = textWords(['red red blue', 'red green', '', 'red blue the']);

  test('keeps texts apart and in order', () => {
    expect(texts.words).toEqual(['red', 'blue', 'green', 'the']);
    expect([...texts.tokens]).toEqual([0, 0, 1, 0, 2, 0, 1, 3]);
    expect([...texts.starts]).toEqual([0, 3, 5, 5, 8]);
    expect([...documentFrequencies(texts)]).toEqual([3, 2, 1, 1]);
  });

  test('leaves out contractions, with and without their apostrophe', () => {
    const spared = textWords(["dont don't thats youll well cant apple"]);
    expect(documentTerms(spared, { stopWords: englishStopWords }).words).toEqual(['well', 'apple']);
  });

  test('counts words by text', () => {
    const { words, starts, terms, counts, frequencies } = documentTerms(texts, {
      stopWords: englishStopWords,
    });
    expect(words).toEqual(['red', 'blue', 'green']);
    expect([...frequencies]).toEqual([3, 2, 1]);
    expect([[...starts], [...terms], [...counts]]).toEqual([
      [0, 2, 4, 4, 6],
      [0, 1, 0, 2, 0, 1],
      [2, 1, 1, 1, 1, 1],
    ]);
  });

  test('drops rare words and common words', () => {
    expect(documentTerms(texts, { minTexts: 2 }).words).toEqual(['red', 'blue']);
    expect(documentTerms(texts, { maxShare: 0.5 }).words).toEqual(['blue', 'green', 'the']);
    expect(documentTerms(texts, { minTexts: 9 })).toMatchObject({ words: [], terms: new Uint32Array(0) });
  });

  test('long words do not change, and texts without words have none', () => {
    const word = 'donaudampfschifffahrtsgesellschaft';
    expect(textWords([word, `${word} ${word}`]).words).toEqual([word]);
    expect(textWords([])).toEqual({ words: [], tokens: new Uint32Array(0), starts: Uint32Array.of(0) });
  });
});

describe('stop words of a corpus', () => {
  test('are the words that go with everything, in whatever language', () => {
    const { texts } = JSON.parse(
      fs.readFileSync(new URL('../../../fixtures/measures/peers.json', import.meta.url), 'utf8'),
    );
    const common = ['year', 'people', 'place', 'small', 'long', 'first', 'new', 'old'];
    expect([...corpusStopWords(textWords(texts), { count: 8 })].toSorted()).toEqual(common.toSorted());
    expect(corpusStopWords(textWords(texts), { count: 3 }).size).toBe(3);
    expect(corpusStopWords(textWords(['one text']))).toEqual(new Set());
    expect(corpusStopWords(textWords([]))).toEqual(new Set());
  });
});

describe('words of a symbol', () => {
  const matrix = documentTerms(textWords(['cat cat dog', 'dog bird', 'bird fish']));

  test('more symbols than words, texts without a symbol, and equal scores', () => {
    const found = symbolWords(matrix, oneSymbolEach([0, -1, 7]), { symbols: 9 });
    expect(found[0]!.map(({ word }) => word)).toEqual(['cat', 'dog']);
    expect(found[7]!.map(({ word }) => word)).toEqual(['bird', 'fish']);
    expect(found.filter((list) => list.length === 0)).toHaveLength(7);
    expect(() => symbolWords(matrix, oneSymbolEach([0, 1, 9]), { symbols: 9 })).toThrow('below 9, got 9');
  });

  test('a weight counts as that many texts', () => {
    const twice = symbolWords(
      matrix,
      { symbols: Int32Array.of(0, 0, 1), length: 1, weights: [2, 1, 1] },
      { symbols: 2 },
    );
    const longer = documentTerms(textWords(['cat cat dog', 'cat cat dog', 'dog bird', 'bird fish']));
    expect(twice).toEqual(symbolWords(longer, oneSymbolEach([0, 0, 0, 1]), { symbols: 2 }));
  });

  test('only as many as asked for, the highest first', () => {
    const ranked = (words: number) =>
      symbolWords(matrix, oneSymbolEach([0, 0, -1]), { symbols: 1, words })[0]!;
    const all = ranked(9);
    expect(all.map(({ word }) => word)).toEqual(['cat', 'dog', 'bird']);
    expect(all[1]!.score).toBeGreaterThan(all[2]!.score);
    expect(ranked(2)).toEqual(all.slice(0, 2));
  });
});
