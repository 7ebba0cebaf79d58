import { eye, type Generator, nn, type Tensor, type TensorOptions } from '@hidden-schema/torch';

// Shapes: B sentences, L steps, K symbols, S width of a symbol.

/** Numbers (one-hot), bags of tokens, or vectors that are learned (Section 3). */
export type SymbolKind = 'one-hot' | 'bags' | 'learnable';

/** The K symbols e_1 … e_K: the one place that graph and decoder know a symbol by. */
export class Symbols extends nn.Module {
  readonly kind: SymbolKind;
  /** Where they are learned; part of a checkpoint. [K, S] */
  readonly vectors: Tensor | undefined;
  readonly #fixed: Tensor | undefined;

  private constructor(kind: SymbolKind, vectors: Tensor) {
    super();
    this.kind = kind;
    if (kind === 'learnable') this.vectors = nn.parameter(vectors);
    else this.#fixed = vectors.keep();
  }

  static oneHot(count: number, options: TensorOptions = {}): Symbols {
    return new Symbols('one-hot', eye(count, options));
  }
  static bags(probabilities: Tensor): Symbols {
    return new Symbols('bags', probabilities.clone());
  }
  static learnable(
    count: number,
    dimension: number,
    generator: Generator,
    options: TensorOptions = {},
  ): Symbols {
    const vectors = nn.normal([count, dimension], 1 / Math.sqrt(dimension), generator, options);
    return new Symbols('learnable', vectors);
  }

  /** e_1 … e_K as rows, in the precision of what reads them. [K, S] */
  rows(dtype?: Tensor['dtype']): Tensor {
    const rows = (this.vectors ?? this.#fixed)!;
    return dtype === undefined || rows.dtype === dtype ? rows : rows.to(dtype);
  }

  get dimension(): number {
    return this.rows().dim(1);
  }

  /** Σ_k p_k e_k at soft or one-hot positions; numbers are their own positions. [B, L, K] → [B, L, S] */
  at(positions: Tensor, held = false): Tensor {
    if (this.kind === 'one-hot') return positions;
    const rows = this.rows(positions.dtype);
    return positions.matmul(held ? rows.detach() : rows);
  }

  override free(): void {
    super.free();
    this.#fixed?.free();
  }
}

/** The symbols that settings name; `bags` are those of the corpus, where it gives them. */
export function symbolsOf(
  settings: { symbols: SymbolKind; symbolDimension: number },
  count: number,
  generator: Generator,
  { bags, ...options }: TensorOptions & { bags?: Tensor | undefined } = {},
): Symbols {
  if (settings.symbols === 'learnable')
    return Symbols.learnable(count, settings.symbolDimension, generator, options);
  return settings.symbols === 'bags' && bags ? Symbols.bags(bags) : Symbols.oneHot(count, options);
}
