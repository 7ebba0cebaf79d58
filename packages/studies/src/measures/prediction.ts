import { UserError } from '@hidden-schema/base';
import { coefficientDeviations } from './coefficient-deviations.ts';
import { type GroupShare, groupShare, textsOfLabels } from './groups.ts';
import type { LabelledWalks } from './label-maps.ts';
import { foldRows, walkFeatures } from './linear-reader.ts';
import {
  classProbabilities,
  type FeatureRows,
  fitLogisticRegression,
  predictedClasses,
  selectRows,
} from './logistic-regression.ts';
import { countPresence } from './presence.ts';
import { type Interval, mcNemarExact, z95 } from './proportions.ts';
import { stepWeights } from './symbol-uses.ts';

// Shapes: N labelled texts, K symbols.

/** A symbol that a walk is on, or a link that it takes. */
export type Feature = { symbol: number } | { link: readonly [i: number, j: number] };

/** What a feature says for a label against all others, in log-odds, the other features held. */
export type Coefficient = Feature & {
  label: string;
  coefficient: number;
  interval: Interval;
  /** Texts that have it. */
  texts: number;
};

/** How well walks predict labels, and what in them does. */
export interface LabelPrediction {
  /** Texts with a label, and the labels with how many of theirs were told rightly. */
  texts: number;
  labels: { label: string; right: GroupShare }[];
  features: { symbols: number; links: number };
  /** On folds that were not seen: how many texts are told rightly, and by the most frequent label alone. */
  accuracy: GroupShare;
  floor: GroupShare & { label: string };
  /** McNemar's exact test of the two, two-sided. */
  p: number;
  /** C of the penalty, as most folds chose it. */
  strength: number;
  method: string;
  interval: string;
  test: string;
  /** By size, those whose interval leaves 0 out; for each label against all others. */
  coefficients: Coefficient[];
}

export interface PredictionOptions {
  folds?: number;
  /** Told after each fold and each label. */
  onProgress?: (done: number, total: number) => void;
}

const strengths = [0.01, 0.03, 0.1, 0.3, 1];
/** Texts on which the penalty is chosen in each fold, links that are features at most, and texts that must take one. */
const choiceTexts = 2000;
const mostLinks = 200;
const fewestTexts = 20;
const quick = { tolerance: 1e-5, iterations: 500 };
const mostLabels = 200;

/** Which symbols and links predict the label, and how well, on texts that were not seen. */
export function predictLabels(labelled: LabelledWalks, options: PredictionOptions = {}): LabelPrediction {
  const { folds = 5, onProgress = () => {} } = options;
  const { texts, names, classes } = labelledTexts(labelled, folds);
  const { rows, features, counts } = featuresOf(labelled, texts);
  const total = folds + names.length;
  const onFold = (done: number) => onProgress(done, total);
  const held = heldOut(rows, classes, { folds, classCount: names.length, onFold });
  const coefficients = names.flatMap((label, at) => {
    const own = classes.map((other) => Number(other === at));
    const found = againstOthers(rows, own, held.strength);
    onProgress(folds + at + 1, total);
    return found.map((one, place) => ({ ...features[place]!, label, ...one, texts: counts[place]! }));
  });
  return {
    texts: texts.length,
    ...sharesRight(names, classes, held),
    features: { symbols: labelled.symbols, links: features.length - labelled.symbols },
    strength: held.strength,
    method: `ridge-penalised multinomial logistic regression on symbols visited and links taken, ${folds} stratified folds, C chosen within each`,
    interval: "of shares Wilson, 95 %; of coefficients Laplace's method, 95 %",
    test: "McNemar's exact test against the most frequent label, two-sided",
    coefficients: coefficients
      .filter(({ interval: [low, high] }) => low > 0 || high < 0)
      .sort((a, b) => Math.abs(b.coefficient) - Math.abs(a.coefficient)),
  };
}

/** How many labels were told rightly, of all texts and of each label's, beside what the most frequent label would. */
function sharesRight(
  names: readonly string[],
  classes: Uint32Array,
  held: Pick<ReturnType<typeof heldOut>, 'predicted' | 'floor'>,
): Pick<LabelPrediction, 'labels' | 'accuracy' | 'floor' | 'p'> {
  const right = classes.map((label, n) => Number(held.predicted[n] === label));
  const floorRight = classes.map((label, n) => Number(held.floor[n] === label));
  const sum = (of: ArrayLike<number>) => Array.from(of).reduce((a, b) => a + b, 0);
  const onlyModel = sum(right.map((hit, n) => hit & (1 - floorRight[n]!)));
  const onlyFloor = sum(floorRight.map((hit, n) => hit & (1 - right[n]!)));
  return {
    labels: names.map((label, at) => {
      const own = Array.from(classes.keys()).filter((n) => classes[n] === at);
      return { label, right: groupShare(sum(own.map((n) => right[n]!)), own.length) };
    }),
    accuracy: groupShare(sum(right), classes.length),
    floor: {
      ...groupShare(sum(floorRight), classes.length),
      label: names[mostFrequent(classes, names.length)]!,
    },
    p: mcNemarExact(onlyModel, onlyFloor),
  };
}

