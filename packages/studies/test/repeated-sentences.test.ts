import { describe, expect, test } from 'vitest';
import { withoutRepeatedSentences } from '../src/measures/repeated-sentences.ts';

const footer = 'All rights reserved, ACME News 2024.';
/** A word of its own for each text. */
const word = (n: number) => `${'abcdefgh'[n % 8]}${'klmnopq'[n % 7]}${'rstuvwxyz'[n % 9]}`;
const texts = Array.from({ length: 40 }, (_, n) => `The story of ${word(n)} is told here. ${footer}`);

describe('sentences that come again in many texts', () => {
  test('are left out, whatever their numbers, and the rest stays', () => {
    const given = texts.map((text, n) => text.replace('2024', String(1990 + n)));
    const kept = withoutRepeatedSentences(given);
    for (const text of kept) expect(text).not.toContain('reserved');
    for (const text of kept) expect(text).toMatch(/^The story of \w+ is told here\.$/);
  });

  test('are found as lines without a point, too', () => {
    const given = texts.map((_, n) => `Share this on your page\nThe weather is fine, says ${word(n)}.`);
    expect(withoutRepeatedSentences(given)[3]).toBe(`The weather is fine, says ${word(3)}.`);
  });

  test('stay in texts that have nothing else, and where few texts have them', () => {
    expect(withoutRepeatedSentences(texts.map(() => footer))).toEqual(texts.map(() => footer));
    const few = [...texts.slice(0, 4), ...texts.map((text) => text.replace(footer, ''))];
    expect(withoutRepeatedSentences(few)).toEqual(few);
  });

  test('of two words are said by chance', () => {
    const given = texts.map((_, n) => `Thank you. The story of ${word(n)}.`);
    expect(withoutRepeatedSentences(given)).toEqual(given);
  });
});
