/** Fewer symbols than this have no outliers. */
const FEW = 20;
/** What lies beyond this share on either side is drawn nearer, up to this much of the rest's width away. */
const SHARE = 0.08;
const REACH = 0.12;

/** Places in the unit square from a layout: symbols without links lie far out, and would leave the others no room. */
export function placesOf(layout: readonly number[]): number[] {
  const places = [...layout];
  for (const axis of [0, 1]) {
    const values = layout.filter((_, at) => at % 2 === axis);
    const [least, most] = values.length < FEW ? extremes(values) : bounds(values);
    const held = values.map((value) => Math.min(most, Math.max(least, value)));
    const [low, high] = extremes(held);
    for (const [k, value] of held.entries()) places[2 * k + axis] = (value - low) / (high - low || 1);
  }
  return places;
}

function extremes(values: readonly number[]): [number, number] {
  return values.reduce(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}

function bounds(values: readonly number[]): [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const cut = Math.floor(SHARE * sorted.length);
  const [low, high] = [sorted[cut]!, sorted[sorted.length - 1 - cut]!];
  const reach = REACH * (high - low);
  return [low - reach, high + reach];
}
