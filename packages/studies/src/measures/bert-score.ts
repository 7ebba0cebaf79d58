import { Random, UserError } from '@hidden-schema/base';
import { idsTensor, padded } from '@hidden-schema/text/text-batches';
import type { Tokenizer } from '@hidden-schema/text/tokenizer/tokenizer';
import { noGrad, scope, type Tensor } from '@hidden-schema/torch';
import type { BertEncoder } from '@hidden-schema/transformers/bert';
import { maskOfLengths, paddingMask } from '@hidden-schema/transformers/text-encoder';

export interface BertScore {
  precision: number;
  recall: number;
  f1: number;
}

/** A text as BERTScore sees it: a unit vector and a weight for each token. */
export interface TokenVectors {
  /** Unit vectors, row-major [tokens, width]. */
  vectors: Float32Array | Float64Array;
  width: number;
  weights: readonly number[];
}

/**
 * Greedy matching (Zhang et al., Eq. 1): each token with the most similar one of the other text, weighed by its idf.
 * Where a text has no tokens there is nothing to match, and all is 0.
 */
export function greedyMatch(hypothesis: TokenVectors, reference: TokenVectors): BertScore {
  const [rows, columns] = [hypothesis.weights.length, reference.weights.length];
  if (rows === 0 || columns === 0) return { precision: 0, recall: 0, f1: 0 };
  const best = { rows: new Float64Array(rows).fill(-1), columns: new Float64Array(columns).fill(-1) };
  const { width } = hypothesis;
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) {
      let dot = 0;
      for (let d = 0; d < width; d++)
        dot += hypothesis.vectors[i * width + d]! * reference.vectors[j * width + d]!;
      best.rows[i] = Math.max(best.rows[i]!, dot);
      best.columns[j] = Math.max(best.columns[j]!, dot);
    }
  const precision = weighedMean(best.rows, hypothesis.weights);
  const recall = weighedMean(best.columns, reference.weights);
  return { precision, recall, f1: harmonic(precision, recall) };
}

function weighedMean(values: Float64Array, weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return total === 0 ? 0 : weights.reduce((sum, weight, i) => sum + weight * values[i]!, 0) / total;
}

const harmonic = (a: number, b: number): number => (a + b === 0 ? 0 : (2 * a * b) / (a + b));

/** idf of token numbers over documents: log (M + 1) / (documents with the token + 1). */
export function idfOf(documents: readonly ArrayLike<number>[]): (token: number) => number {
  const found = new Map<number, number>();
  for (const document of documents)
    for (const token of new Set(Array.from(document))) found.set(token, (found.get(token) ?? 0) + 1);
  return (token) => Math.log((documents.length + 1) / ((found.get(token) ?? 0) + 1));
}

/** (x − b) / (1 − b): 0 is what unrelated texts have, 1 stays 1. */
export function rescaled(score: BertScore, baseline: BertScore): BertScore {
  const of = (key: keyof BertScore) => (score[key] - baseline[key]) / (1 - baseline[key]);
  return { precision: of('precision'), recall: of('recall'), f1: of('f1') };
}

export interface BertScorerOptions {
  /** Layer whose outputs are compared, 0 for the embeddings; the last unless given. */
  layer?: number;
  /** Texts that idf is counted on; without them all tokens weigh alike. */
  idf?: readonly string[];
}

const atOnce = 64;
/** Matches that are remembered: those of one model's answers, which are asked for with "none" and without. */
const mostMatches = 400_000;

/** BERTScore by an encoder; as in its authors' program, [CLS] and [SEP] weigh nothing but may be matched. */
export class BertScorer {
  readonly #encoder: BertEncoder;
  readonly #tokenizer: Tokenizer;
  readonly #layer: number;
  readonly #known = new Map<string, TokenVectors>();
  readonly #matches = new Map<string, BertScore>();
  #weight: (token: number) => number = () => 1;

  private constructor(encoder: BertEncoder, tokenizer: Tokenizer, layer: number) {
    this.#encoder = encoder;
    this.#tokenizer = tokenizer;
    this.#layer = layer;
  }

