// The paper's tables, as printed.

/** Figures of a row by our names of them; the paper has not all of them of each. */
export type Published = Readonly<Record<string, string>>;

/** A row a line, a bar between cells. */
const cellsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

/** Rows by their first cell, the others by the names of columns; a dash stands for nothing. */
const rowsOf = (columns: readonly string[], table: string): Readonly<Record<string, Published>> =>
  Object.fromEntries(
    cellsOf(table).map(([row, ...cells]) => {
      const named = columns.map((column, at) => [column, cells[at]!] as const);
      return [row!, Object.fromEntries(named.filter(([, cell]) => cell !== '–'))];
    }),
  );

/** A printed figure without its deviation, for columns of numbers. */
export const printedNumber = (figure: string | undefined): number | undefined =>
  figure === undefined ? undefined : Number.parseFloat(figure);

/** Tables 1 and 5: of HSN with a prior link probability, and of the LSTM. */
export const publishedRecovery = rowsOf(
  [
    ...['auc', 'edges_sampled', 'frobenius_truth', 'frobenius_random', 'nll_authors'],
    ...['kl_walk', 'kl_graph'],
  ],
  `
barabasi/paper 0.1 | 0.977 ± 0.003 | 1090 ± 143 | 17 ± 2 | 27 ± 1 | 53.08 ± 0.01 | 0.10 ± 0.06 | 9 ± 1
barabasi/paper 0.2 | 0.989 ± 0.001 | 1360 ± 104 | 17 ± 2 | 26 ± 1 | 53.07 ± 0.02 | 0.09 ± 0.06 | 4.8 ± 0.5
barabasi/lstm | – | – | – | – | 53.07 ± 0.01 | – | –
erdos/paper 0.5 | 0.95 ± 0.06 | 2812 ± 344 | 34.8 ± 0.9 | 40 ± 5 | 50.9 ± 0.8 | 1.2 ± 0.3 | 4 ± 6
erdos/paper 0.6 | 0.94 ± 0.06 | 3131 ± 156 | 36.8 ± 0.8 | 44 ± 2 | 50.4 ± 0.6 | 1.3 ± 0.1 | 1 ± 2
erdos/lstm | – | – | – | – | 48.24 ± 0.02 | – | –`,
);

/** The corpora of Tables 2 and 6; Yahoo and Yelp are whole documents. */
export const publishedCorpora = ['ptb', 'yahoo', 'yelp'] as const;

/** Perplexity and information of Table 2, then Table 6 over five runs; of HSN(K, L), GPT-2 alone and other systems. */
const publishedModels = rowsOf(
  ['perplexity', 'information', 'told', 'reconstruction', 'walk', 'graph'],
  `
ptb alone | 24.23 | – | – | – | – | –
ptb optimus-a | 23.58 | 3.78 | 3.78 | 86.43 | 4.88 | –
ptb optimus-b | 35.53 | 8.18 | 8.18 | 77.65 | 28.50 | –
ptb ivae | 53.44 | 12.50 | 12.50 | 74.69 | 12.51 | –
ptb 50-5 | 22.47 | 9.50 | 9.3 ± 0.2 | 78.7 ± 0.2 | 10.3 ± 0.2 | 0.02 ± 0.01
ptb 50-20 | 30.38 | 26.06 | 25.3 ± 0.9 | 77.1 ± 0.4 | 27 ± 1 | 0.1 ± 0.2
ptb 100-5 | 20.25 | 9.30 | 9.1 ± 0.3 | 79.1 ± 0.2 | 10.2 ± 0.3 | 0.11 ± 0.02
ptb 100-20 | 25.48 | 23.77 | 23 ± 1 | 77.9 ± 0.3 | 24 ± 1 | 0.21 ± 0.05
yahoo alone | 22.00 | – | – | – | – | –
yahoo optimus-a | 22.34 | 5.34 | 5.34 | 282.84 | 6.97 | –
yahoo optimus-b | 29.92 | 9.18 | 9.18 | 270.80 | 30.41 | –
yahoo ivae | 47.93 | 10.70 | 10.70 | 297.70 | 11.40 | –
yahoo 50-5 | 20.99 | 10.42 | 10.2 ± 0.4 | 268.4 ± 0.4 | 11.4 ± 0.5 | 0.08 ± 0.04
yahoo 50-20 | 22.84 | 22.81 | 25 ± 2 | 267 ± 1 | 26 ± 3 | 0.07 ± 0.1
yahoo 100-5 | 21.01 | 11.21 | 10.8 ± 0.4 | 267.7 ± 0.5 | 12.3 ± 0.6 | 0.04 ± 0.04
yahoo 100-20 | 21.98 | 16.13 | 13 ± 5 | 268 ± 1 | 13 ± 5 | 0.3 ± 0.1
yelp alone | 23.40 | – | – | – | – | –
yelp optimus-a | 21.99 | 2.54 | 2.54 | 334.31 | 3.09 | –
yelp optimus-b | 24.59 | 9.13 | 9.13 | 325.77 | 27.89 | –
yelp ivae | 36.88 | 11.00 | 11.00 | 348.70 | 11.60 | –
yelp 50-5 | 19.72 | 10.04 | 10.0 ± 0.2 | 312.0 ± 0.5 | 11.3 ± 0.2 | 0.025 ± 0.009
yelp 50-20 | 21.60 | 24.93 | 24 ± 2 | 312 ± 3 | 26 ± 3 | 0.1 ± 0.1
yelp 100-5 | 19.82 | 10.20 | 10.1 ± 0.2 | 312.1 ± 0.5 | 11.5 ± 0.3 | 0.16 ± 0.02
yelp 100-20 | 21.13 | 18.85 | 18 ± 3 | 312.7 ± 0.6 | 17 ± 3 | 0.3 ± 0.1`,
);

