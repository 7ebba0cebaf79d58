import { forestFigure } from '../drawing/forest-figure.ts';
import { columnsOf, type Sheet } from '../drawing/sheets.ts';
import type { Coefficient, LabelPrediction } from '../measures/prediction.ts';
import type { Interval } from '../measures/proportions.ts';
import { linkTitle, mostRows, percent, pValue, type SymbolTitle, within } from './compare-sheets.ts';

const featureTitle = (of: Coefficient, title: SymbolTitle): string =>
  'symbol' in of ? title(of.symbol) : linkTitle(of.link, title);

/** Labels that are shown to people; the others stand in the files. */
const shownLabels = 12;
const featuresOfLabel = 5;
const likely = 0.05;

/** How well labels are predicted, and what predicts each: of all labels, or of those with most texts. */
export function predictionSheets(
  prediction: LabelPrediction,
  title: SymbolTitle,
  { largest = false } = {},
): Sheet[] {
  const bySize = prediction.labels.toSorted((a, b) => b.right.texts - a.right.texts).slice(0, shownLabels);
  const labels = largest ? prediction.labels.filter((one) => bySize.includes(one)) : prediction.labels;
  return [accuracySheet({ ...prediction, labels }), tellingSheet({ ...prediction, labels }, title)].filter(
    ({ rows }) => rows.length > 0,
  );
}

/** In words: whether walks say anything of labels, and what is not shown. */
export function predictionText({ accuracy, floor, p, coefficients, labels }: LabelPrediction): string {
  const better = accuracy.share > floor.share && p < likely;
  return [
    better
      ? ''
      : `Walks do not predict the label better than always saying "${floor.label}" (p ${p < 0.0001 ? '' : '= '}${pValue(p)}).`,
    coefficients.length > 0 ? '' : 'No symbol or link predicts a label better than chance.',
    labels.length > shownLabels
      ? `Shown are the ${shownLabels} labels with most texts; the files hold all ${labels.length}.`
      : '',
  ]
    .filter(Boolean)
    .join(' ');
}

function accuracySheet(prediction: LabelPrediction): Sheet {
  const { labels, accuracy, floor } = prediction;
  const rowOf = (name: string, of: { share: number; interval: Interval; texts: number }) => [
    ...[name, of.texts, percent(of.share), within(of.interval)],
  ];
  return {
    name: 'predict-accuracy',
    title: `Labels told rightly in texts that were not seen: p ${pValue(prediction.p).replace(/^(?=0)/, '= ')}`,
    caption: `Method: ${prediction.method}. Intervals: ${prediction.interval}. Test: ${prediction.test}. Features: ${prediction.features.symbols} symbols and ${prediction.features.links} links.`,
    columns: columnsOf({ 'texts of': 'left', texts: null, right: 'right', '95 %': 'left' }),
    rows: [
      rowOf('all labels', accuracy),
      rowOf(`all labels, always "${floor.label}"`, floor),
      ...labels.map(({ label, right }) => rowOf(label, right)),
    ],
  };
}

/** The features that speak most for each label, so many of each. */
const tellingOf = (
  { labels, coefficients }: Pick<LabelPrediction, 'labels' | 'coefficients'>,
  most: number,
) =>
  labels.flatMap(({ label }) =>
    coefficients.filter((one) => one.label === label && one.coefficient > 0).slice(0, most),
  );

function tellingSheet(prediction: LabelPrediction, title: SymbolTitle): Sheet {
  return {
    name: 'predict-most',
    title: 'What predicts a label, against all others',
    columns: columnsOf({
      ...{ label: 'left', 'symbol or link': 'left', texts: null, 'log-odds': 2, '95 %': 'left' },
    }),
    rows: tellingOf(prediction, featuresOfLabel).map((one) => [
      ...[one.label, featureTitle(one, title), one.texts, one.coefficient],
      `${one.interval[0].toFixed(2)} to ${one.interval[1].toFixed(2)}`,
    ]),
  };
}

/** Every coefficient whose interval leaves 0 out, for other programs. */
export function predictionTable({ coefficients }: LabelPrediction, title: SymbolTitle): Sheet {
  return {
    name: 'predict-coefficients',
    title: 'Coefficients',
    columns: ['label', 'name', 'from', 'to', 'texts', 'coefficient', 'low', 'high'].map((one) => ({
      title: one,
    })),
    rows: coefficients.map((one) => [
      ...[one.label, featureTitle(one, title)],
      ...('symbol' in one ? [one.symbol, undefined] : one.link),
      ...[one.texts, one.coefficient, ...one.interval],
    ]),
  };
}

/** What predicts each label, with its intervals. */
export function predictionFigure(
  { labels, coefficients, accuracy, floor }: LabelPrediction,
  title: SymbolTitle,
) {
  const each = Math.max(1, Math.min(5, Math.floor(mostRows / labels.length)));
  const found = tellingOf({ labels, coefficients }, each).slice(0, mostRows);
  const heading = 'What predicts a label';
  const svg = forestFigure({
    title: heading,
    subtitle: `log-odds against all other labels, 95 %; ${percent(accuracy.share)} of unseen texts told rightly, ${percent(floor.share)} by the most frequent label`,
    xLabel: 'log-odds',
    rows: found.map((one, at) => ({
      name: featureTitle(one, title),
      value: one.coefficient,
      low: one.interval[0],
      high: one.interval[1],
      colour: labels.findIndex(({ label }) => label === one.label),
      ...(found[at - 1]?.label === one.label ? {} : { heading: one.label }),
    })),
  });
  return { name: 'predict', title: heading, svg };
}
