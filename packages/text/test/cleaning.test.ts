import { TextFolder } from '@hidden-schema/testing/text-folder';
import { describe, expect, test } from 'vitest';
import { corpusNotes } from '../src/corpus-report.ts';
import { cleanText } from '../src/documents.ts';
import { countRepeated } from '../src/near-duplicates.ts';

describe('what nobody says', () => {
  test.each([
    ['WASHINGTON (Reuters) - The <b>dollar</b> fell.', 'The dollar fell.'],
    ['AP - The season #39;s first snow fell.', "The season's first snow fell."],
    ['NEW YORK (AP) -- Oil rose &amp; gold fell.', 'Oil rose & gold fell.'],
    ['Shares rose (AFP) in Paris.', 'Shares rose in Paris.'],
    ['Read &lt;a href=&quot;http://x.org&quot;&gt;this&lt;/a&gt; now.', 'Read this now.'],
    ['See http://www.example.org/a?b=1. Then go.', 'See . Then go.'],
    ['Write to bob.smith@example.org today.', 'Write to today.'],
    ['quot;Yes, quot; he said.', '"Yes, " he said.'],
  ])('is taken out of %j', (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  test.each([
    'As 3 < 5 and 7 > 2, so x & y.',
    'AT&T and R&D; #12 in the list',
    'The AP reported it.',
    'CP violation in decays - a review',
    'a  text   with  its   own spaces .',
    'meet me @home',
    'http://only.example/',
  ])('%j stays as it is', (text) => {
    expect(cleanText(text)).toBe(text);
  });
});

describe('a corpus with markup', () => {
  const folder = new TextFolder();
  const lines = ['<p>One &amp; two</p>', 'three', 'LONDON (Reuters) - four'].join('\n');

  test('is read without it, and that is said', async () => {
    const corpus = await folder.of('news.txt', lines);
    expect([0, 1, 2].map((row) => corpus.store.example(row).text)).toEqual(['One & two', 'three', 'four']);
    expect(corpusNotes(corpus.report)).toEqual([
      'markup, addresses or tags of news agencies taken out of 2 texts; --no-clean keeps them',
    ]);
  });

  test('is read as it is where that is asked for', async () => {
    const corpus = await folder.of('news.txt', lines, { clean: false });
    expect(corpus.store.example(0).text).toBe('<p>One &amp; two</p>');
    expect(corpusNotes(corpus.report)).toEqual([]);
  });
});

describe('texts that repeat an earlier one', () => {
  const text =
    'The quick brown fox jumps over the lazy dog while seven wizards watch from a hill above the old mill';
  const words = text.split(' ');
  const without = (at: number) => words.filter((_, n) => n !== at).join(' ');
  const other = words.toReversed().join(' ');

  test('are the same whatever their case and signs, and nearly so where a word differs', () => {
    expect(countRepeated([text, `${text.toUpperCase()}!`, without(0), other, ''])).toEqual({
      looked: 5,
      same: 1,
      near: 1,
    });
  });

  test('are found by the share of words in a row that two texts have, as that is counted', () => {
    const draw = (seed: number) => {
      let state = seed;
      return Array.from({ length: 60 }, () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return `w${state % 5000}`;
      });
    };
    const shingles = (some: readonly string[]) =>
      new Set(some.slice(2).map((_, at) => some.slice(at, at + 3).join(' ')));
    const shared = (a: readonly string[], b: readonly string[]) => {
      const [x, y] = [shingles(a), shingles(b)];
      const both = [...x].filter((shingle) => y.has(shingle)).length;
      return both / (x.size + y.size - both);
    };
    const found = { like: 0, unlike: 0 };
    for (let n = 1; n <= 40; n++) {
      const first = draw(n);
      const like = [...first.slice(0, 58), 'x', 'y'];
      const unlike = [...first.slice(0, 30), ...draw(n + 1000).slice(0, 30)];
      expect(shared(first, like)).toBeGreaterThan(0.9);
      expect(shared(first, unlike)).toBeLessThan(0.5);
      found.like += countRepeated([first.join(' '), like.join(' ')]).near;
      found.unlike += countRepeated([first.join(' '), unlike.join(' ')]).near;
    }
    expect(found.like).toBeGreaterThanOrEqual(36);
    expect(found.unlike).toBe(0);
  });
});
