/** Cumulative true and false positives after each group of equal scores, highest score first. */
function* tieGroups(scores: ArrayLike<number>, labels: ArrayLike<number>) {
  if (scores.length !== labels.length) {
    throw new RangeError(
      `expected as many labels as scores, got ${labels.length} labels and ${scores.length} scores`,
    );
  }
  const order = Uint32Array.from({ length: scores.length }, (_, at) => at);
  for (const at of order) if (Number.isNaN(scores[at])) throw new RangeError(`score ${at} is NaN`);
  // Compared, not subtracted: the difference of two infinite scores is NaN.
  order.sort((a, b) => (scores[a]! > scores[b]! ? -1 : scores[a]! < scores[b]! ? 1 : 0));
  let truePositives = 0;
  let falsePositives = 0;
  for (let at = 0; at < order.length; at++) {
    if (labels[order[at]!]) truePositives++;
    else falsePositives++;
    if (at + 1 < order.length && scores[order[at + 1]!] === scores[order[at]!]) continue;
    yield { truePositives, falsePositives };
  }
}

/** Area under the ROC curve: the chance that a positive outranks a negative, ties one half; null with one class. */
export function rocAuc(scores: ArrayLike<number>, labels: ArrayLike<number>): number | null {
  let area = 0;
  let last = { truePositives: 0, falsePositives: 0 };
  for (const group of tieGroups(scores, labels)) {
    const width = group.falsePositives - last.falsePositives;
    area += (width * (group.truePositives + last.truePositives)) / 2;
    last = group;
  }
  const pairs = last.truePositives * last.falsePositives;
  return pairs === 0 ? null : area / pairs;
}

/** Σ (R_n - R_{n-1}) P_n over distinct thresholds; null without positives. */
export function averagePrecision(scores: ArrayLike<number>, labels: ArrayLike<number>): number | null {
  let sum = 0;
  let found = 0;
  for (const { truePositives, falsePositives } of tieGroups(scores, labels)) {
    sum += ((truePositives - found) * truePositives) / (truePositives + falsePositives);
    found = truePositives;
  }
  return found === 0 ? null : sum / found;
}
