import { arange, cat, full, type Generator, nn, type Tensor, where, zeros } from '@hidden-schema/torch';
import { paddingMask, sinusoidalPositions, TransformerBlock } from '@hidden-schema/transformers/text-encoder';
import type { NetworkKind } from '../../../config/tuples.ts';
import { meanPooled, WalkQueries } from '../../../encoder/walk-queries.ts';

// Shapes: B walks, H = L/2 steps of a half, M steps so far, K symbols, T tokens of (s, r), D the encoder's width.

/** (s, r) as a second encoder gives it: states [B, T, D] and their mask [B, T]. */
export interface PathContext {
  hidden: Tensor;
  mask: Tensor;
}

export interface PathSizes {
  symbols: number;
  half: number;
  /** D of the second encoder. */
  context: number;
  hidden: number;
  width: number;
  layers: number;
  heads: number;
  dropout: number;
}

/** p(z_{L/2+1:L}|z_{1:L/2}, s, r): scores of the next symbol at every step (Section 6, step II). */
export abstract class PathNetwork extends nn.Module {
  /**
   * First halves [B, H] and the steps of second halves so far [B, M] (int64) → scores of the steps 1 to M + 1, each
   * from those before it. [B, M + 1, K]
   */
  abstract scores(first: Tensor, second: Tensor | undefined, context: PathContext): Tensor;
}

/**
 * The paper's: a bidirectional LSTM over the first half; it and (s, r) go through a feed-forward network into the
 * initial state of an LSTM over the second half.
 */
class LstmPath extends PathNetwork {
  readonly embedding: nn.Embedding;
  readonly reader: nn.Lstm;
  readonly mix: nn.Linear;
  readonly state: nn.Linear;
  readonly writer: nn.Lstm;
  readonly output: nn.Linear;
  readonly dropout: nn.Dropout;
  readonly #hidden: number;

  constructor({ symbols, hidden, context, dropout }: PathSizes, generator: Generator) {
    super();
    this.#hidden = hidden;
    this.embedding = new nn.Embedding(symbols, hidden, generator, { deviation: 0.1 });
    this.reader = new nn.Lstm(hidden, hidden, generator, { bidirectional: true });
    this.mix = new nn.Linear(2 * hidden + context, 2 * hidden, generator);
    this.state = new nn.Linear(2 * hidden, 2 * hidden, generator);
    this.writer = new nn.Lstm(hidden, hidden, generator);
    this.output = new nn.Linear(hidden, symbols, generator);
    this.dropout = new nn.Dropout(dropout, generator);
  }

