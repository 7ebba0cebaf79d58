import { fusable, type Tensor } from '@hidden-schema/torch';
import { carry, findLinks, type Linked, type Links } from '../kernels.ts';
import type { LogZero } from './categorical.ts';

// Shapes: B sentences, K symbols. Matrices over symbols are [from, to]; the paper writes [to, from].

/** Where a walker goes from a node without links: anywhere with equal probability, or nowhere. */
export type IsolatedRule = 'uniform' | 'stay';

/** Links weaker than this in sum count as none. */
const tinyDegree = 1e-6;
/** Of so large a share of all pairs links are walked one by one, from so many nodes on: else whole products are faster. */
const fewLinks = { share: 1 / 4, nodes: 64 };

/** A graph made ready for walking: rows scaled to sum to one, nodes without links set apart. */
export class WalkableGraph implements Linked {
  readonly nodes: number;
  /** A_jk / Σ_m A_jm, zero in the rows of isolated nodes. [K, K] */
  readonly rows: Tensor;
  /**
   * The same as the walk's KL counts them. Where the logarithm of zero is 0, as in the authors' program, a missing link
   * costs nothing there and gets no gradient from it. [K, K]
   */
  readonly countedRows: Tensor;
  /** The links, where they are few. */
  readonly links: Links | undefined;
  /** 1 for a node with links, 0 for an isolated one. [K] */
  readonly active: Tensor;
  /** Whether there is an isolated node at all. */
  readonly hasIsolated: boolean;
  readonly isolatedRule: IsolatedRule;

  constructor(adjacency: Tensor, isolatedRule: IsolatedRule = 'uniform', logZero: LogZero = 'floor') {
    const degree = adjacency.sum(1, true); // [K, 1]
    this.nodes = adjacency.dim(0);
    this.active = degree.gt(tinyDegree).to(adjacency.dtype).reshape(this.nodes);
    this.hasIsolated = this.active.sum().item() < this.nodes;
    const linked = this.hasIsolated ? adjacency.mul(this.active.unsqueeze(1)) : adjacency;
    this.rows = linked.div(degree.clamp(tinyDegree));
    this.countedRows = logZero === 'free' ? this.rows.mul(this.rows.gt(0).to(this.rows.dtype)) : this.rows;
    this.isolatedRule = isolatedRule;
    const large = this.nodes >= fewLinks.nodes && fusable(this.rows);
    this.links = large ? findLinks(this.rows, Math.floor(this.nodes ** 2 * fewLinks.share)) : undefined;
  }

  /** x·Rᵀ: what lies at the ends of each node's links, by their share. [.., K] → [.., K] */
  gathered(x: Tensor): Tensor {
    if (!this.links || !fusable(x)) return x.matmul(this.rows.transpose(0, 1));
    return carry(x.reshape(-1, this.nodes), this, true).reshape(...x.shape);
  }

  /** Where the mass that sits on isolated nodes goes. [B, K] → [B, K] */
  leaveIsolated(position: Tensor): Tensor {
    const stuck = position.mul(this.active.neg().add(1));
    return this.isolatedRule === 'stay'
      ? stuck
      : stuck
          .sum(1, true)
          .div(this.nodes)
          .expand(...position.shape);
  }
}
