import { Generator, noGrad, scope, stack, Tensor } from '@hidden-schema/torch';
import { likelyLinks } from '../../graph/likely.ts';
import type { BestWalk } from '../../walk/best.ts';
import type { WalkPosterior } from '../../walk/posterior.ts';
import { WalkableGraph } from '../../walk/walkable-graph.ts';
import { readAtOnce } from '../language/texts.ts';
import type { ReasoningNetwork } from './network.ts';
import type { TupleTokens } from './tokens.ts';
import { TuplePoints } from './tuple-points.ts';
import { TwoPartPursuit } from './two-part-pursuit.ts';

/** Whether walks are the most probable ones, or drawn. */
export type Reading = 'best' | Generator;

/** Posterior walks of tuples on one fixed graph: what path models learn from and are asked to go on from. */
export class TupleWalks {
  readonly model: ReasoningNetwork;
  readonly tokens: TupleTokens;
  /** A_ij as 0 and 1. [K, K] */
  readonly adjacency: Tensor;
  readonly half: number;

  readonly #points: TuplePoints | undefined;

  constructor(model: ReasoningNetwork, tokens: TupleTokens, points?: TuplePoints) {
    this.model = model;
    const { encoder } = model;
    this.#points =
      encoder instanceof TwoPartPursuit ? (points ?? new TuplePoints(encoder, tokens)) : undefined;
    this.tokens = tokens;
    // Asked for within a step of training too, whose scope it outlives.
    this.adjacency = noGrad(() => scope(() => readOn(model))).keep();
    this.half = model.config.length / 2;
  }