  override scores(first: Tensor, second: Tensor | undefined, { hidden, mask }: PathContext): Tensor {
    const read = this.reader.forward(this.embedding.forward(first)).hidden; // [2, B, H]
    const [there, back] = read.unbind(0);
    const known = cat([there!, back!, meanPooled(hidden, mask)], 1);
    const mixed = this.dropout.forward(this.mix.forward(this.dropout.forward(known)).relu());
    const start = this.state.forward(mixed).unsqueeze(0); // [1, B, 2·H]
    const state = {
      hidden: start.narrow(2, 0, this.#hidden).tanh().contiguous(),
      cell: start.narrow(2, this.#hidden, this.#hidden).contiguous(),
    };
    const { output } = this.writer.forward(this.embedding.forward(inputsOf(first, second)), state);
    return this.output.forward(this.dropout.forward(output));
  }
}

/** A Transformer over the tokens of (s, r), the first half, and the second half so far, which looks back only. */
class TransformerPath extends PathNetwork {
  readonly embedding: nn.Embedding;
  readonly adapt: nn.Linear;
  readonly blocks: TransformerBlock[];
  readonly output: nn.Linear;
  readonly dropout: nn.Dropout;
  readonly #positions: Tensor; // [L, W]

  constructor(sizes: PathSizes, generator: Generator) {
    super();
    const { symbols, width, heads, layers, half, context, dropout } = sizes;
    this.embedding = new nn.Embedding(symbols, width, generator, { deviation: 0.1 });
    this.adapt = new nn.Linear(context, width, generator);
    const block = { width, heads, hidden: 4 * width, dropout };
    this.blocks = Array.from({ length: layers }, () => new TransformerBlock(block, generator));
    this.output = new nn.Linear(width, symbols, generator);
    this.dropout = new nn.Dropout(dropout, generator);
    const table = sinusoidalPositions(2 * half, width);
    this.#positions = table.to('float32').keep();
    table.free();
  }

  override scores(first: Tensor, second: Tensor | undefined, { hidden, mask }: PathContext): Tensor {
    const walk = second ? cat([first, second], 1) : first;
    const [T, H, M] = [hidden.dim(1), first.dim(1), second?.dim(1) ?? 0];
    const symbols = this.embedding.forward(walk).add(this.#positions.narrow(0, 0, H + M));
    let x = this.dropout.forward(cat([this.adapt.forward(hidden), symbols], 1)); // [B, T + H + M, W]
    const seen = cat([paddingMask(mask), zeros([mask.dim(0), 1, 1, H + M])], 3).add(prefixMask(T + H, M));
    for (const block of this.blocks) x = block.forward(x, x, seen);
    // The last symbol of the first half predicts the first of the second, and so on.
    return this.output.forward(x.narrow(1, T + H - 1, M + 1));
  }
}

/**
 * The local prior of appendix H, p(z_{L/2+1:L}|s, r, z_{L/2}, A): node weights of each step from (s, r), by queries as the
 * posterior has them. Only the graph tells it of the symbol before. On walks of a posterior that stays as it is, its
 * cross-entropy with the posterior's steps is the KL of the objective, whose information term is constant.
 */
class PriorPath extends PathNetwork {
  readonly queries: WalkQueries;

  constructor({ symbols, half, context, dropout }: PathSizes, generator: Generator) {
    super();
    this.queries = new WalkQueries({ width: context, length: half, symbols, dropout }, generator);
  }

  override scores(_first: Tensor, second: Tensor | undefined, { hidden, mask }: PathContext): Tensor {
    return this.queries.scores(hidden, mask).narrow(1, 0, (second?.dim(1) ?? 0) + 1);
  }
}

/**
 * A feed-forward network: (s, r), the first half and the step make a hidden layer, and the symbol before shifts it. It sees
 * (s, r) as the mean of its states.
 */
class FeedForwardPath extends PathNetwork {
  readonly prefix: nn.Linear;
  readonly symbols: nn.Embedding;
  readonly steps: nn.Embedding;
  readonly output: nn.Linear;
  readonly dropout: nn.Dropout;
  readonly #symbols: number;
  readonly #half: number;

  constructor({ symbols, half, hidden, context, dropout }: PathSizes, generator: Generator) {
    super();
    this.#symbols = symbols;
    this.#half = half;
    this.prefix = new nn.Linear(context, hidden, generator);
    // A row for each place of the first half and its symbols, and for each step and the symbol before it.
    this.symbols = new nn.Embedding(2 * half * symbols, hidden, generator, { deviation: 0.1 });
    this.steps = new nn.Embedding(half, hidden, generator, { deviation: 0.1 });
    this.output = new nn.Linear(hidden, symbols, generator);
    this.dropout = new nn.Dropout(dropout, generator);
  }

  override scores(first: Tensor, second: Tensor | undefined, { hidden, mask }: PathContext): Tensor {
    const before = inputsOf(first, second); // [B, M + 1]
    const [H, M] = [this.#half, before.dim(1)];
    const places = (from: number, count: number) => arange(count).add(from).mul(this.#symbols);
    const known = this.prefix
      .forward(meanPooled(hidden, mask))
      .add(this.symbols.forward(first.add(places(0, H))).sum(1))
      .unsqueeze(1); // [B, 1, W]
    const own = this.symbols.forward(before.add(places(H, M))).add(this.steps.forward(arange(M)));
    return this.output.forward(this.dropout.forward(known.add(own).relu())); // [B, M + 1, K]
  }
}

const networks = { lstm: LstmPath, transformer: TransformerPath, prior: PriorPath, mlp: FeedForwardPath };

export function makePath(kind: NetworkKind, sizes: PathSizes, generator: Generator): PathNetwork {
  return new networks[kind](sizes, generator);
}

/** z_{L/2}, then the second half so far. [B, M + 1] */
export function inputsOf(first: Tensor, second: Tensor | undefined): Tensor {
  const last = first.narrow(1, first.dim(1) - 1, 1);
  return second ? cat([last, second], 1) : last;
}

/** The first `given` places see one another, each later one those up to itself. [given + M, given + M] */
function prefixMask(prefix: number, later: number): Tensor {
  const ahead = full([prefix + later, prefix + later], -1e9).triu(1);
  if (later === 0) return ahead.mul(0);
  const open = zeros([prefix, prefix]);
  const top = cat([open, ahead.narrow(0, 0, prefix).narrow(1, prefix, later)], 1);
  return cat([top, ahead.narrow(0, prefix, later)], 0);
}

/** Scores in which steps without a link are ruled out; from an isolated symbol a walk goes anywhere. [B, M, K] */
export function onGraph(scores: Tensor, from: Tensor, adjacency: Tensor): Tensor {
  const isolated = adjacency.sum(1, true).eq(0); // [K, 1]
  const open = adjacency.gt(0).to('float32').add(isolated.to('float32')); // [K, K]
  const K = adjacency.dim(0);
  const allowed = open.indexSelect(0, from.reshape(-1)).reshape(...from.shape, K);
  return where(allowed.gt(0), scores, full([1], -1e9));
}
