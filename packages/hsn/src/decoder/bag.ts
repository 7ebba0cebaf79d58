import { type Generator, nn, type Tensor, type TensorOptions, withoutGrad } from '@hidden-schema/torch';

// Shapes: B sentences, L steps, K symbols, V tokens.

export interface BagOptions extends TensorOptions {
  symbols: number;
  vocabulary: number;
  /** Share ε of uniform noise in a bag, so that no token is impossible. */
  noise: number;
  /** bags unless given: Π e_j(x). bags-as-logits: bags go through a softmax over the vocabulary (authors). */
  likelihood?: 'bags' | 'bags-as-logits';
}

/** Tokens of the authors' vocabulary that no bag has: padding, unknown, start and end. */
const SPECIAL_TOKENS = 4;

/**
 * The synthetic likelihood Π_i e_{j_i}(x_i) (Section 4): a symbol is a distribution over tokens, given or learned.
 * It factorises over steps, so expectations over walks are exact through their marginals.
 */
export class BagDecoder extends nn.Module {
  /** Token probabilities of each symbol, where they are known. [K, V] */
  readonly bags: Tensor | undefined;
  /** Their logits, where they are learned. [K, V] */
  readonly logits: Tensor | undefined;
  readonly #options: BagOptions;

  constructor(options: BagOptions, generator: Generator, bags?: Tensor) {
    super();
    this.#options = options;
    if (bags) this.bags = bags.clone().keep();
    else
      this.logits = nn.parameter(nn.normal([options.symbols, options.vocabulary], 0.5, generator, options));
  }

  /** e_k(x), noise included. [K, V] */
  probabilities(): Tensor {
    const { noise, vocabulary } = this.#options;
    return this.#pure()
      .mul(1 - noise)
      .add(noise / vocabulary);
  }

  /** Nats lost, on average, where noise explains a token instead of its own symbol: E log(e_k(x) V/ε). */
  noiseCost(): number {
    const { noise, vocabulary } = this.#options;
    return withoutGrad(() => {
      const e = this.probabilities();
      return e.mul(e.log()).sum(1).mean().item() + Math.log(vocabulary / noise);
    });
  }

  /** p(x_i | z_i = k) for every step. L tensors [B, K] */
  emissions(tokens: Tensor): Tensor[] {
    const table = this.probabilities().transpose(0, 1).contiguous(); // [V, K]
    return tokens.unbind(1).map((step) => table.indexSelect(0, step));
  }

  /** E[log p(x|z)] of a batch with token numbers [B, L]. */
  logLikelihood({ tokens }: { tokens: Tensor }, schema: { positions: readonly Tensor[] } | undefined) {
    if (!schema) throw new TypeError('bags of tokens belong to symbols: they write nothing without a schema');
    const asLogits = this.#options.likelihood === 'bags-as-logits';
    const perSentence = asLogits
      ? this.#logSoftmaxOfBags(tokens, schema.positions)
      : this.expectedLog(tokens, schema.positions);
    return { perSentence, tokens: tokens.size };
  }

  /** Σ_i log softmax(z_i·E)(x_i) over the vocabulary and four special tokens, where E are the bags [K, V]. [B] */
  #logSoftmaxOfBags(tokens: Tensor, positions: readonly Tensor[]): Tensor {
    const bags = this.#pure();
    const terms = tokens.unbind(1).map((step, i) => {
      const logits = positions[i]!.matmul(bags); // [B, V]
      const normaliser = logits.exp().sum(-1).add(SPECIAL_TOKENS).log();
      return logits.gather(1, step.to('int64').unsqueeze(1)).squeeze(1).sub(normaliser);
    });
    return terms.reduce((sum, term) => sum.add(term));
  }

  /** e_k(x) without noise. [K, V] */
  #pure(): Tensor {
    return this.bags ?? this.logits!.softmax(-1);
  }

  /** E[log p(x|z)] of each sentence for positions (soft, one-hot or marginal) [B, K] of each step. [B] */
  expectedLog(tokens: Tensor, positions: readonly Tensor[]): Tensor {
    const table = this.probabilities().log().transpose(0, 1).contiguous(); // [V, K]
    return sumOverSteps(table, tokens, positions);
  }

  /** The authors' reading of the same: bag probabilities used as logits over the vocabulary (and four special tokens). */
  authorsExpectedLog(tokens: Tensor, positions: readonly Tensor[], specialTokens = SPECIAL_TOKENS): Tensor {
    const pure = this.#pure();
    const normaliser = pure.exp().sum(1).add(specialTokens).log(); // [K]
    const table = pure.sub(normaliser.unsqueeze(1)).transpose(0, 1).contiguous(); // [V, K]
    return sumOverSteps(table, tokens, positions);
  }
}

/** Σ_i Σ_k table[x_i, k]·position_i[k]. table [V, K], tokens [B, L], positions L of [B, K] → [B] */
function sumOverSteps(table: Tensor, tokens: Tensor, positions: readonly Tensor[]): Tensor {
  const terms = tokens.unbind(1).map((step, i) => table.indexSelect(0, step).mul(positions[i]!).sum(-1));
  return terms.reduce((sum, term) => sum.add(term));
}
