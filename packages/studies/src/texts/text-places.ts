import { Random } from '@hidden-schema/base';
import { likeTexts, type WeightedWalks } from './text-neighbours.ts';

const NEIGHBOURS = 8;
/** Others that push a text away for each that pulls it: anyone, and ones that begin alike, or they would lie in knots. */
const PUSHES = { any: 3, alike: 1 };
/** Side of the square in which texts begin: pulling and pushing are of the order of 1. */
const SIDE = 20;
const LONGEST_MOVE = 4;
/** Pulls in all: with many texts fewer rounds do, since like texts begin near each other. */
const PULLS = 12_000_000;
const ROUNDS = { least: 12, most: 200 };
/** Of either axis, the texts whose range is drawn to scale; what lies beyond this share at each end is brought nearer. */
const OUTLIERS = 0.02;
/** Of the square's side, kept at each end for what lies beyond. */
const RIM = 0.08;

/**
 * A place in the plane for each text: it begins between the symbols of its walk, by how much each tells, and is then
 * pulled to like texts and pushed from others drawn at random (the cross entropy of neighbour embedding with a Cauchy
 * kernel, 1/(1 + d²)). The same texts get the same places. Returns x and y in turn, within the unit square.
 */
export function placeTexts(walked: WeightedWalks, symbolPlaces: ArrayLike<number>): Float64Array {
  const places = beginnings(walked, symbolPlaces);
  const texts = places.length / 2;
  if (texts > 2) {
    const pairs = pairsOf(likeTexts(walked, NEIGHBOURS));
    const rounds = Math.round(PULLS / Math.max(1, pairs.length / 2));
    refine({ places, pairs, kinds: kindsOf(walked) }, Math.max(ROUNDS.least, Math.min(ROUNDS.most, rounds)));
  }
  return intoSquare(places);
}

/** Symbols lie by their ranks, so that one far out leaves the others their room. */
function beginnings(
  { walks, weights, symbols, length }: WeightedWalks,
  symbolPlaces: ArrayLike<number>,
): Float64Array {
  const ranked = [0, 1].map((axis) =>
    ranks(Float64Array.from({ length: symbols }, (_, k) => symbolPlaces[2 * k + axis]!)),
  );
  const random = new Random(1);
  const texts = walks.length / length;
  const places = new Float64Array(2 * texts);
  for (let n = 0; n < texts; n++) {
    let all = 1e-12;
    for (let at = n * length; at < (n + 1) * length; at++) all += weights[at]! ** 2;
    for (const axis of [0, 1]) {
      let sum = 0;
      for (let at = n * length; at < (n + 1) * length; at++)
        sum += weights[at]! ** 2 * ranked[axis]![walks[at]!]!;
      // Texts with the same walk are not to lie on one another.
      places[2 * n + axis] = SIDE * (sum / all) + 0.2 * (random.next() - 0.5);
    }
  }
  return places;
}

/** From 0 to 1. */
function ranks(values: Float64Array): Float64Array {
  const order = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]! || a - b);
  const found = new Float64Array(values.length);
  order.forEach((k, at) => {
    found[k] = at / Math.max(1, values.length - 1);
  });
  return found;
}

/** Each text with each like one: n and m in turn. */
function pairsOf(neighbours: Int32Array): Int32Array {
  const pairs = new Int32Array(2 * neighbours.length);
  let count = 0;
  neighbours.forEach((m, at) => {
    if (m < 0) return;
    pairs[count++] = Math.floor(at / NEIGHBOURS);
    pairs[count++] = m;
  });
  return pairs.subarray(0, count);
}

/** Texts that begin with the same symbol: where those of each text's kind begin in `order`, and how many they are. */
interface Kinds {
  order: Uint32Array;
  first: Uint32Array;
  count: Uint32Array;
}

function kindsOf({ walks, symbols, length }: WeightedWalks): Kinds {
  const texts = walks.length / length;
  const ends = new Uint32Array(symbols + 1);
  for (let n = 0; n < texts; n++) ends[walks[n * length]! + 1]!++;
  const counts = ends.slice(1);
  for (let k = 0; k < symbols; k++) ends[k + 1]! += ends[k]!;
  const starts = ends.slice();
  const order = new Uint32Array(texts);
  for (let n = 0; n < texts; n++) order[ends[walks[n * length]!]!++] = n;
  const kindOf = (n: number) => walks[n * length]!;
  return {
    order,
    first: Uint32Array.from({ length: texts }, (_, n) => starts[kindOf(n)]!),
    count: Uint32Array.from({ length: texts }, (_, n) => counts[kindOf(n)]!),
  };
}

/** Gradient steps, shorter and shorter; `places` is changed. */
function refine(
  { places, pairs, kinds }: { places: Float64Array; pairs: Int32Array; kinds: Kinds },
  rounds: number,
): void {
  const random = new Random(2);
  const texts = places.length / 2;
  const { order, first, count } = kinds;
  for (let round = 0; round < rounds; round++) {
    const rate = 1 - round / rounds;
    for (let at = 0; at < pairs.length; at += 2) {
      const n = pairs[at]!;
      pull(places, 2 * n, 2 * pairs[at + 1]!, rate);
      for (let push = 0; push < PUSHES.any; push++)
        pushAway(places, 2 * n, 2 * Math.floor(random.next() * texts), rate);
      for (let push = 0; push < PUSHES.alike; push++)
        pushAway(places, 2 * n, 2 * order[first[n]! + Math.floor(random.next() * count[n]!)]!, rate);
    }
  }
}

/** Down the gradient of ln(1 + d²). */
function pull(places: Float64Array, n: number, m: number, rate: number): void {
  const x = places[n]! - places[m]!;
  const y = places[n + 1]! - places[m + 1]!;
  const force = (2 * rate) / (1 + x * x + y * y);
  const dx = bounded(force * x) / 2;
  const dy = bounded(force * y) / 2;
  places[n]! -= dx;
  places[n + 1]! -= dy;
  places[m]! += dx;
  places[m + 1]! += dy;
}

/** Down the gradient of −ln(d²/(1 + d²)). */
function pushAway(places: Float64Array, n: number, m: number, rate: number): void {
  if (n === m) return;
  const x = places[n]! - places[m]!;
  const y = places[n + 1]! - places[m + 1]!;
  const square = x * x + y * y;
  const force = (2 * rate) / ((0.001 + square) * (1 + square));
  places[n]! += bounded(force * x);
  places[n + 1]! += bounded(force * y);
}

const bounded = (move: number): number => Math.min(LONGEST_MOVE, Math.max(-LONGEST_MOVE, move));

/** Each axis fills the square. The few texts that lie far out are drawn nearer, in their order, so that they cost no room. */
function intoSquare(places: Float64Array): Float64Array {
  const ranges = [0, 1].map((axis) => {
    const sorted = places.filter((_, at) => at % 2 === axis).sort();
    const cut = Math.floor(OUTLIERS * sorted.length);
    return [sorted[cut] ?? 0, sorted[sorted.length - 1 - cut] ?? 0] as const;
  });
  return places.map((value, at) => {
    const [low, high] = ranges[at % 2]!;
    if (high === low) return 0.5;
    const place = (value - low) / (high - low);
    const rim = (beyond: number) => RIM * (1 - Math.exp((-beyond * (1 - 2 * RIM)) / RIM));
    if (place < 0) return RIM - rim(-place);
    return place > 1 ? 1 - RIM + rim(place - 1) : RIM + place * (1 - 2 * RIM);
  });
}
