import { call, type Generator, nn, type Tensor } from '@hidden-schema/torch';
import type { Symbols } from '../symbols/symbols.ts';
import type { PairIndex } from './pairs.ts';
import { NetworkPosterior, type PosteriorNetworkOptions } from './posterior.ts';

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
