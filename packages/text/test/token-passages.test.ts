import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tokenPassages } from '../src/passages.ts';
import { trainByteBpe } from '../src/tokenizer/train-bpe.ts';

const text =
  'The ship left at dawn. Nobody saw it go, not even Mr. Grey. Was it stolen? The harbour was empty for days. ' +
  'Then the fog came in, and with it three more ships. They carried grain. Nothing else was said of them.';
const tokenizer = trainByteBpe([text], 320);

const tokensOf = async (some: string) =>
  (await tokenizer.encodeBatch([some], { specials: false }))[0]!.ids.length;
const squeezed = (some: string) => some.replace(/\s+/g, '');

describe('passages of at most so many tokens', () => {
  test('end where sentences do, and are of about the same length', async () => {
    const passages = await tokenPassages(text, tokenizer, 40);
    const parts = passages.map(({ start, end }) => text.slice(start, end).trim());
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(part).toMatch(/[.?]$/);
    const sizes = passages.map(({ ids }) => ids.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(40);
    expect(Math.min(...sizes)).toBeGreaterThan(10);
    for (const [n, { ids }] of passages.entries()) expect(ids).toHaveLength(await tokensOf(parts[n]!));
  });

  test('are two halves of a text that hardly does not fit, not all of it and its end', async () => {
    const all = await tokensOf(text);
    const sizes = (await tokenPassages(text, tokenizer, all - 3)).map(({ ids }) => ids.length);
    expect(sizes).toHaveLength(2);
    for (const size of sizes) expect(size).toBeGreaterThan(all / 4);
  });

  test('a text that fits is one, as it is', async () => {
    const all = await tokensOf(text);
    const [only, ...others] = await tokenPassages(text, tokenizer, all);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ start: 0, end: text.length });
    expect(only!.ids).toHaveLength(all);
  });

  test('leave nothing out, whatever the text is, and are none of them too long', async () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom('. ', '? ', '\n', ' ', 'U.S. ', '漢字。', '😀'),
        fc.string({ unit: 'grapheme', maxLength: 30 }),
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 4, max: 40 }), async (some, longest) => {
        const whole = some.join('');
        const passages = await tokenPassages(whole, tokenizer, longest);
        const joined = passages.map(({ start, end }) => whole.slice(start, end)).join('');
        expect(squeezed(joined)).toBe(squeezed(whole));
        for (const { ids, start, end } of passages) {
          expect(ids.length).toBeLessThanOrEqual(longest);
          // A text that is one passage is read as it is.
          const part = whole.slice(start, end);
          expect(ids).toHaveLength(await tokensOf(passages.length > 1 ? part.trim() : part));
        }
      }),
      { numRuns: 60, seed: 7 },
    );
  });
});
