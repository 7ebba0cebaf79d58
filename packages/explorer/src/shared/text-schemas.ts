import { z } from 'zod';
import { encodedSentence } from './analysis-schemas.ts';
import { probability, step, symbol } from './schemas.ts';

/** Answers about the texts of a run: their map, the texts themselves, and which of them have some words. */

const numbers = (of: string) =>
  z.string().describe(`${of}, one after the other; base64 of their bytes, the lowest byte first.`);

export const mapSchema = z.object({
  step,
  count: z.int().describe('Texts on the map, N.'),
  corpus: z.int().describe('Texts there are; `hsn encode` reads the rest.'),
  symbols: z.int(),
  length: z.int().describe('Steps of a walk, L.'),
  labels: z.array(z.string()),
  places: numbers('x and y of each text as 16-bit whole numbers, 0 to 65535'),
  walks: numbers('The L symbols of each text as 16-bit whole numbers'),
  times: numbers('When each text is from, as 64-bit numbers: UTC milliseconds, NaN for unknown')
    .nullable()
    .describe('Null where the run was not told of a column with dates.'),
  labelOf: numbers('The number of each text’s label as a signed 16-bit whole number, −1 for none'),
});

export const textsSchema = z.object({
  step,
  texts: z.array(encodedSentence),
});

export const matchesSchema = z.object({
  step,
  total: z.int().describe('Texts that have all the words.'),
  texts: z.string().describe('One bit for each text of the map, the lowest of the first byte first; base64.'),
});

export const explainSchema = z.object({
  step,
  walk: z.array(symbol),
  words: z
    .array(
      z.object({
        start: z.int().describe('Its place in the text, in UTF-16 units.'),
        end: z.int(),
        symbol: symbol.describe('The symbol that it carries.'),
        weight: probability.describe('1 for the word that matters most to the symbol.'),
      }),
    )
    .describe('Words that carry a symbol.'),
});
