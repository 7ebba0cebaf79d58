import { cat, Tensor, zeros } from '@hidden-schema/torch';

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
    for (let i = 0; i < nodes; i++) {
      for (let j = selfLoops ? i : i + 1; j < nodes; j++) {
        this.rows[next] = i;
        this.columns[next] = j;
        position[i * nodes + j] = next;
        position[j * nodes + i] = next;
        next++;
      }
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
