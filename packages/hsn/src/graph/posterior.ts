import { UserError } from '@hidden-schema/base';
import {
  call,
  full,
  fusable,
  type Generator,
  nn,
  noGrad,
  scope,
  type Tensor,
  type TensorOptions,
  withoutGrad,
} from '@hidden-schema/torch';
import { deepPairSums, pairSums } from '../kernels.ts';
import type { Symbols } from '../symbols/symbols.ts';
import { LinkDistribution, type PairIndex } from './bernoulli.ts';

/** q(A): gives the distribution over links at the present state of its parameters. */
export abstract class GraphPosterior extends nn.Module {
  abstract links(): LinkDistribution;

  /** Takes link probabilities found elsewhere [K, K] as its own; only free links can be set. */
  adopt(_probabilities: Tensor): void {
    throw new UserError('links that a network computes cannot be set; take graph.posterior: free');
  }
}

export interface PosteriorNetworkOptions extends TensorOptions {
  hidden: number;
  layers: number;
  /** Log-odds at which every link starts, near the prior's: a start far above it saturates. */
  initialLogit: number;
}

/** Bytes of a deep pair network's activations that are held at a time. */
const activationBudget = 64 << 20;
/** Output weights start this much smaller than usual, so that all logits start near the prior's. */
const quietOutput = 0.1;

/** A feed-forward network with ReLU between its layers. */
class FeedForward extends nn.Module {
  readonly layers: nn.Linear[];

  constructor(widths: readonly number[], generator: Generator, options: TensorOptions) {
    super();
    this.layers = widths.slice(1).map((out, i) => new nn.Linear(widths[i]!, out, generator, options));
  }

  forward(x: Tensor): Tensor {
    return this.layers.reduce((y, layer, i) => layer.forward(i === 0 ? y : y.relu()), x);
  }
}

/** Links from a network over the symbols' vectors. */
export abstract class NetworkPosterior extends GraphPosterior {
  readonly #symbols: Symbols;
  readonly #pairs: PairIndex;
  readonly #initialLogit: number;

  constructor(symbols: Symbols, pairs: PairIndex, { initialLogit }: PosteriorNetworkOptions) {
    super();
    this.#symbols = symbols;
    this.#pairs = pairs;
    this.#initialLogit = initialLogit;
  }

  /** The first layer: vectors come in its precision. */
  protected abstract get input(): nn.Linear;
  /** The same score for a pair of symbols and for its reverse. [K, K] */
  protected abstract scores(vectors: Tensor): Tensor;

