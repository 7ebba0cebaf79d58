import { crossEntropy, type Generator, nn, type Tensor } from '@hidden-schema/torch';
import type { TextEncoder } from '@hidden-schema/transformers';
import type { NetworkKind, ReasoningConfig } from '../../../config/tuples.ts';
import type { TupleTokens } from '../tokens.ts';
import { type TupleWalks, walkTensor } from '../walks.ts';
import { begunByScores } from './continuation.ts';
import type { PathContexts } from './path-encoder.ts';
import { inputsOf, makePath, onGraph, type PathContext, type PathNetwork } from './path-model.ts';
import type { BegunWalks, FirstHalves, WalkPath } from './walk-path.ts';

/** The likeliest symbols of each step and their probabilities. [B, H, T] each */
export interface StepTargets {
  symbols: Tensor;
  probabilities: Tensor;
}

/** A path model with what it sees of (s, r), on the graph of a network over tuples. */
export class PathModel extends nn.Module implements WalkPath {
  readonly network: PathNetwork;
  /** The second encoder where it is trained along. */
  readonly text: TextEncoder | undefined;
  readonly config: ReasoningConfig;
  readonly generator: Generator;
  readonly #contexts: PathContexts;
  readonly #walks: TupleWalks;

  constructor(config: ReasoningConfig, contexts: PathContexts, walks: TupleWalks, generator: Generator) {
    super();
    this.config = config;
    this.generator = generator;
    this.#contexts = contexts;
    this.#walks = walks;
    const { symbols } = walks.model.config;
    const { kind, hidden, width, layers, heads, dropout } = config.path;
    const sizes = { symbols, half: walks.half, context: contexts.width };
    this.network = makePath(
      kind as NetworkKind,
      { ...sizes, hidden, width, layers, heads, dropout },
      generator,
    );
    this.text = contexts.trained;
  }

  /** What is seen of each tuple's (s, r). */
  context(rows: Int32Array, tokens: TupleTokens = this.#walks.tokens): PathContext {
    return this.#contexts.of(rows, tokens);
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
    this.#contexts.free();
  }
}
