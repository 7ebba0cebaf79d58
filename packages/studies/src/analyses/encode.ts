import { z } from 'zod';
import { analysis } from './analysis.ts';

/** A text read into its walk. */
export interface EncodedText {
  /** As it was given. */
  text: string;
  /** The most probable walk on the expected graph, as numbers of symbols; empty for a text without words. [L] */
  walk: number[];
  /** The probability of each symbol given the one before. [L] */
  steps: number[];
  /** Of the whole walk given the text: the product of its steps. */
  probability: number;
}

export const encode = analysis({
  name: 'encode',
  summary: 'sentences to walks on the graph',
  description: 'Read sentences and write the most probable walk of each, with its probabilities.',
  needs: [],
  options: z.strictObject({ texts: z.array(z.string()).describe('the texts, in a list') }),
  flags: { texts: { takes: 'a list of texts', own: true } },
  first: 'texts',
  files: false,
  run: async ({ run }, { texts }): Promise<EncodedText[]> => {
    const { product } = await import('../measures/symbol-uses.ts');
    const written = texts.filter((text) => text.trim() !== '');
    const { walks } = await run.texts.read(written);
    return texts.map((text) => {
      const { walk, probabilities } = text.trim() === '' ? { walk: [], probabilities: [] } : walks.shift()!;
      return { text, walk, steps: probabilities, probability: product(probabilities) };
    });
  },
  tables: async (read, { run }) => {
    const { symbolTitles } = await import('../symbols/names.ts');
    const { withoutStays } = await import('../measures/symbol-uses.ts');
    const title = symbolTitles(run.run);
    const inWords = (walk: readonly number[]) => withoutStays(walk).map(title).join(' → ');
    const columns = [{ title: 'probability', digits: 3 }, { title: 'walk' }, { title: 'text' }];
    const rows = read.map(({ text, walk, probability }) => [probability, inWords(walk), text]);
    return { sheets: [{ name: 'encode', title: 'Walks of the texts', columns, rows }] };
  },
  examples: [
    ['hsn encode run reviews.tsv --out walks.jsonl', ''],
    ['echo "the food was great" | hsn encode run --names', 'the walk in words too'],
    ['hsn encode run corpus/test.txt --format parquet --out walks.parquet', ''],
    ["printf 'PersonX goes home\\txWant\\tto rest\\n' | hsn encode tuples-run", 'event, relation and object'],
    ['hsn encode run all.txt --shard 2/8 --out walks-2.jsonl', 'on the second of eight machines'],
    ['hsn encode run reviews.tsv --unsure 5% --out walks.tsv', 'the least certain marked, none dropped'],
  ],
  notes: `Columns: walk (its symbols), probability (of the whole walk given the sentence), steps (that of each symbol given the
one before), text. --names adds the column names: the walk in words, a symbol that it stays on once. The walk is the most probable one on the expected graph, so the same sentence always has the same. --unsure adds the
column unsure: 1 for sentences whose walk is at most as probable as those of the least certain share of the run's own texts.`,
});
