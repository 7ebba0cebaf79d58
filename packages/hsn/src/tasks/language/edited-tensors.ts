import { UserError } from '@hidden-schema/base';
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
  /** Cosines from which symbols stand out [J], likewise. */
  cutoffs?: Float64Array;
}

type Numbers = Float32Array | Float64Array;

const shaped =
  /^(symbols\.vectors|graph\.logits|walkPrior\.(start|weights|stays)|graphPrior\.excess|encoder\.(starts|cutoffs))/;
const moments = /\.(first|second)$/;

/** The tensors of a checkpoint's model, or its optimiser's moments, with the symbols changed; the rest as they are. */
export function changedTensors(
  tensors: ReadonlyMap<string, Tensor>,
  change: SymbolChange,
): Map<string, Tensor> {
  return new Map(
    [...tensors].map(([name, tensor]) => {
      if (name === 'walkPrior.stays')
        return [name, changedStays(tensor, tensors.get('walkPrior.weights')!, change)];
      return [name, shaped.test(name) ? changed(name, tensor, change) : tensor];
    }),
  );
}

/** s of symbols whose links to themselves keep the weight e^s·f that they have, whatever becomes of f. */
function changedStays(stays: Tensor, weights: Tensor, change: SymbolChange): Tensor {
  const [s, f] = [stays.toArray() as Numbers, weights.toArray() as Numbers];
  const own = byRow(
    Float64Array.from(s, (log, at) => log + f[at]!),
    stays,
    change,
    meansOrAll,
  );
  const after = byRow(f, weights, change, logSums);
  return shapedLike(
    stays,
    own.map((log, at) => log - after[at]!),
    rowShape(stays, change.origins.length),
  );
}

const shapedLike = ({ dtype }: Tensor, numbers: Float64Array, shape: number[]): Tensor =>
  Tensor.fromArray(dtype === 'float64' ? numbers : Float32Array.from(numbers), shape);

function changed(name: string, tensor: Tensor, change: SymbolChange): Tensor {
  const data = tensor.toArray() as Numbers;
  const J = change.origins.length;
  const make = (numbers: Float64Array, shape: number[]) => shapedLike(tensor, numbers, shape);
  const moment = moments.test(name);
  if (name.startsWith('encoder.cutoffs')) return make(cutoffs(data, change), [J]);
  if (name.startsWith('symbols.vectors') || name.startsWith('encoder.starts')) {
    const [K, S] = tensor.shape as [number, number];
    if (change.texts.length !== K)
      throw new UserError(
        `an edit of ${change.texts.length} symbols cannot be one of ${K}; look again and repeat it`,
      );
    return make(moment ? means(data, S, change) : directions(data, S, change), [J, S]);
  }
  if (name.startsWith('graph.logits')) {
    const pairs = moment ? pairMeans(data, change) : pairLogits(data, change);
    return make(pairs, [pairs.length]);
  }
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

/** Means by texts, of all symbols for one that is all new. [K] → [J] */
function meansOrAll(data: Numbers, width: number, change: SymbolChange): Float64Array {
  const everyone = Array.from(data.keys());
  const origins = change.origins.map((from) => (from.length > 0 ? from : everyone));
  return means(data, width, { ...change, origins });
}

/** One more than the texts there are, so that symbols which no text begins with count too. */
const weightOf = (texts: ArrayLike<number>, k: number): number => texts[k]! + 1;

/** What was measured anew where symbols turn, else the mean of those that a symbol is made of. [K] → [J] */
function cutoffs(data: Numbers, change: SymbolChange): Float64Array {
  const kept = means(data, 1, change);
  return kept.map((mean, j) => (change.turns?.has(j) && change.cutoffs ? change.cutoffs[j]! : mean));
}

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

/** Pairs of symbols as `PairIndex` numbers them, those of a symbol with itself among them where there are so many. */
function pairsOf(count: number, symbols: number): { loops: boolean; at: (i: number, j: number) => number } {
  const loops = count === (symbols * (symbols + 1)) / 2;
  const offset = loops ? 0 : 1;
  return { loops, at: (i, j) => i * symbols - (i * (i - 1 + 2 * offset)) / 2 + (j - i - offset) };
}

/** Calls for each pair of symbols afterwards, with the pairs before that it is made of. Returns how many there are. */
function eachPair(
  data: Numbers,
  { origins, texts }: SymbolChange,
  visit: (place: number, pair: [number, number], before: number[]) => void,
): number {
  const J = origins.length;
  const { loops, at } = pairsOf(data.length, texts.length);
  let place = 0;
  for (let i = 0; i < J; i++)
    for (let j = loops ? i : i + 1; j < J; j++, place++) {
      const before = origins[i]!.flatMap((a) =>
        origins[j]!.flatMap((b) => (a === b && !loops ? [] : [at(Math.min(a, b), Math.max(a, b))])),
      );
      // A link between two symbols that become one is one of its links to itself, once.
      visit(place, [i, j], [...new Set(before)]);
    }

  return place;
}

/** A link is there where any of those that it is made of is: 1 − Π(1 − p). */
function pairLogits(data: Numbers, change: SymbolChange): Float64Array {
  const J = change.origins.length;
  const all = new Float64Array((J * (J + 1)) / 2);
  const count = eachPair(data, change, (place, [i, j], before) => {
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
  return all.slice(0, count);
}

function pairMeans(data: Numbers, change: SymbolChange): Float64Array {
  const J = change.origins.length;
  const all = new Float64Array((J * (J + 1)) / 2);
  const count = eachPair(data, change, (place, _, before) => {
    for (const e of before) all[place]! += data[e]! / before.length;
  });
  return all.slice(0, count);
}
