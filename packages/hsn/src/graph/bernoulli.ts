import { cat, type Generator, Tensor, zeros } from '@hidden-schema/torch';
import { binaryConcrete, type Relaxation, uniformNoise } from '../walk/categorical.ts';

/** What a prior says of links: expected log-odds parts for each pair (a number for all, or [E]). */
export interface LinkBelief {
  readonly logPresent: Tensor | number;
  readonly logAbsent: Tensor | number;
}

/** Means of probabilities are at least this under a logarithm. */
const LEAST_MEAN = 1e-8;

/** Independent links with probabilities σ(logits) (Eq. q(A) in appendix C.1). */
export class LinkDistribution {
  readonly pairs: PairIndex;
  /** [E] */
  readonly logits: Tensor;

  constructor(pairs: PairIndex, logits: Tensor) {
    this.pairs = pairs;
    this.logits = logits;
  }

  get probabilities(): Tensor {
    return this.logits.sigmoid();
  }

  /** Link probabilities as a symmetric matrix. [K, K] */
  matrix(): Tensor {
    return this.pairs.matrix(this.probabilities);
  }

  /** Logits as a symmetric matrix, zero where no link can be. [K, K] */
  logitMatrix(): Tensor {
    return this.pairs.matrix(this.logits);
  }

  /** A relaxed adjacency matrix. [K, K] */
  sample(generator: Generator, relaxation: Relaxation): Tensor {
    // One graph for the whole batch: processes that share a batch draw the same.
    const noise = generator.sharing(undefined, () => uniformNoise(this.logits, generator));
    return this.sampleWith(noise, relaxation);
  }

  sampleWith(noise: Tensor, relaxation: Relaxation): Tensor {
    return this.pairs.matrix(binaryConcrete(this.logits, noise, relaxation));
  }

  /** What it says of links itself. */
  get belief(): LinkBelief {
    return { logPresent: this.logits.logSigmoid(), logAbsent: this.logits.neg().logSigmoid() };
  }

  /** log q(A) of a symmetric 0/1 matrix; log p(A) by what a prior says of links. */
  logProb(adjacency: Tensor, { logPresent, logAbsent }: LinkBelief = this.belief): Tensor {
    const a = this.pairs.vector(adjacency);
    return a.mul(logPresent).add(a.neg().add(1).mul(logAbsent)).sum();
  }

  /** KL[q(A); p(A)] summed over pairs (appendix D.2). */
  kl(prior: LinkBelief): Tensor {
    const q = this.probabilities;
    const absent = q.neg().add(1);
    const present = q.mul(this.logits.logSigmoid().sub(prior.logPresent));
    return present.add(absent.mul(this.logits.neg().logSigmoid().sub(prior.logAbsent))).sum();
  }

  /**
   * KL of one link whose probability is the mean of all, from the mean of the prior's: the authors' program in the
   * language experiments. Only the density is pushed towards the prior's.
   */
  meanKl(prior: LinkBelief): Tensor {
    const q = this.probabilities.mean();
    const mean = (log: Tensor | number) =>
      typeof log === 'number' ? log : log.exp().mean().clamp(LEAST_MEAN).log();
    const term = (share: Tensor, log: Tensor | number) =>
      share.mul(share.clamp(LEAST_MEAN).log().sub(mean(log)));
    return term(q, prior.logPresent).add(term(q.neg().add(1), prior.logAbsent));
  }
}

/** The links of an undirected graph as one vector: pairs i < j row by row, and i = j too where self-loops are part. */
export class PairIndex {
  readonly nodes: number;
  readonly selfLoops: boolean;
  readonly count: number;
  /** Row and column of each pair [E]. */
  readonly rows: Int32Array;
  readonly columns: Int32Array;
  readonly #position: Tensor; // [K·K] → place in the vector, count for "no link"
  readonly #flat: Tensor; // [E] → place in the flattened matrix

  constructor(nodes: number, selfLoops = false) {
    this.nodes = nodes;
    this.selfLoops = selfLoops;
    this.count = (nodes * (nodes - 1)) / 2 + (selfLoops ? nodes : 0);
    this.rows = new Int32Array(this.count);
    this.columns = new Int32Array(this.count);
    const position = new Int32Array(nodes * nodes).fill(this.count);
    let next = 0;
    for (let i = 0; i < nodes; i++)
      for (let j = selfLoops ? i : i + 1; j < nodes; j++) {
        this.rows[next] = i;
        this.columns[next] = j;
        position[i * nodes + j] = next;
        position[j * nodes + i] = next;
        next++;
      }

    this.#position = Tensor.fromArray(position, [nodes * nodes]).keep();
    const flat = this.rows.map((row, e) => row * nodes + this.columns[e]!);
    this.#flat = Tensor.fromArray(flat, [this.count]).keep();
  }

  /** Pair vector [E] → symmetric matrix [K, K], zero where no link can be. */
  matrix(pairs: Tensor): Tensor {
    const padded = cat([pairs, zeros([1], { dtype: pairs.dtype })]);
    return padded.indexSelect(0, this.#position).reshape(this.nodes, this.nodes);
  }

  /** Symmetric matrix [K, K] → pair vector [E]. */
  vector(matrix: Tensor): Tensor {
    return matrix.reshape(-1).indexSelect(0, this.#flat);
  }

  free(): void {
    this.#position.free();
    this.#flat.free();
  }
}

/** Row and column numbers of the pairs as tensors. [E] each */
export function endpoints(pairs: PairIndex): { rows: Tensor; columns: Tensor } {
  return {
    rows: Tensor.fromArray(pairs.rows, [pairs.count]),
    columns: Tensor.fromArray(pairs.columns, [pairs.count]),
  };
}
