import { noGrad, scope, Tensor } from '@hidden-schema/torch';
import { ClosedFormPosterior } from '../graph/closed-form.ts';
import { PairIndex } from '../graph/pairs.ts';
import { BetaBernoulliPrior } from '../graph/prior.ts';

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

export interface LinkOptions {
  texts: number;
  density: number;
  exits: number;
  densityPrior: readonly [number, number];
}

/**
 * Link probabilities in closed form from the expected traversals (the formula of `ClosedFormPosterior`), with the
 * cost M of a missing link set so that the evidence links the share `density` of all pairs. A walk at a symbol without
 * exits is lost altogether, which the formula for one link at a time does not see: each symbol keeps its `exits` most
 * travelled links, with log-odds of at least the texts that travel them. A walk may stay where it is: every symbol is
 * linked to itself. [K, K] float32, symmetric
 */
export function inferLinks(travelled: Travelled, options: LinkOptions): Tensor {
  return noGrad(() =>
    scope(() => {
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
    }),
  );
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

function linked(logits: Float64Array): number {
  return logits.reduce((count, logit) => count + (logit > 0 ? 1 : 0), 0);
}

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
