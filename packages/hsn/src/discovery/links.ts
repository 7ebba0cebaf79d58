import { call, scope, Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import { PairIndex } from '../graph/bernoulli.ts';
import { ClosedFormPosterior } from '../graph/closed-form.ts';
import { BetaBernoulliPrior } from '../graph/prior.ts';
import type { Replicas } from '../train/replicas.ts';
import type { DiscoveryOptions } from './options.ts';
import type { Pursued } from './pursuit.ts';

// Shapes: K symbols.

/** Halvings of the range of the missing link's cost. */
const halvings = 20;
/** Nats from which and up to which a missing link may cost its text. */
const costs = { least: 1, most: 1000 };
/** A kept exit has at least this log-odds, just above a probability of one half. */
const fewestNats = 1;

export interface Travelled {
  /** Expected traversals from j to k per text, and the same of squared probabilities. [K, K] float64 */
  traversals: Tensor;
  certainty: Tensor;
}

type LinkOptions = { texts: number } & Pick<DiscoveryOptions, 'density' | 'exits' | 'densityPrior'>;

/**
 * Link probabilities in closed form from the expected traversals (the formula of `ClosedFormPosterior`), with the
 * cost M of a missing link set so that the evidence links the share `density` of all pairs. A walk at a symbol without
 * exits is lost altogether, which the formula for one link at a time does not see: each symbol keeps its `exits` most
 * travelled links, with log-odds of at least the texts that travel them. A walk may stay where it is: every symbol is
 * linked to itself. [K, K] float32, symmetric
 */
export function inferLinks(travelled: Travelled, options: LinkOptions): Tensor {
  return withoutGrad(() => {
    const K = travelled.traversals.dim(0);
    const pairs = new PairIndex(K);
    const wanted = options.density * pairs.count;
    let [low, high] = [Math.log(costs.least), Math.log(costs.most)];
    for (let i = 0; i < halvings; i++) {
      const middle = (low + high) / 2;
      if (linked(evidence(pairs, travelled, options, Math.exp(middle))) < wanted) low = middle;
      else high = middle;
    }
    const logits = evidence(pairs, travelled, options, Math.exp(high));
    pairs.free();
    return withExits(pairs, logits, travelled.traversals, options);
  });
}

/** Logits of the pairs for one cost of a missing link. */
export function evidence(
  pairs: PairIndex,
  { traversals, certainty }: Travelled,
  { texts, densityPrior: [a, b] }: Pick<LinkOptions, 'texts' | 'densityPrior'>,
  missingLinkCost: number,
): Float64Array {
  return scope(() => {
    const prior = new BetaBernoulliPrior(a, b, pairs.count);
    const posterior = new ClosedFormPosterior(pairs, prior, {
      dtype: 'float64',
      sentences: texts,
      missingLinkCost,
      rate: 1,
    });
    posterior.observe({ traversals, certainty, start: posterior.start });
    const logits = posterior.logits.toArray() as Float64Array;
    posterior.free();
    return logits;
  });
}

const linked = (logits: Float64Array): number =>
  logits.reduce((count, logit) => count + (logit > 0 ? 1 : 0), 0);

function withExits(pairs: PairIndex, logits: Float64Array, traversals: Tensor, options: LinkOptions): Tensor {
  const K = pairs.nodes;
  const both = traversals.add(traversals.transpose(0, 1)).toArray() as Float64Array;
  const probabilities = new Float32Array(K * K);
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
  for (let e = 0; e < pairs.count; e++) {
    const [j, k] = [pairs.rows[e]!, pairs.columns[e]!];
    probabilities[j * K + k] = probabilities[k * K + j] = sigmoid(logits[e]!);
  }
  for (let j = 0; j < K; j++) {
    const mine = both.subarray(j * K, (j + 1) * K);
    const ranked = Array.from(mine.keys())
      .filter((k) => k !== j && mine[k]! > 0)
      .sort((x, y) => mine[y]! - mine[x]! || x - y);
    for (const k of ranked.slice(0, options.exits)) {
      const kept = sigmoid(Math.max(fewestNats, mine[k]! * options.texts));
      const place = j * K + k;
      probabilities[place] = probabilities[k * K + j] = Math.max(probabilities[place]!, kept);
    }
  }
  for (let j = 0; j < K; j++) probabilities[j * K + j] = 1;
  return Tensor.fromArray(probabilities, [K, K]);
}

// Shapes: n points of a block, b candidates, l steps, K symbols.

/**
 * What walks of all points leave behind for the graph: sums alone, so that processes add theirs, in float64, whose
 * rounding is lost afterwards: in whatever order they are added, the same comes out. Kept tensors: `free` when done.
 */
export class TraversalSums {
  /** Expected traversals and their squared probabilities, summed over texts; stays are none. [K·K] */
  readonly #traversals: Tensor;
  readonly #certainty: Tensor;
  /** Squared length of all points, and what of it their best walks leave over. [2] */
  readonly #lengths: Tensor;
  readonly #symbols: number;

  constructor(symbols: number) {
    const sum = (size: number) => zeros([size], { dtype: 'float64' }).keep();
    this.#symbols = symbols;
    this.#traversals = sum(symbols * symbols);
    this.#certainty = sum(symbols * symbols);
    this.#lengths = sum(2);
  }

  /** A block of points with their walks. */
  add({ walks, logProbabilities, squares, left }: Pursued): void {
    const K = this.#symbols;
    const probabilities = logProbabilities.softmax(1); // [n, b]
    for (let i = 1; i < walks.dim(2); i++) {
      const [from, to] = [walks.select(2, i - 1), walks.select(2, i)];
      const moves = from.ne(to).to('float32');
      const pair = from.mul(K).add(to); // [n, b]
      const same = pair.unsqueeze(2).eq(pair.unsqueeze(1)).to('float32'); // candidates that share this step
      const marginal = same.mul(probabilities.unsqueeze(1)).sum(2);
      const moved = probabilities.mul(moves);
      this.#traversals.add_(counted(pair, moved, K * K));
      this.#certainty.add_(counted(pair, moved.mul(marginal), K * K));
    }
    this.#lengths.select(0, 0).add_(squares.to('float64').sum());
    this.#lengths.select(0, 1).add_(left.select(1, 0).to('float64').sum());
  }

  /** Adds up what all processes found. */
  share(replicas: Replicas): void {
    replicas.sum([this.#traversals, this.#certainty, this.#lengths]);
  }

  /** Per text: expected traversals and squared probabilities. [K, K] float64 each */
  travelled(texts: number): Travelled {
    const K = this.#symbols;
    return {
      traversals: this.#traversals.reshape(K, K).div(texts),
      certainty: this.#certainty.reshape(K, K).div(texts),
    };
  }

  /** Share of the points' squared length that their best walks explain. */
  explained(): number {
    const [all, left] = this.#lengths.toNumbers();
    return all! > 0 ? 1 - left! / all! : 1;
  }

  free(): void {
    for (const sum of [this.#traversals, this.#certainty, this.#lengths]) sum.free();
  }
}

/** Weights added up by class. [classes] float64 */
const counted = (classes: Tensor, weights: Tensor, count: number): Tensor =>
  call('bincount', classes.reshape(-1), weights.to('float64').reshape(-1), count);
