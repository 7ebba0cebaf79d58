import type { VqConfig } from '@hidden-schema/hsn/config/rivals';
import type { ReadingBatch } from '@hidden-schema/hsn/encoder/walk-queries';
import type { ReadTexts } from '@hidden-schema/hsn/tasks/language/network';
import { straightThrough } from '@hidden-schema/hsn/walk/categorical';
import { MeanFieldWalks } from '@hidden-schema/hsn/walk/mean-field';
import { noGrad } from '@hidden-schema/torch/autograd';
import { multinomial, ones, randint, zeros } from '@hidden-schema/torch/create';
import { cat, where } from '@hidden-schema/torch/functional';
import { nn } from '@hidden-schema/torch/index';
import type { Generator } from '@hidden-schema/torch/random';
import { Tensor } from '@hidden-schema/torch/tensor';
import {
  type Holders,
  type LatentPosterior,
  Rival,
  type RivalOptions,
  type RivalParts,
  type RivalTerms,
} from './rival.ts';

// Shapes: B sentences, L codes of a sentence, K codes, C width of a code.

/** ‖z − e_k‖² of vectors [B, L, C] to every code [K, C]. [B, L, K] */
export function squaredDistances(vectors: Tensor, codes: Tensor): Tensor {
  const own = vectors.mul(vectors).sum(-1, true);
  const others = codes.mul(codes).sum(-1);
  return own
    .sub(vectors.matmul(codes.transpose(0, 1)).mul(2))
    .add(others)
    .clamp(0);
}

/** Nats by which the code that was read outweighs all others: its probability is one. */
const certainty = 1e4;

/** Codes chosen place by place, each with its own probabilities. */
class CodePosterior implements LatentPosterior {
  readonly #scores: Tensor; // [B, L, K]
  readonly #walks: MeanFieldWalks;

  constructor(scores: Tensor) {
    this.#scores = scores;
    this.#walks = new MeanFieldWalks(scores);
  }

  sample(generator: Generator): Tensor {
    return this.#walks.sampleNodes(generator);
  }
  logProb(codes: Tensor): Tensor {
    return this.#walks.logProb(codes);
  }
  crossLogProb(codes: Tensor): Tensor {
    return this.#walks.crossLogProb(codes);
  }
  repeated(row: number, count: number): CodePosterior {
    return new CodePosterior(this.#scores.narrow(0, row, 1).expand(count, -1, -1));
  }
}

/** p(c_{1:L}) = Π_i p(c_i|c_{<i}) by an LSTM over the codes so far. */
export class CodePrior extends nn.Module {
  readonly embedding: nn.Embedding;
  readonly lstm: nn.Lstm;
  readonly output: nn.Linear;
  readonly #start: number;

  constructor(codes: number, hidden: number, generator: Generator) {
    super();
    this.#start = codes;
    this.embedding = new nn.Embedding(codes + 1, hidden, generator, { deviation: 0.1 });
    this.lstm = new nn.Lstm(hidden, hidden, generator);
    this.output = new nn.Linear(hidden, codes, generator);
  }