  /** The most probable whole walk of each tuple, with the probability of each step. */
  best(rows: Int32Array): BestWalk[] {
    return this.#read(
      rows,
      (posterior) => posterior.best(),
      (some) => this.#wholeScores(some),
    );
  }

  /** z_{1:L} ~ q(z|s, r, o, A) of each tuple. */
  whole(rows: Int32Array, reading: Reading): number[][] {
    return this.#read(rows, chosenBy(reading), (some) => this.#wholeScores(some));
  }

  /** z_{1:L/2} ~ q(z|s, r, A) of each tuple, which does not see its object. */
  first(rows: Int32Array, reading: Reading): number[][] {
    return this.#read(rows, chosenBy(reading), (some) => this.#firstScores(some));
  }

  /** First halves that begin with given symbols; each further step is the likeliest after the one before it. */
  firstAlong(rows: Int32Array, begun: readonly number[]): number[][] {
    if (begun.length >= this.half) return Array.from(rows, () => begun.slice(0, this.half));
    return this.#read(
      rows,
      (posterior) => likeliestAfter(posterior, begun, this.half),
      (some) => this.#firstScores(some),
    );
  }

  /** z_{1:L} ~ q(z|s, r, o, A) of each tuple, with the likeliest symbols of each step of its second half. */
  withSteps(rows: Int32Array, generator: Generator, kept: number): DrawnWalk[] {
    return this.#read(
      rows,
      (posterior) => drawnWalks(posterior, generator, { half: this.half, kept }),
      (some) => this.#wholeScores(some),
    );
  }

  /** log q of given walks, whole or first halves, of each tuple. */
  logProb(rows: Int32Array, walks: readonly (readonly number[])[]): number[] {
    return scope(() =>
      noGrad(() => {
        const scores = walks[0]!.length === this.half ? this.#firstScores(rows) : this.#wholeScores(rows);
        return this.#posterior(scores).logProb(walkTensor(walks)).toNumbers();
      }),
    );
  }

  free(): void {
    this.adjacency.free();
  }

  #firstScores(rows: Int32Array): Tensor {
    const points = this.#points && { first: this.#points.first(rows) };
    return this.model.encoder.firstScores({ prefix: this.tokens.prefix(rows), points });
  }

  #wholeScores(rows: Int32Array): Tensor {
    const points = this.#points && { first: this.#points.first(rows), second: this.#points.second(rows) };
    const batch = { prefix: this.tokens.prefix(rows), whole: this.tokens.whole(rows), points };
    return this.model.encoder.scores(batch);
  }

  #posterior(scores: Tensor): WalkPosterior {
    return this.model.posterior(scores, new WalkableGraph(this.adjacency, this.model.config.walk.isolated));
  }

  /** In chunks of like length; answers in the order of `rows`. */
  #read<T>(
    rows: Int32Array,
    choose: (posterior: WalkPosterior) => T[],
    scores: (rows: Int32Array) => Tensor,
  ): T[] {
    this.model.train(false);
    const order = Array.from(rows.keys()).sort(
      (a, b) => this.tokens.length(rows[a]!) - this.tokens.length(rows[b]!),
    );
    const out = new Array<T>(rows.length);
    for (let at = 0; at < order.length; at += readAtOnce) {
      const places = order.slice(at, at + readAtOnce);
      const some = Int32Array.from(places, (place) => rows[place]!);
      const walks = scope(() => noGrad(() => choose(this.#posterior(scores(some)))));
      for (const [i, place] of places.entries()) out[place] = walks[i]!;
    }
    return out;
  }
}

/** The graph that walks are read on: links above one half, or one drawn by the seed. [K, K] */
function readOn({ graph, config }: ReasoningNetwork): Tensor {
  const links = graph.links();
  if (config.path.reading === 'best') return likelyLinks(links.matrix());
  return links.sample(new Generator(config.seed), { hard: true, temperature: 1 });
}

/** Symbols that a step may take, the likeliest first, and their shares of one; step after step. [H·T] each */
export interface LikelySteps {
  symbols: number[];
  probabilities: number[];
}

export interface DrawnWalk extends LikelySteps {
  walk: number[];
}

/** The steps after some first ones, each the likeliest after the one before it. */
function likeliestAfter(posterior: WalkPosterior, begun: readonly number[], length: number): number[][] {
  const count = posterior.marginals()[0]!.dim(0);
  const walks = Array.from({ length: count }, () => [...begun]);
  for (let i = begun.length; i < length; i++) {
    const before = walks.map((walk) => [walk[i - 1]!]);
    const next = posterior.following(i, walkTensor(before).select(1, 0)).argmax(-1).toNumbers();
    for (const [n, walk] of walks.entries()) walk.push(next[n]!);
  }
  return walks;
}

/** What the posterior says of the steps of the second half along drawn walks. */
function drawnWalks(
  posterior: WalkPosterior,
  generator: Generator,
  { half, kept }: { half: number; kept: number },
): DrawnWalk[] {
  const nodes = posterior.sampleNodes(generator); // [B, L]
  const [count, length] = nodes.shape as [number, number];
  const steps = Array.from({ length: half }, (_, i) =>
    posterior.following(half + i, nodes.select(1, half + i - 1)),
  );
  const { values, indices } = stack(steps, 1).topk(kept, 2); // [B, H, T]
  const shares = values.div(values.sum(2, true).clamp(1e-12)).toNumbers();
  const [walks, symbols] = [nodes.toNumbers(), indices.toNumbers()];
  const size = half * kept;
  return Array.from({ length: count }, (_, n) => ({
    walk: walks.slice(n * length, (n + 1) * length),
    symbols: symbols.slice(n * size, (n + 1) * size),
    probabilities: shares.slice(n * size, (n + 1) * size),
  }));
}

/** The most probable walks of a posterior, or drawn ones. */
function chosenBy(reading: Reading): (posterior: WalkPosterior) => number[][] {
  if (reading === 'best') return (posterior) => posterior.best().map(({ walk }) => walk);
  return (posterior) => {
    const nodes = posterior.sampleNodes(reading);
    const [count, length] = nodes.shape as [number, number];
    const flat = nodes.toNumbers();
    return Array.from({ length: count }, (_, n) => flat.slice(n * length, (n + 1) * length));
  };
}

/** Walks as node numbers. [B, L] int64 */
export function walkTensor(walks: readonly (readonly number[])[]): Tensor {
  return Tensor.fromArray(BigInt64Array.from(walks.flat(), BigInt), [walks.length, walks[0]!.length]);
}
