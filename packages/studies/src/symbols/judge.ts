import { Random, UserError } from '@hidden-schema/base';
import { rememberedVectors } from '@hidden-schema/hsn/discovery/vectors/text-vectors';
import { textVectors } from '@hidden-schema/hsn/discovery/vectors/vector-store';
import { openPretrainedText, type PretrainedText } from '@hidden-schema/transformers/pretrained';
import { type EmbeddingCoherenceOptions, embeddingCoherence } from '../measures/coherence.ts';
import { cosine } from '../measures/dot.ts';
import type { SymbolUses } from '../measures/symbol-uses.ts';
import { type WalkFit, walkFit } from '../measures/walk-fit.ts';

// Shapes: N texts, L steps, D width of the judge's vectors.

/** Tokens of a text that the judge reads, as many as the topic models' own encoder does. */
const longest = 128;
/** Texts whose fit is measured; of more a sample is drawn. */
const mostTexts = 20_000;
/** Mean cosine from which two encoders are the same one: rounding to 16 bits leaves more than that. */
const sameEncoder = 0.99;

export interface JudgeOptions {
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
  onNote?: (text: string) => void;
}

/** Texts that a judge has encoded: all, or a sample of a large corpus. */
export interface JudgedTexts {
  /** Of the corpus, rising. [N] */
  readonly rows: Int32Array;
  /** Row-major [N, D] */
  readonly vectors: Float32Array;
}

/** A pretrained encoder that took no part in a model, and measures it: unit means of its states. */
export class Judge {
  readonly name: string;
  readonly #opened: PretrainedText;
  readonly #words = new Map<string, Float32Array>();

  private constructor(name: string, opened: PretrainedText) {
    this.name = name;
    this.#opened = opened;
  }

  /** Opens a folder, an installed package or a name on the hub. */
  static async open(name: string): Promise<Judge> {
    return new Judge(name, await openPretrainedText(name));
  }

  free(): void {
    this.#opened.encoder.free();
  }

  /** Encodes texts, or a sample of them that is the same for each call; vectors are kept in the cache. */
  async read(texts: readonly string[], options: JudgeOptions = {}): Promise<JudgedTexts> {
    const rows = sampledRows(texts.length, mostTexts);
    const some = Array.from(rows, (row) => texts[row]!);
    const encoded = await textVectors(some, this.#opened, { longest, ...options });
    const vectors = encoded.toArray() as Float32Array;
    encoded.free();
    return { rows, vectors };
  }

  /** Mean cosine of the pairs of a topic's first words, and the mean over topics. */
  async coherence(
    topics: readonly (readonly string[])[],
    options: EmbeddingCoherenceOptions = {},
  ): Promise<ReturnType<typeof embeddingCoherence>> {
    const vectorOf = await this.words(topics.flat());
    return embeddingCoherence(topics, vectorOf, options);
  }

  /** Vectors of words, each encoded once. */
  async words(words: readonly string[]): Promise<(word: string) => Float32Array | undefined> {
    const fresh = [...new Set(words)].filter((word) => !this.#words.has(word));
    if (fresh.length > 0) {
      const encoded = await rememberedVectors(fresh, this.#opened, { longest });
      const numbers = encoded.toArray() as Float32Array;
      encoded.free();
      const { width } = this.#opened.encoder;
      for (const [at, word] of fresh.entries())
        this.#words.set(word, numbers.subarray(at * width, (at + 1) * width));
    }
    return (word) => this.#words.get(word);
  }

  /** Refuses to judge a model whose own encoder this is: `own` are that encoder's vectors of the words. */
  async refuseOwn(words: readonly string[], own: (word: string) => ArrayLike<number>): Promise<void> {
    const vectorOf = await this.words(words);
    let [sum, count] = [0, 0];
    for (const word of words) {
      const [mine, other] = [vectorOf(word)!, own(word)];
      if (mine.length !== other.length) return;
      sum += cosine(mine, other);
      count++;
    }
    if (count > 0 && sum / count > sameEncoder)
      throw new UserError(
        `--judge: ${this.name} is the encoder that the symbols were found with, so its judgement says nothing; name another one`,
      );
  }
}

/** Fit of the walks of the texts that a judge has encoded. */
export function judgedFit({ rows, vectors }: JudgedTexts, { symbols, length }: SymbolUses): WalkFit {
  const walks = new Int32Array(rows.length * length);
  for (const [at, row] of rows.entries())
    walks.set(symbols.subarray(row * length, (row + 1) * length), at * length);
  return walkFit(vectors, { symbols: walks, length });
}

/** Rows in rising order: all, or as many as are wanted, drawn by a fixed seed. */
export function sampledRows(count: number, most: number, seed = 0): Int32Array {
  const rows = Int32Array.from({ length: count }, (_, row) => row);
  return count <= most ? rows : new Random(seed).shuffle(rows).slice(0, most).sort();
}
