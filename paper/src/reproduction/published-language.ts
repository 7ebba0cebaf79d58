/** A row of the paper's table of graph statistics, as printed: HSN(K, L) on a corpus, or a random graph. */
export interface PublishedGraph {
  symbols: number;
  length: number;
  corpus: 'PTB' | 'YAHOO' | 'YELP' | 'random';
  /** Edges, diameter, average distance, clustering, components, largest component. */
  cells: readonly string[];
}

const row = (
  symbols: number,
  length: number,
  corpus: PublishedGraph['corpus'],
  ...cells: string[]
): PublishedGraph => ({ symbols, length, corpus, cells });

const random50 = [
  '611.69 ± 17.61',
  '2.00 ± 0.00',
  '1.50 ± 0.01',
  '0.50 ± 0.02',
  '1.00 ± 0.00',
  '50.00 ± 0.00',
];
const random100 = [
  '2474.92 ± 36.58',
  '2.00 ± 0.00',
  '1.50 ± 0.01',
  '0.50 ± 0.01',
  '1.00 ± 0.00',
  '100.00 ± 0.00',
];

/** Table 4, "Statistic of inferred graphs for all datasets". */
export const publishedGraphs: readonly PublishedGraph[] = [
  row(
    50,
    5,
    'PTB',
    '694.26 ± 9.47',
    '2.00 ± 0.00',
    '1.43 ± 0.01',
    '0.83 ± 0.01',
    '1.00 ± 0.00',
    '50.00 ± 0.00',
  ),
  row(
    50,
    5,
    'YAHOO',
    '892.67 ± 8.22',
    '2.00 ± 0.00',
    '1.24 ± 0.01',
    '0.84 ± 0.00',
    '2.00 ± 0.04',
    '49.00 ± 0.04',
  ),
  row(
    50,
    5,
    'YELP',
    '891.06 ± 6.50',
    '2.73 ± 0.46',
    '1.24 ± 0.03',
    '0.84 ± 0.01',
    '2.24 ± 0.85',
    '48.76 ± 0.85',
  ),
  row(50, 5, 'random', ...random50),
  row(
    50,
    20,
    'PTB',
    '764.28 ± 7.88',
    '2.83 ± 0.38',
    '1.27 ± 0.03',
    '0.82 ± 0.01',
    '4.71 ± 0.77',
    '46.29 ± 0.77',
  ),
  row(
    50,
    20,
    'YAHOO',
    '356.35 ± 7.76',
    '3.17 ± 0.37',
    '1.57 ± 0.05',
    '0.58 ± 0.02',
    '12.04 ± 1.49',
    '38.96 ± 1.49',
  ),
  row(
    50,
    20,
    'YELP',
    '259.42 ± 5.47',
    '2.68 ± 0.48',
    '1.42 ± 0.03',
    '0.48 ± 0.01',
    '20.77 ± 0.68',
    '30.23 ± 0.68',
  ),
  row(50, 20, 'random', ...random50),
  row(
    100,
    5,
    'PTB',
    '1198.18 ± 16.44',
    '2.56 ± 0.50',
    '1.76 ± 0.01',
    '0.83 ± 0.01',
    '1.19 ± 0.40',
    '99.81 ± 0.40',
  ),
  row(
    100,
    5,
    'YAHOO',
    '1239.21 ± 12.19',
    '3.15 ± 0.38',
    '1.42 ± 0.03',
    '0.51 ± 0.01',
    '35.93 ± 1.41',
    '65.07 ± 1.41',
  ),
  row(
    100,
    5,
    'YELP',
    '1295.68 ± 12.93',
    '3.36 ± 0.48',
    '1.55 ± 0.03',
    '0.57 ± 0.01',
    '27.38 ± 1.69',
    '73.62 ± 1.69',
  ),
  row(100, 5, 'random', ...random100),
  row(
    100,
    20,
    'PTB',
    '892.53 ± 10.04',
    '3.04 ± 0.24',
    '1.41 ± 0.04',
    '0.45 ± 0.01',
    '46.04 ± 1.53',
    '54.96 ± 1.54',
  ),
  row(
    100,
    20,
    'YAHOO',
    '261.13 ± 7.14',
    '2.18 ± 0.38',
    '1.95 ± 0.00',
    '0.91 ± 0.01',
    '1.01 ± 0.10',
    '99.99 ± 0.10',
  ),
  row(
    100,
    20,
    'YELP',
    '515.84 ± 10.09',
    '3.68 ± 0.48',
    '1.79 ± 0.06',
    '0.38 ± 0.02',
    '45.27 ± 2.58',
    '55.67 ± 2.58',
  ),
  row(100, 20, 'random', ...random100),
];

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
