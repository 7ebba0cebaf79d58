import { Tensor } from '@hidden-schema/torch';
import { leastChance } from '../../graph/posterior.ts';

// Shapes: K symbols before, J after, S their width, E pairs, R steps.

/** How the symbols of a network become others. */
export interface SymbolChange {
  /** For each symbol afterwards, those before that it is made of; none for one that is all new. [J] */
  origins: readonly (readonly number[])[];
  /** Texts that begin with each symbol before, by which several become one. [K] */
  texts: ArrayLike<number>;
  /** What is added to a symbol's direction, where it turns away from its origin, or is new: [S] by number afterwards. */
  turns?: ReadonlyMap<number, Float32Array>;
  /** Part of its origin's texts that a symbol has; all unless given. By number afterwards. */
  parts?: ReadonlyMap<number, number>;
  /** Link probabilities [J, J] that hold for the symbols `turns` names; others keep theirs. */
  links?: Float64Array;
}

type Numbers = Float32Array | Float64Array;

const shaped = /^(symbols\.vectors|graph\.logits|walkPrior\.start|walkPrior\.weights|graphPrior\.excess)/;
const moments = /\.(first|second)$/;

/** The tensors of a checkpoint's model, or its optimiser's moments, with the symbols changed; the rest as they are. */
export function changedTensors(
  tensors: ReadonlyMap<string, Tensor>,
  change: SymbolChange,
): Map<string, Tensor> {
  return new Map(
    [...tensors].map(([name, tensor]) => [name, shaped.test(name) ? changed(name, tensor, change) : tensor]),
  );
}

function changed(name: string, tensor: Tensor, change: SymbolChange): Tensor {
  const data = tensor.toArray() as Numbers;
  const J = change.origins.length;
  const make = (numbers: Float64Array, shape: number[]) =>
    Tensor.fromArray(tensor.dtype === 'float64' ? numbers : Float32Array.from(numbers), shape);
  const moment = moments.test(name);
  if (name.startsWith('symbols.vectors')) {
    const S = tensor.dim(1);
    return make(moment ? means(data, S, change) : directions(data, S, change), [J, S]);
  }
  if (name.startsWith('graph.logits'))
    return make(moment ? pairMeans(data, change) : pairLogits(data, change), [(J * (J - 1)) / 2]);
  if (name.startsWith('graphPrior') || moment)
    return make(byRow(data, tensor, change, means), rowShape(tensor, J));
  return make(byRow(data, tensor, change, logSums), rowShape(tensor, J));
}

const rowShape = ({ shape }: Tensor, J: number): number[] => [...shape.slice(0, -1), J];

/** A step's numbers of all symbols, one row after the other. [R, K] → [R, J] */
function byRow(
  data: Numbers,
  { shape }: Tensor,
  change: SymbolChange,
  of: (row: Numbers, width: number, change: SymbolChange) => Float64Array,
): Float64Array {
  const K = shape.at(-1)!;
  const J = change.origins.length;
  const rows = data.length / K;
  const all = new Float64Array(rows * J);
  for (let r = 0; r < rows; r++) all.set(of(data.subarray(r * K, (r + 1) * K), 1, change), r * J);
  return all;
}

/** Means by texts. [K, width] → [J, width] */
function means(data: Numbers, width: number, { origins, texts }: SymbolChange): Float64Array {
  const all = new Float64Array(origins.length * width);
  for (const [j, from] of origins.entries()) {
    const total = from.reduce((sum, k) => sum + weightOf(texts, k), 0);
    for (const k of from) {
      const share = weightOf(texts, k) / total;
      for (let s = 0; s < width; s++) all[j * width + s]! += share * data[k * width + s]!;
    }
  }
  return all;
}

/** One more than the texts there are, so that symbols which no text begins with count too. */
const weightOf = (texts: ArrayLike<number>, k: number): number => texts[k]! + 1;

/** The mean's direction, as long as the symbols are: a cluster of all their texts points there. */
function directions(data: Numbers, S: number, change: SymbolChange): Float64Array {
  const all = means(data, S, change);
  for (const [j, from] of change.origins.entries()) {
    const turn = change.turns?.get(j);
    if (from.length === 1 && !turn) continue;
    const row = all.subarray(j * S, (j + 1) * S);
    if (turn) for (let s = 0; s < S; s++) row[s]! += turn[s]!;
    const length = Math.hypot(...row);
    if (length > 0) for (let s = 0; s < S; s++) row[s]! /= length;
  }
  return all;
}

/** log of summed chances; a symbol that is a part of another has that part. */
function logSums(data: Numbers, _: number, { origins, parts }: SymbolChange): Float64Array {
  const least = Array.from(data).reduce((low, x) => Math.min(low, x), Number.POSITIVE_INFINITY);
  return Float64Array.from(origins, (from, j) => {
    if (from.length === 0) return least;
    const most = Math.max(...from.map((k) => data[k]!));
    const sum = from.reduce((total, k) => total + Math.exp(data[k]! - most), 0);
    return most + Math.log(sum) + Math.log(parts?.get(j) ?? 1);
  });
}

/** Place of the pair i < j among those of `count` symbols, as `PairIndex` numbers them. */
const pairAt = (i: number, j: number, count: number): number => i * count - (i * (i + 1)) / 2 + (j - i - 1);

/** Calls for each pair of symbols afterwards, with the pairs before that it is made of. */
function eachPair(
  { origins, texts }: SymbolChange,
  visit: (place: number, pair: [number, number], before: number[]) => void,
): void {
  const [J, K] = [origins.length, texts.length];
  let place = 0;
  for (let i = 0; i < J; i++) {
    for (let j = i + 1; j < J; j++, place++) {
      const before = origins[i]!.flatMap((a) =>
        origins[j]!.flatMap((b) => (a === b ? [] : [pairAt(Math.min(a, b), Math.max(a, b), K)])),
      );
      visit(place, [i, j], before);
    }
  }
}

/** A link is there where any of those that it is made of is: 1 − Π(1 − p). */
function pairLogits(data: Numbers, change: SymbolChange): Float64Array {
  const J = change.origins.length;
  const all = new Float64Array((J * (J - 1)) / 2);
  eachPair(change, (place, [i, j], before) => {
    const turned = change.turns?.has(i) || change.turns?.has(j);
    if (before.length === 1 && !turned) {
      all[place] = data[before[0]!]!;
      return;
    }
    const missing = before.reduce((product, e) => product / (1 + Math.exp(data[e]!)), 1);
    const p = turned && change.links ? change.links[i * J + j]! : 1 - missing;
    const chance = Math.min(1 - leastChance, Math.max(leastChance, p));
    all[place] = Math.log(chance) - Math.log1p(-chance);
  });
  return all;
}

function pairMeans(data: Numbers, change: SymbolChange): Float64Array {
  const J = change.origins.length;
  const all = new Float64Array((J * (J - 1)) / 2);
  eachPair(change, (place, _, before) => {
    for (const e of before) all[place]! += data[e]! / before.length;
  });
  return all;
}
