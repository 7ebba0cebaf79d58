import { cat, type Generator, randperm, scope, type Tensor, withoutGrad, zeros } from '@hidden-schema/torch';
import { type CodeOptions, mostTravelled, type SentenceCodes } from './sentence-codes.ts';

// Shapes: N sentences, V words, K symbols, L walk steps.

const sweeps = 12;
const sweepsOnGraph = 4;
/** Sentences from which each topic starts. */
const startingSentences = 20;
/** Weight of the corpus' own word frequencies in each topic, in words. */
const smoothing = 100;

interface Assigned {
  walks: Tensor; // [N, L]
  /** Words of the sentences that took a topic, and those expected before they took it. [K, V] each */
  observed: Tensor;
  expected: Tensor;
}

/**
 * Sentences as walks over topics: p(w|z_{1:L}) ∝ u(w) Π_i exp(b_{z_i}(w)), where u are the corpus' word frequencies
 * and b the log-odds of a topic's words. Each step takes the topic that explains most of what is left, so that a
 * decoder gains as many nats from the walk as words alone can give. Topics are fitted to the sentences that took them,
 * first freely, then with steps along the most travelled links alone. Counts are [N, V].
 */
export class TopicCodes {
  readonly #counts: Tensor;
  readonly #frequencies: Tensor;
  readonly #options: CodeOptions;
  #topics: Tensor;
  #adjacency: Tensor | undefined;
  #sweeps = 0;

  constructor(counts: Tensor, options: CodeOptions, generator: Generator) {
    this.#options = options;
    this.#counts = counts.keep();
    this.#frequencies = withoutGrad(() => {
      const total = counts.sum(0).add(1);
      return total.div(total.sum());
    }).keep();
    this.#topics = withoutGrad(() =>
      startingTopics(counts, this.#frequencies, options.symbols, generator),
    ).keep();
  }

  get sweeps(): number {
    return this.#sweeps;
  }
  get finished(): boolean {
    return this.#sweeps === sweeps + sweepsOnGraph;
  }

  /** Every sentence takes its topics, then topics are fitted to their sentences. */
  sweep(): void {
    const before = this.#topics;
    this.#topics = withoutGrad(() => {
      const { walks, observed, expected } = this.#assign();
      if (++this.#sweeps === sweeps) this.#adjacency = mostTravelled(walks, this.#options).keep();
      return logOdds(observed, expected, this.#frequencies);
    }).keep();
    before.free();
  }

  /** The walks that the topics give, and the graph they are on; frees everything else. */
  codes(): SentenceCodes {
    const { walks } = withoutGrad(() => ({ walks: this.#assign().walks }));
    const adjacency = this.#adjacency!;
    for (const tensor of [this.#counts, this.#frequencies, this.#topics]) tensor.free();
    return { walks, adjacency };
  }

  #assign(): Assigned {
    return assign(
      { counts: this.#counts, frequencies: this.#frequencies },
      this.#topics,
      this.#options.length,
      this.#adjacency,
    );
  }
}

/** Log-odds of a topic's words: observed against expected, both smoothed. [K, V] */
function logOdds(observed: Tensor, expected: Tensor, frequencies: Tensor): Tensor {
  const prior = frequencies.mul(smoothing);
  return observed.add(prior).log().sub(expected.add(prior).log());
}

function startingTopics(counts: Tensor, frequencies: Tensor, symbols: number, generator: Generator): Tensor {
  const N = counts.dim(0);
  const rows = Array.from({ length: symbols }, () =>
    counts.indexSelect(0, randperm(N, generator).narrow(0, 0, Math.min(N, startingSentences))).sum(0, true),
  );
  const observed = cat(rows, 0);
  return logOdds(observed, observed.sum(1, true).mul(frequencies), frequencies);
}

function assign(
  { counts, frequencies }: { counts: Tensor; frequencies: Tensor },
  topics: Tensor,
  length: number,
  adjacency?: Tensor,
): Assigned {
  const [N, V] = counts.shape as [number, number];
  const K = topics.dim(0);
  const lengths = counts.sum(1, true);
  let logWords = frequencies.log().unsqueeze(0).expand(N, V);
  let observed = zeros([K, V]);
  let expected = zeros([K, V]);
  const steps: Tensor[] = [];
  for (let i = 0; i < length; i++) {
    const before = steps.at(-1);
    const allowed = adjacency && before ? adjacency.indexSelect(0, before) : undefined;
    const step = scope(() => {
      const words = logWords.exp();
      const logSums = words.matmul(topics.exp().transpose(0, 1)).log(); // [N, K]
      const scores = counts.matmul(topics.transpose(0, 1)).sub(lengths.mul(logSums));
      const may = allowed ? scores.maskedFill(allowed.eq(0), Number.NEGATIVE_INFINITY) : scores;
      const taken = may.argmax(1);
      const members = taken.oneHot(K).to('float32').transpose(0, 1); // [K, N]
      const logSum = logSums.gather(1, taken.unsqueeze(1));
      return {
        taken,
        observed: observed.add(members.matmul(counts)),
        expected: expected.add(members.matmul(words.mul(lengths))),
        logWords: logWords.add(topics.indexSelect(0, taken)).sub(logSum),
      };
    });
    steps.push(step.taken);
    ({ observed, expected, logWords } = step);
  }
  const walks = cat(
    steps.map((taken) => taken.unsqueeze(1)),
    1,
  );
  return { walks, observed, expected };
}