  static async of(
    { encoder, tokenizer }: { encoder: BertEncoder; tokenizer: Tokenizer },
    { layer = encoder.config.num_hidden_layers, idf }: BertScorerOptions = {},
  ): Promise<BertScorer> {
    const most = encoder.config.num_hidden_layers;
    if (!Number.isInteger(layer) || layer < 0 || layer > most)
      throw new UserError(`BERTScore's layer is a whole number from 0 to ${most}, got ${layer}`);
    const scorer = new BertScorer(encoder, tokenizer, layer);
    if (idf) {
      const documents = await tokenizer.encodeBatch(idf, { specials: false, literal: true });
      scorer.#weight = idfOf(documents.map(({ ids }) => ids));
    }
    return scorer;
  }

  /** The best match of each hypothesis with one of its references, by F1. */
  async score(
    hypotheses: readonly string[],
    references: readonly (readonly string[])[],
  ): Promise<BertScore[]> {
    await this.#read([...hypotheses, ...references.flat()]);
    return hypotheses.map((hypothesis, i) =>
      references[i]!.map((reference) => this.#match(hypothesis, reference)).reduce((best, next) =>
        next.f1 > best.f1 ? next : best,
      ),
    );
  }

  /** Mean score of pairs of texts drawn at random: what `rescaled` takes away. */
  async baseline(texts: readonly string[], { pairs = 2000, seed = 1 } = {}): Promise<BertScore> {
    const random = new Random(seed);
    const drawn = Array.from({ length: pairs }, () => [
      texts[random.int(texts.length)]!,
      texts[random.int(texts.length)]!,
    ]).filter(([a, b]) => a !== b);
    if (drawn.length === 0) throw new UserError('a baseline of BERTScore needs texts that differ');
    const scores = await this.score(
      drawn.map(([text]) => text!),
      drawn.map(([, text]) => [text!]),
    );
    return meanScore(scores);
  }

  #match(hypothesis: string, reference: string): BertScore {
    const key = `${hypothesis}\n${reference}`;
    const known = this.#matches.get(key);
    if (known) return known;
    if (this.#matches.size >= mostMatches) this.#matches.clear();
    const made = greedyMatch(this.#known.get(hypothesis)!, this.#known.get(reference)!);
    this.#matches.set(key, made);
    return made;
  }

  /** Vectors of texts that are not known yet. */
  async #read(texts: readonly string[]): Promise<void> {
    const fresh = [...new Set(texts)].filter((text) => !this.#known.has(text));
    const longest = this.#encoder.positions;
    const encoded = await this.#tokenizer.encodeBatch(fresh, { specials: true, literal: true, longest });
    const order = [...fresh.keys()].sort((a, b) => encoded[a]!.ids.length - encoded[b]!.ids.length);
    for (let first = 0; first < order.length; first += atOnce) {
      const places = order.slice(first, first + atOnce);
      const ids = places.map((place) => encoded[place]!.ids);
      for (const [i, vectors] of this.#vectors(ids).entries()) this.#known.set(fresh[places[i]!]!, vectors);
    }
  }

  #vectors(sentences: readonly Int32Array[]): TokenVectors[] {
    const { special } = this.#tokenizer;
    const batch = padded(sentences, { pad: special.pad ?? 0 });
    const { width } = this.#encoder;
    const data = scope(() =>
      noGrad(() => {
        const mask = maskOfLengths(batch.lengths, batch.width);
        const states = this.#states(idsTensor(batch), mask);
        return states.div(states.mul(states).sum(-1, true).sqrt().clamp(1e-12)).toArray() as Float32Array;
      }),
    );
    return sentences.map((ids, n) => ({
      vectors: data.slice(n * batch.width * width, (n * batch.width + ids.length) * width),
      width,
      weights: Array.from(ids, (id) => (id === special.begin || id === special.end ? 0 : this.#weight(id))),
    }));
  }

  #states(ids: Tensor, mask: Tensor): Tensor {
    const { embeddings, encoder } = this.#encoder;
    const padding = paddingMask(mask);
    return encoder.layer
      .slice(0, this.#layer)
      .reduce((x, layer) => layer.forward(x, padding), embeddings.forward(ids));
  }
}

export function meanScore(scores: readonly BertScore[]): BertScore {
  const of = (key: keyof BertScore) => scores.reduce((sum, score) => sum + score[key], 0) / scores.length;
  return { precision: of('precision'), recall: of('recall'), f1: of('f1') };
}