/** What Tables 2 and 6 print of `alone`, `50-5`, `ivae` and so on; nothing of other corpora. */
export const publishedModel = (corpus: string, model: string): Published =>
  publishedModels[`${corpus} ${model}`] ?? {};

/** A row of the paper's table of graph statistics: HSN(K, L) on a corpus, or a random graph. */
interface PublishedGraph {
  symbols: number;
  length: number;
  corpus: string;
  /** Edges, diameter, average distance, clustering, components, largest component. */
  cells: readonly string[];
}

/** Table 4, "Statistic of inferred graphs for all datasets". */
export const publishedGraphs: readonly PublishedGraph[] = cellsOf(`
50 5 PTB | 694.26 ± 9.47 | 2.00 ± 0.00 | 1.43 ± 0.01 | 0.83 ± 0.01 | 1.00 ± 0.00 | 50.00 ± 0.00
50 5 YAHOO | 892.67 ± 8.22 | 2.00 ± 0.00 | 1.24 ± 0.01 | 0.84 ± 0.00 | 2.00 ± 0.04 | 49.00 ± 0.04
50 5 YELP | 891.06 ± 6.50 | 2.73 ± 0.46 | 1.24 ± 0.03 | 0.84 ± 0.01 | 2.24 ± 0.85 | 48.76 ± 0.85
50 5 random | 611.69 ± 17.61 | 2.00 ± 0.00 | 1.50 ± 0.01 | 0.50 ± 0.02 | 1.00 ± 0.00 | 50.00 ± 0.00
50 20 PTB | 764.28 ± 7.88 | 2.83 ± 0.38 | 1.27 ± 0.03 | 0.82 ± 0.01 | 4.71 ± 0.77 | 46.29 ± 0.77
50 20 YAHOO | 356.35 ± 7.76 | 3.17 ± 0.37 | 1.57 ± 0.05 | 0.58 ± 0.02 | 12.04 ± 1.49 | 38.96 ± 1.49
50 20 YELP | 259.42 ± 5.47 | 2.68 ± 0.48 | 1.42 ± 0.03 | 0.48 ± 0.01 | 20.77 ± 0.68 | 30.23 ± 0.68
50 20 random | 611.69 ± 17.61 | 2.00 ± 0.00 | 1.50 ± 0.01 | 0.50 ± 0.02 | 1.00 ± 0.00 | 50.00 ± 0.00
100 5 PTB | 1198.18 ± 16.44 | 2.56 ± 0.50 | 1.76 ± 0.01 | 0.83 ± 0.01 | 1.19 ± 0.40 | 99.81 ± 0.40
100 5 YAHOO | 1239.21 ± 12.19 | 3.15 ± 0.38 | 1.42 ± 0.03 | 0.51 ± 0.01 | 35.93 ± 1.41 | 65.07 ± 1.41
100 5 YELP | 1295.68 ± 12.93 | 3.36 ± 0.48 | 1.55 ± 0.03 | 0.57 ± 0.01 | 27.38 ± 1.69 | 73.62 ± 1.69
100 5 random | 2474.92 ± 36.58 | 2.00 ± 0.00 | 1.50 ± 0.01 | 0.50 ± 0.01 | 1.00 ± 0.00 | 100.00 ± 0.00
100 20 PTB | 892.53 ± 10.04 | 3.04 ± 0.24 | 1.41 ± 0.04 | 0.45 ± 0.01 | 46.04 ± 1.53 | 54.96 ± 1.54
100 20 YAHOO | 261.13 ± 7.14 | 2.18 ± 0.38 | 1.95 ± 0.00 | 0.91 ± 0.01 | 1.01 ± 0.10 | 99.99 ± 0.10
100 20 YELP | 515.84 ± 10.09 | 3.68 ± 0.48 | 1.79 ± 0.06 | 0.38 ± 0.02 | 45.27 ± 2.58 | 55.67 ± 2.58
100 20 random | 2474.92 ± 36.58 | 2.00 ± 0.00 | 1.50 ± 0.01 | 0.50 ± 0.01 | 1.00 ± 0.00 | 100.00 ± 0.00`).map(
  ([model, ...cells]) => {
    const [symbols, length, corpus] = model!.split(' ');
    return { symbols: Number(symbols), length: Number(length), corpus: corpus!, cells };
  },
);

/** Table 7: KL between words in layers 1, 5 and 12 of HSN(100, 5) trained on Yelp. */
export const publishedAttention = {
  words: ['good', 'bad', 'great'],
  pairs: [
    ['good', 'bad'],
    ['good', 'great'],
    ['great', 'bad'],
  ],
  layers: [
    { layer: 1, kl: [0.807, 0.336, 1.227] },
    { layer: 5, kl: [0.738, 0.177, 1.245] },
    { layer: 12, kl: [0.635, 0.224, 0.957] },
  ],
} as const;

/** Table 8: hours on one A100, training sentences, words a sentence. */
export const publishedTimes: readonly (readonly [
  corpus: string,
  number,
  sentences: string,
  words: number,
])[] = [
  ['Yahoo', 22, '100K', 80],
  ['Yelp', 26, '100K', 97],
  ['PTB', 5, '38K', 22],
  ['Atomic', 42, '877', 6],
];
