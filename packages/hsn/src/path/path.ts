import { crossEntropy, type Generator, nn, type Tensor } from '@hidden-schema/torch';
import { maskOfLengths, StateCache, type TextEncoder } from '@hidden-schema/transformers';
import type { NetworkKind, ReasoningConfig } from '../config/tuples.ts';
import type { TupleTokens } from '../tasks/tuples/tokens.ts';
import type { BegunWalks, FirstHalves, WalkPath } from '../tasks/tuples/walk-path.ts';
import { type TupleWalks, walkTensor } from '../tasks/tuples/walks.ts';
import { begunByScores } from './continuation.ts';
import { contextOf, type PrefixEncoder } from './path-encoder.ts';
import { inputsOf, makePath, onGraph, type PathContext, type PathNetwork } from './path-model.ts';

/** Megabytes of a frozen encoder's states of (s, r) that are kept. */
const keptStates = 1000;

/** The likeliest symbols of each step and their probabilities. [B, H, T] each */
export interface StepTargets {
  symbols: Tensor;
  probabilities: Tensor;
}

/** A path model with its second encoder, on the graph of a network over tuples. */
export class PathModel extends nn.Module implements WalkPath {
  readonly network: PathNetwork;
  /** The second encoder where it is trained along. */
  readonly text: TextEncoder | undefined;
  readonly config: ReasoningConfig;
  readonly generator: Generator;
  readonly #encoder: PrefixEncoder;
  readonly #walks: TupleWalks;
  readonly #cache: StateCache | undefined;

  constructor(config: ReasoningConfig, encoder: PrefixEncoder, walks: TupleWalks, generator: Generator) {
    super();
    this.config = config;
    this.generator = generator;
    this.#encoder = encoder;
    this.#walks = walks;
    const { symbols } = walks.model.config;
    const { kind, hidden, width, layers, heads, dropout } = config.path;
    const sizes = { symbols, half: walks.half, context: encoder.text.width };
    this.network = makePath(
      kind as NetworkKind,
      { ...sizes, hidden, width, layers, heads, dropout },
      generator,
    );
    if (encoder.frozen) this.#cache = new StateCache(encoder.text.width, keptStates);
    else this.text = encoder.text;
  }

  /** The second encoder's view of each tuple's (s, r). */
  context(rows: Int32Array, tokens: TupleTokens = this.#walks.tokens): PathContext {
    const ids = tokens.prefix(rows);
    // Tokens of another table have row numbers of their own.
    if (!this.#cache || tokens !== this.#walks.tokens) return contextOf(this.#encoder, ids);
    const { table } = tokens;
    const prefixes = rows.map((row) => table.head[row]! * table.relations.length + table.relation[row]!);
    const hidden = this.#cache.states(prefixes, ids, (some) => contextOf(this.#encoder, some).hidden);
    return { hidden, mask: maskOfLengths(ids.lengths, ids.width) };
  }

  /** Scores of steps 1 to M + 1 of the second half; links that are not there ruled out if the settings say so. */
  scores(first: Tensor, second: Tensor | undefined, context: PathContext): Tensor {
    const free = this.network.scores(first, second, context);
    return this.config.path.onGraph ? onGraph(free, inputsOf(first, second), this.#walks.adjacency) : free;
  }

  /**
   * Cross-entropy of second halves with p(z_{L/2+1:L}|z_{1:L/2}, s, r), in nats a walk on average: of the walks' own
   * symbols, or of what the posterior says of each step after the symbol before it.
   */
  loss(rows: Int32Array, walks: readonly (readonly number[])[], targets?: StepTargets): Tensor {
    const { half } = this.#walks;
    const all = walkTensor(walks);
    const second = all.narrow(1, half, half);
    const before = half > 1 ? second.narrow(1, 0, half - 1) : undefined;
    const scores = this.scores(all.narrow(1, 0, half), before, this.context(rows)); // [B, H, K]
    if (!targets) return crossEntropy(scores.reshape(-1, scores.dim(2)), second.reshape(-1)).mul(half);
    const logs = scores.logSoftmax(-1).gather(2, targets.symbols); // [B, H, T]
    return logs.mul(targets.probabilities).sum().div(-rows.length);
  }

  begin({ rows, first, tokens }: FirstHalves): BegunWalks {
    return begunByScores((...state) => this.scores(...state), first, this.context(rows, tokens));
  }

  override free(): void {
    super.free();
    if (this.#encoder.frozen) this.#encoder.text.free();
  }
}
