import type { SymbolChoice } from '@hidden-schema/hsn';
import { drawCurves } from '../drawing/curves.ts';
import type { Results } from '../drawing/results.ts';

/** How the number of symbols was chosen: the curve as a table and as a figure. */
export function choiceResults({ symbols, curve }: SymbolChoice): Results {
  const series = (['silhouette', 'stability', 'score'] as const).map((name) => ({
    name,
    points: curve.map((one): [number, number] => [one.symbols, one[name]]),
    dashed: name !== 'score',
  }));
  return {
    name: 'symbols-auto',
    data: { symbols, curve },
    sheets: [
      {
        name: 'symbols-auto',
        title: `How many symbols: ${symbols}`,
        caption:
          'Silhouette of clusters of texts, agreement of clusters found in two halves of them (adjusted Rand index), and the product of both, which decides.',
        columns: [
          { title: 'symbols' },
          ...series.map(({ name }) => ({ title: name, digits: 4 })),
          { title: '' },
        ],
        rows: curve.map((one) => [
          ...[one.symbols, one.silhouette, one.stability, one.score],
          one.symbols === symbols ? '←' : undefined,
        ]),
      },
    ],
    figures: [
      {
        ...{ name: 'symbols-auto', title: 'How many symbols' },
        svg: drawCurves({
          title: `How many symbols: ${symbols}`,
          xLabel: 'symbols',
          yLabel: 'silhouette, stability, and their product',
          logX: true,
          series,
        }),
      },
    ],
  };
}