  override links(): LinkDistribution {
    const scores = this.scores(this.#symbols.rows(this.input.weight.dtype));
    return new LinkDistribution(this.#pairs, this.#pairs.vector(scores).add(this.#initialLogit));
  }
}

/** g(e_i, e_j), a network over pairs of symbols (appendix C.1), averaged over both orders so that links are undirected. */
export class PairNetwork extends NetworkPosterior {
  readonly first: nn.Linear; // on e_i; the same layer on [e_i; e_j] is this plus `second` on e_j
  readonly second: nn.Linear;
  readonly rest: FeedForward;

  constructor(symbols: Symbols, pairs: PairIndex, options: PosteriorNetworkOptions, generator: Generator) {
    super(symbols, pairs, options);
    this.first = new nn.Linear(symbols.dimension, options.hidden, generator, options);
    this.second = new nn.Linear(symbols.dimension, options.hidden, generator, { ...options, bias: false });
    const widths = [...Array.from({ length: options.layers }, () => options.hidden), 1];
    this.rest = new FeedForward(widths, generator, options);
    noGrad(() => this.rest.layers.at(-1)!.weight.mul_(quietOutput));
  }

  protected override get input(): nn.Linear {
    return this.first;
  }

  protected override scores(vectors: Tensor): Tensor {
    const left = this.first.forward(vectors); // [K, H]
    const right = this.second.forward(vectors);
    const ordered = scope(() => this.#overPairs(left, right)); // g(e_i, e_j) [K, K]
    return ordered.add(ordered.transpose(0, 1)).mul(0.5);
  }

  /** The rest of the network on every pair; K²·H activations are never held at once where that matters. */
  #overPairs(left: Tensor, right: Tensor): Tensor {
    const { layers } = this.rest;
    const [only] = layers;
    if (layers.length === 1 && fusable(left))
      return pairSums(left, right, only!.weight.reshape(-1)).add(only!.bias!);
    const bytes = left.size * 4 * layers.length; // of one row of pairs
    const rows = Math.max(1, Math.floor(activationBudget / bytes));
    const parameters = layers.flatMap((layer) => [layer.weight, layer.bias!]);
    return deepPairSums(left, right, parameters, rows);
  }
}

/** Inner product of node embeddings, as in the authors' program but started near the prior. */
export class InnerProduct extends NetworkPosterior {
  readonly embed: FeedForward;

  constructor(symbols: Symbols, pairs: PairIndex, options: PosteriorNetworkOptions, generator: Generator) {
    super(symbols, pairs, options);
    const widths = [symbols.dimension, options.hidden, Math.ceil(options.hidden / 2)];
    this.embed = new FeedForward(widths, generator, options);
    // A product of two embeddings shrinks by the square of what each does.
    noGrad(() => {
      for (const [, tensor] of this.embed.layers.at(-1)!.namedTensors()) tensor.mul_(Math.sqrt(quietOutput));
    });
  }

  protected override get input(): nn.Linear {
    return this.embed.layers[0]!;
  }

  protected override scores(vectors: Tensor): Tensor {
    const nodes = this.embed.forward(vectors); // [K, H/2]
    return nodes.matmul(nodes.transpose(0, 1));
  }
}

/** Links are taken over no surer than this, which float32 still tells from certain. */
export const leastChance = 1e-6;

/** One free log-odds a link. */
export class FreeLogits extends GraphPosterior {
  readonly logits: Tensor; // [E]
  readonly #pairs: PairIndex;

  constructor(pairs: PairIndex, initialLogit: number, options: TensorOptions = {}) {
    super();
    this.#pairs = pairs;
    this.logits = nn.parameter(full([pairs.count], initialLogit, options));
  }

  override adopt(probabilities: Tensor): void {
    withoutGrad(() => {
      const p = this.#pairs.vector(probabilities).clamp(leastChance, 1 - leastChance);
      this.logits.copy_(p.log().sub(p.neg().add(1).log()));
    });
  }

  override links(): LinkDistribution {
    // A view: made without a gradient, it has none, where the parameter itself would.
    return new LinkDistribution(this.#pairs, this.logits.narrow(0, 0, this.logits.dim(0)));
  }
}

/** Slope of LeakyReLU below zero, PyTorch's default. */
const SLOPE = 0.01;

/**
 * Inner product of node embeddings as in the authors' synthetic program: LayerNorm and LeakyReLU between two layers, and
 * no start near the prior. Normalised states share most of the first layer's bias, so that all products start far above
 * zero: training starts from the complete graph.
 */
export class NormedInnerProduct extends NetworkPosterior {
  readonly first: nn.Linear;
  readonly norm: nn.LayerNorm;
  readonly second: nn.Linear;

  constructor(symbols: Symbols, pairs: PairIndex, options: PosteriorNetworkOptions, generator: Generator) {
    super(symbols, pairs, { ...options, initialLogit: 0 });
    const { hidden } = options;
    this.first = new nn.Linear(symbols.dimension, hidden, generator, options);
    this.norm = new nn.LayerNorm(hidden, options);
    this.second = new nn.Linear(hidden, Math.ceil(hidden / 2), generator, options);
  }

  protected override get input(): nn.Linear {
    return this.first;
  }

  protected override scores(vectors: Tensor): Tensor {
    const states = this.norm.forward(this.first.forward(vectors)); // [K, H]
    const nodes = this.second.forward(call('leaky_relu', states, SLOPE)); // [K, H/2]
    return nodes.matmul(nodes.transpose(0, 1));
  }
}