/** The texts that have a label which enough others have, and their labels as numbers. */
function labelledTexts({ labels, labelOf }: LabelledWalks, folds: number) {
  const counts = textsOfLabels({ labels, labelOf });
  const kept = labels.flatMap((_, at) => (counts[at]! >= folds ? [at] : []));
  if (kept.length < 2)
    throw new UserError(
      `two labels with at least ${folds} texts each are needed to predict one, got ${kept.length}; train with --label-column, or name another column with --by`,
    );
  if (kept.length > mostLabels)
    throw new UserError(
      `there are ${kept.length} labels, more than ${mostLabels}; name a column with fewer with --by`,
    );
  const place = new Map(kept.map((label, at) => [label, at]));
  const texts = Array.from({ length: labelOf.length }, (_, n) => n).filter((n) => place.has(labelOf[n]!));
  const classes = Uint32Array.from(texts, (n) => place.get(labelOf[n]!)!);
  return { texts, names: kept.map((label) => labels[label]!), classes };
}

/** The weight of each symbol visited (see `stepWeights`), then 1 for each of the common links taken. */
function featuresOf({ walks, symbols: K, length: L, weights }: LabelledWalks, texts: readonly number[]) {
  const own = Int32Array.from(texts.flatMap((n) => Array.from({ length: L }, (_, i) => walks[n * L + i]!)));
  const groupOf = new Int32Array(texts.length);
  const presence = countPresence({ walks: own, symbols: K, length: L, groupOf, groups: 1 });
  const common = presence.links
    .filter(({ counts }) => counts[0]! >= fewestTexts)
    .sort((a, b) => b.counts[0]! - a.counts[0]!)
    .slice(0, mostLinks);
  const columnOf = new Map(common.map(({ link: [i, j] }, at) => [i * K + j, K + at]));
  const steps = 2 * L - 1;
  const uses = Int32Array.from({ length: texts.length * steps }, (_, at) => {
    const [text, step] = [Math.floor(at / steps), at % steps];
    if (step < L) return own[text * L + step]!;
    const [a, b] = [own[text * L + step - L]!, own[text * L + step - L + 1]!];
    return columnOf.get(Math.min(a, b) * K + Math.max(a, b)) ?? -1;
  });
  const counting = texts.flatMap((n, text) => {
    const said = weights
      ? Array.from({ length: L }, (_, i) => weights[n * L + i]!)
      : stepWeights(own.subarray(text * L, (text + 1) * L));
    return [...said, ...Array.from({ length: L - 1 }, () => 1)];
  });
  const features: Feature[] = [
    ...Array.from({ length: K }, (_, symbol) => ({ symbol })),
    ...common.map(({ link }) => ({ link })),
  ];
  const counts = [...presence.symbols.map((of) => of[0]!), ...common.map(({ counts: of }) => of[0]!)];
  const rows = walkFeatures({ symbols: uses, length: steps, weights: counting }, features.length);
  return { rows, features, counts };
}

function mostFrequent(classes: ArrayLike<number>, count: number): number {
  const counts = new Int32Array(count);
  for (let n = 0; n < classes.length; n++) counts[classes[n]!]!++;
  return counts.indexOf(Math.max(...counts));
}

/** Predictions for each text by a model that has not seen it, and the label that was most frequent there. */
function heldOut(
  rows: FeatureRows,
  classes: Uint32Array,
  { folds, classCount, onFold }: { folds: number; classCount: number; onFold: (done: number) => void },
) {
  const predicted = new Uint32Array(classes.length);
  const floor = new Uint32Array(classes.length);
  const chosen: number[] = [];
  for (const { train, test } of foldRows(classes, folds)) {
    const seen = Uint32Array.from(train, (n) => classes[n]!);
    const own = selectRows(rows, train);
    const strength = chosenStrength(own, seen, classCount);
    chosen.push(strength);
    const model = fitLogisticRegression(own, seen, classCount, { strength, ...quick });
    const classesOfTest = predictedClasses(model, selectRows(rows, test));
    const usual = mostFrequent(seen, classCount);
    for (const [at, n] of test.entries()) {
      predicted[n] = classesOfTest[at]!;
      floor[n] = usual;
    }
    onFold(chosen.length);
  }
  const votes = strengths.map((one) => chosen.filter((other) => other === one).length);
  return { predicted, floor, strength: strengths[votes.indexOf(Math.max(...votes))]! };
}

/** The penalty that tells most of a third of the texts by the others, of some texts. */
function chosenStrength(rows: FeatureRows, classes: Uint32Array, classCount: number): number {
  const stride = Math.max(1, Math.floor(classes.length / choiceTexts));
  const some = Array.from(classes.keys()).filter((n) => n % stride === 0);
  const [fit, check] = [some.filter((_, at) => at % 3 !== 0), some.filter((_, at) => at % 3 === 0)];
  const own = selectRows(rows, fit);
  const rest = selectRows(rows, check);
  const labels = fit.map((n) => classes[n]!);
  const right = strengths.map((strength) => {
    const model = fitLogisticRegression(own, labels, classCount, { strength, ...quick });
    return predictedClasses(model, rest).filter((label, at) => label === classes[check[at]!]).length;
  });
  return strengths[right.indexOf(Math.max(...right))]!;
}

/** Coefficients of one label against all others, with their intervals. */
function againstOthers(rows: FeatureRows, labels: Uint32Array, strength: number) {
  const model = fitLogisticRegression(rows, labels, 2, { strength, tolerance: 1e-7 });
  const deviations = coefficientDeviations(rows, classProbabilities(model, rows, 1), strength);
  const W = rows.columns + 1;
  return Array.from({ length: rows.columns }, (_, at) => {
    const coefficient = model.coefficients[W + at]! - model.coefficients[at]!;
    const half = z95 * deviations[at]!;
    return { coefficient, interval: [coefficient - half, coefficient + half] as const };
  });
}
