import { mixedTexts } from '@hidden-schema/testing/mixed-languages';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tellingTerms } from '../src/measures/document-terms.ts';
import { languagesOf, stopWordsOf, withoutStopWords } from '../src/measures/stop-words.ts';
import { textWords } from '../src/measures/text-words.ts';
import { wordsOf } from '../src/texts/words.ts';

const mixed = mixedTexts();
const of = (...languages: string[]) =>
  textWords(mixed.filter(({ language }) => languages.includes(language)).map(({ text }) => text));
const wordsOfText = (texts: ReturnType<typeof textWords>, n: number) =>
  Array.from(texts.tokens.slice(texts.starts[n], texts.starts[n + 1]), (word) => texts.words[word]!);

describe('languages of a corpus', () => {
  test('are told by their function words', () => {
    expect(languagesOf(of('German'))).toEqual(['German']);
    expect(languagesOf(of('English', 'French')).toSorted()).toEqual(['English', 'French']);
    expect(languagesOf(textWords(mixed.map(({ text }) => text))).toSorted()).toEqual([
      'English',
      'French',
      'German',
      'Spanish',
    ]);
    expect(languagesOf(textWords(['lorem ipsum dolor', 'sit amet elit']))).toEqual([]);
    expect(languagesOf(textWords([]))).toEqual([]);
  });

  test("stop words are those of each text's own language: war is none in English, and one in German", () => {
    const texts = textWords(mixed.map(({ text }) => text));
    const kept = withoutStopWords(texts);
    for (const [n, { language, text }] of mixed.entries()) {
      const left = wordsOfText(kept, n);
      const stop = stopWordsOf.get(language)!;
      expect(
        left.filter((word) => stop.has(word)),
        text,
      ).toEqual([]);
      expect(left).toEqual(wordsOfText(texts, n).filter((word) => !stop.has(word)));
    }
    const withWar = (wanted: string) =>
      mixed.some(({ language }, n) => language === wanted && wordsOfText(kept, n).includes('war'));
    expect([withWar('English'), withWar('German')]).toEqual([true, false]);
  });

  test("words that name symbols of a mixed corpus are nobody's function words", () => {
    const { words } = tellingTerms(textWords(mixed.map(({ text }) => text)));
    for (const word of ['soup', 'suppe', 'soupe', 'sopa', 'krieg', 'guerre', 'guerra'])
      expect(words).toContain(word);
    for (const word of ['the', 'und', 'der', 'les', 'que', 'dans', 'para', 'hemos'])
      expect(words).not.toContain(word);
  });

  test('a language without a list loses what goes with everything, once there are texts enough', () => {
    // Words of a made-up language: "na", "ke" and "vo" stand beside all others.
    const subjects = [
      'brim dalo fenk gurs',
      'hime jota kurp lomi',
      'mard nolt opur prin',
      'qued rast silm tuno',
    ];
    const text = (n: number) => {
      const words = subjects[n % 4]!.split(' ');
      return `na ${words[n % 3]} ke ${words[(n + 1) % 4]} vo ${words[(n * 7) % 4]} na ke`;
    };
    const made = (count: number) => textWords(Array.from({ length: count }, (_, n) => text(n)));
    const left = new Set(Array.from(withoutStopWords(made(400)).tokens, (word) => made(400).words[word]!));
    expect(['na', 'ke', 'vo'].filter((word) => left.has(word))).toEqual([]);
    expect(left.size).toBeGreaterThan(12);
    expect(withoutStopWords(made(50)).tokens).toHaveLength(made(50).tokens.length);
  });
});

test('words are those that Unicode has in the whole text, in any script', () => {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  const odd = [
    'a',
    'B7',
    '7',
    '.',
    ',',
    "'",
    '_',
    '-',
    ' ',
    '  ',
    '\n',
    '\u0301',
    '\u200d',
    '\u00ad',
    'é',
    'ß',
  ];
  const scripts = ['ก', 'ที่', 'นี่', '漢字', 'カタ', 'ひら', '한국', 'א', 'ع', 'क्', '👩‍👧', '🇩🇪'];
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...odd, ...scripts), maxLength: 30 }), (text) => {
      const expected = Array.from(segmenter.segment(text)).flatMap(({ segment, index, isWordLike }) =>
        isWordLike ? [{ word: segment.toLowerCase(), start: index, end: index + segment.length }] : [],
      );
      expect(wordsOf(text)).toEqual(expected);
    }),
    { numRuns: 3000 },
  );
});