  /** [B, L] int64 → [B] */
  logProb(codes: Tensor): Tensor {
    const [B, L] = codes.shape as [number, number];
    const before = cat([this.#starts(B), codes.narrow(1, 0, L - 1)], 1);
    const scores = this.output.forward(this.lstm.forward(this.embedding.forward(before)).output);
    return scores.logSoftmax(-1).gather(2, codes.unsqueeze(2)).squeeze(2).sum(1);
  }

  sample(count: number, length: number, generator: Generator): Tensor {
    const chosen: Tensor[] = [];
    let state: { hidden: Tensor; cell: Tensor } | undefined;
    for (let i = 0; i < length; i++) {
      const last = chosen.at(-1) ?? this.#starts(count);
      const { output, ...next } = this.lstm.forward(this.embedding.forward(last), state);
      state = next;
      chosen.push(multinomial(this.output.forward(output.squeeze(1)).softmax(-1), 1, generator));
    }
    return cat(chosen, 1);
  }

  #starts(count: number): Tensor {
    return zeros([count, 1], { dtype: 'int64' }).add(this.#start);
  }
}

/** Steps from one look for unused codes to the next. */
const restartEvery = 20;

/** VQ-VAE (van den Oord et al., 2017) of texts: L vectors, each replaced by the nearest of K codes. */
export class Vq extends Rival {
  readonly config: VqConfig;
  readonly codes: Tensor; // [K, C]
  /** ema: running counts of what is written by a code, and sums of it. */
  readonly counts: Tensor | undefined; // [K]
  readonly sums: Tensor | undefined; // [K, C]
  readonly prior: CodePrior;

  constructor(config: VqConfig, parts: RivalParts, generator: Generator) {
    const { symbols, length, code, codebook, encoder } = config;
    super(parts, { width: code, length, dropout: encoder.dropout }, generator);
    this.config = config;
    const drawn = nn.normal([symbols, code], 1 / Math.sqrt(code), generator);
    this.codes = codebook === 'loss' ? nn.parameter(drawn) : drawn.keep();
    if (codebook === 'ema') {
      this.counts = ones([symbols]).keep();
      this.sums = drawn.clone().keep();
    }
    this.prior = new CodePrior(symbols, config.prior, generator);
  }

  /** −log p(x|c) − log p(c) + commitment, and for codes that learn by a loss theirs. */
  forward(batch: ReadTexts, { step, holders }: RivalOptions): RivalTerms {
    const vectors = this.encoded(batch); // [B, L, C]
    const codes = this.#nearest(vectors);
    const chosen = this.#vectorsOf(codes);
    const { perSentence, tokens } = this.written(batch, straightThrough(chosen, vectors));
    const reconstruction = perSentence.mean().neg();
    const kl = this.prior.logProb(codes).mean().neg();
    const held = squaredError(vectors, chosen.detach()).mul(this.config.commitment);
    const bound = reconstruction.add(kl).add(held);
    if (this.config.codebook === 'loss')
      return { reconstruction, kl, loss: bound.add(squaredError(chosen, vectors.detach())), tokens };
    if (this.training) noGrad(() => this.#learn(vectors.detach(), codes, step, holders));
    return { reconstruction, kl, loss: bound, tokens };
  }

  /** Running means of what is written by each code; one that is hardly used begins again at a vector of the batch, as all do first. */
  #learn(vectors: Tensor, codes: Tensor, step: number, holders: Holders | undefined): void {
    const { symbols, code, keep, restart } = this.config;
    const rows = vectors.reshape(-1, code); // [B·L, C]
    const which = codes.reshape(-1).oneHot(symbols).to('float32'); // [B·L, K]
    const found = [which.sum(0), which.transpose(0, 1).matmul(rows)];
    holders?.sum(found);
    this.counts!.mul_(keep).add_(found[0]!, 1 - keep);
    this.sums!.mul_(keep).add_(found[1]!, 1 - keep);
    if (restart > 0 && step % restartEvery === 0)
      this.#restart(rows, step === 0 ? Number.POSITIVE_INFINITY : restart);
    this.codes.copy_(this.sums!.div(this.counts!.clamp(1e-5).unsqueeze(1)));
  }

  #restart(rows: Tensor, least: number): void {
    const { symbols } = this.config;
    const unused = this.counts!.lt(least);
    const fresh = rows.indexSelect(0, randint(rows.dim(0), [symbols], this.generator)); // [K, C]
    this.sums!.copy_(where(unused.unsqueeze(1), fresh, this.sums!));
    this.counts!.copy_(where(unused, ones([symbols]), this.counts!));
  }

  #nearest(vectors: Tensor): Tensor {
    return squaredDistances(vectors.detach(), this.codes.detach()).neg().argmax(-1); // [B, L]
  }

  #vectorsOf(codes: Tensor): Tensor {
    const [B, L] = codes.shape as [number, number];
    return this.codes.indexSelect(0, codes.reshape(-1)).reshape(B, L, this.config.code);
  }

  beliefs(batch: ReadingBatch): Tensor {
    return this.encoded(batch); // [B, L, C]
  }

  /** The code that was read, with probability one. */
  posterior(beliefs: Tensor): CodePosterior {
    return new CodePosterior(this.read(beliefs).oneHot(this.config.symbols).to('float32').mul(certainty));
  }

  /** Codes near to what the encoder gives; p(x) sums over them all, and a point would miss the rest. */
  override proposal(beliefs: Tensor): CodePosterior {
    return new CodePosterior(squaredDistances(beliefs, this.codes).div(-this.config.temperature));
  }

  priorLogProb(codes: Tensor): Tensor {
    return this.prior.logProb(codes);
  }

  fromPrior(count: number, generator: Generator): Tensor {
    return this.prior.sample(count, this.config.length, generator);
  }

  read(beliefs: Tensor): Tensor {
    return this.#nearest(beliefs);
  }

  schema(codes: Tensor): Tensor {
    return this.#vectorsOf(codes);
  }

  /** Codes change from the first place to the last, in equal parts. */
  way(first: Tensor, second: Tensor, steps: number): Tensor[] {
    const [a, b] = [first.toNumbers(), second.toNumbers()];
    return Array.from({ length: steps + 1 }, (_, i) => {
      const changed = Math.round((a.length * i) / steps);
      const codes = [...b.slice(0, changed), ...a.slice(changed)];
      return Tensor.fromArray(BigInt64Array.from(codes, BigInt), [codes.length]);
    });
  }

  usage(read: Tensor): { symbols_used: number } {
    return { symbols_used: new Set(read.toNumbers()).size };
  }
}

/** Σ over the places of a sentence of the squared distance, mean over sentences. */
function squaredError(a: Tensor, b: Tensor): Tensor {
  const off = a.sub(b);
  return off.mul(off).sum([1, 2]).mean();
}
