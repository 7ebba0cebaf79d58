import type { Random } from '@hidden-schema/base';
import { type Adjacency, neighbourLists } from './graphs.ts';

/** Uniform random walks: Eq. 4 with f = 1, from a uniform start. */
export class UniformWalk {
  readonly #random: Random;
  readonly #nodes: number;
  readonly #neighbours: ReturnType<typeof neighbourLists>;

  constructor(adjacency: Adjacency, random: Random) {
    this.#random = random;
    this.#nodes = adjacency.nodes;
    this.#neighbours = neighbourLists(adjacency);
  }

  start(): number {
    return this.#random.int(this.#nodes);
  }

  after(node: number): number {
    const { offsets, targets } = this.#neighbours;
    const [first, end] = [offsets[node]!, offsets[node + 1]!];
    return targets[first + this.#random.int(end - first)]!;
  }
}
