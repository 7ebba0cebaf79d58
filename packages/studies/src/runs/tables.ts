import { UserError } from '@hidden-schema/base';
import { LIKELY_LINK, linkProbabilities } from '@hidden-schema/hsn/graph/likely';
import type { OpenedRun } from '@hidden-schema/hsn/open';
import { product } from '../measures/symbol-uses.ts';
import { linksOf, runLayout } from '../symbols/layout.ts';
import type { SymbolMeaning } from '../symbols/meaning.ts';
import type { EncodedCorpus } from '../texts/encoded.ts';
import { unsureTexts } from '../texts/unsure.ts';
import type { TableData, TableValue } from './table-files.ts';

export const RUN_TABLES = ['texts', 'symbols', 'links', 'words', 'examples', 'vectors'] as const;
export type RunTable = (typeof RUN_TABLES)[number];

/** What a table is made from. */
export interface TableSource {
  run: OpenedRun;
  encoded: EncodedCorpus;
  meanings: readonly SymbolMeaning[];
  /** Share of texts that are marked as unsure; 5 % unless given. */
  unsure?: number | undefined;
  /** Further columns of the corpus' table, and dates. [name][N] */
  columns?: Readonly<Record<string, readonly (string | null)[]>>;
}

const defaultUnsure = 0.05;

/** A table of a run for other programs: one row a text, symbol, link, word of a symbol, example of one, or vector. */
export async function runTable(name: RunTable, source: TableSource): Promise<TableData> {
  const { run, meanings } = source;
  switch (name) {
    case 'vectors':
      return vectorTable(run, source.encoded);
    case 'texts':
      return textTable(source);
    case 'symbols':
      return symbolTable(run, meanings);
    case 'links':
      return linkTable(run, meanings);
    case 'words':
      return wordTable(meanings);
    case 'examples':
      return exampleTable(meanings);
  }
}

/** Vectors of length one of texts, in the order of the table of texts, and of symbols: in one space where there is one. */
async function vectorTable(run: OpenedRun, encoded: EncodedCorpus): Promise<TableData> {
  if (run.kind !== 'language' || run.model.encoder.reads !== 'points')
    throw new UserError(
      `${run.run.directory} has no space that texts and symbols share; discover symbols with: hsn train --stage discover`,
    );
  const texts = Array.from(encoded.sentences(), ({ text }) => text);
  const points = (await run.texts.points(texts))!;
  const rows = (of: string, vectors: readonly Float32Array[]) =>
    vectors.map((vector, at) => [of, at, ...vector]);
  const dimensions = Array.from({ length: points[0]?.length ?? 0 }, (_, at) => [`v${at}`, 'number'] as const);
  return {
    columns: { of: 'text', number: 'integer', ...Object.fromEntries(dimensions) },
    rows: [...rows('text', points), ...rows('symbol', run.texts.symbolVectors())],
  };
}

const rankColumns = { symbol: 'integer', name: 'text', rank: 'integer' } as const;

const wordTable = (meanings: readonly SymbolMeaning[]): TableData => ({
  columns: { ...rankColumns, word: 'text', bits: 'number', texts: 'integer' },
  rows: meanings.flatMap(({ symbol, name, words }) =>
    words.map(({ word, pmi, count }, rank) => [symbol, name, rank + 1, word, pmi, count]),
  ),
});

const exampleTable = (meanings: readonly SymbolMeaning[]): TableData => ({
  columns: { ...rankColumns, weight: 'number', label: 'text', walk: 'list', text: 'text' },
  rows: meanings.flatMap(({ symbol, name, examples }) =>
    examples.map((one, rank) => [symbol, name, rank + 1, one.weight, one.label, one.walk, one.text]),
  ),
});

/** One row a text; every text has a walk, and those that are least sure are marked, not dropped. */
function textTable({ encoded, meanings, unsure = defaultUnsure, columns = {} }: TableSource): TableData {
  const marked = unsureTexts(encoded, unsure).unsure;
  const nameOf = (symbol: number) => meanings[symbol]?.name ?? String(symbol);
  const further = Object.entries(columns);
  return {
    columns: {
      ...{ text: 'text', label: 'text', split: 'text', walk: 'list', names: 'list' },
      ...{ steps: 'list', weights: 'list', probability: 'number', unsure: 'truth' },
      ...Object.fromEntries(further.map(([name]) => [name, 'text'] as const)),
    } as TableData['columns'],
    rows: (function* (): Generator<TableValue[]> {
      for (let n = 0; n < encoded.count; n++) {
        const { text, label, split, walk, probabilities, weights = [] } = encoded.sentence(n);
        const own = [text, label, split, walk, walk.map(nameOf), probabilities, weights];
        const others = further.map(([, values]) => values[n] ?? null);
        yield [...own, product(probabilities), marked[n] === 1, ...others];
      }
    })(),
  };
}

function symbolTable(run: OpenedRun, meanings: readonly SymbolMeaning[]): TableData {
  const layout = runLayout(run);
  return {
    columns: {
      ...{ symbol: 'integer', name: 'text', usage: 'number', texts: 'integer', words: 'list' },
      ...{ label: 'text', label_share: 'number', x: 'number', y: 'number' },
    },
    rows: meanings.map(({ symbol, name, usage, sentences, words, labels: [label] }) => [
      ...[symbol, name, usage, sentences, words.map(({ word }) => word)],
      ...[label?.label ?? null, label?.share ?? null, layout[2 * symbol]!, layout[2 * symbol + 1]!],
    ]),
  };
}

function linkTable(run: OpenedRun, meanings: readonly SymbolMeaning[]): TableData {
  const between = (i: number, j: number) => meanings[i]?.neighbours.find(({ symbol }) => symbol === j);
  return {
    columns: {
      ...{ from: 'integer', to: 'integer', from_name: 'text', to_name: 'text', probability: 'number' },
      ...{
        texts: 'integer',
        share_of_moves: 'number',
        lift: 'number',
        lift_low: 'number',
        lift_high: 'number',
      },
    },
    rows: linksOf(linkProbabilities(run.model), run.symbols, LIKELY_LINK).map(([i, j, p]) => {
      const { flow = 0, traversals = 0, lift = null, interval } = between(i, j) ?? between(j, i) ?? {};
      const strength = [flow, traversals, lift, interval?.[0] ?? null, interval?.[1] ?? null];
      return [i, j, meanings[i]?.name ?? null, meanings[j]?.name ?? null, p, ...strength];
    }),
  };
}
