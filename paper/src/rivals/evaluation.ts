import { summarise } from '@hidden-schema/hsn/tasks/language/evaluation';
import { exactInformation } from '@hidden-schema/hsn/tasks/language/information';
import { type SentenceEstimate, sentenceEstimate } from '@hidden-schema/hsn/tasks/language/perplexity';
import type { RivalFigures } from '@hidden-schema/hsn/text-run';
import type { TextCorpus } from '@hidden-schema/text/corpus';
import { batchesByLength, type Frames, type TextBatch } from '@hidden-schema/text/text-batches';
import { noGrad } from '@hidden-schema/torch/autograd';
import { cat, stack } from '@hidden-schema/torch/functional';
import { Generator } from '@hidden-schema/torch/random';
import { scope } from '@hidden-schema/torch/scope';
import { Tensor } from '@hidden-schema/torch/tensor';
import type { LatentPosterior, Rival } from './rival.ts';

export interface RivalEvaluationOptions {
  /** Test sentences used, at most. */
  limit?: number;
  /** Latents a sentence of the importance-weighted estimate. */
  draws?: number;
  onProgress?: (done: number, total: number) => void;
}

const batchSize = 50;

/** Evaluates a rival on the test split; the same weights give the same figures. */
export function evaluateRival(
  model: Rival,
  corpus: TextCorpus,
  frames: Frames,
  options: RivalEvaluationOptions = {},
): RivalFigures {
  const saved = model.generator.state();
  model.generator.restore(new Generator(model.config.seed).state());
  try {
    model.train(false);
    return noGrad(() => evaluated(model, corpus, frames, options));
  } finally {
    model.generator.restore(saved);
  }
}

function evaluated(
  model: Rival,
  corpus: TextCorpus,
  frames: Frames,
  options: RivalEvaluationOptions,
): RivalFigures {
  const rows = corpus.splits.test.slice(0, options.limit ?? corpus.splits.test.length);
  const sentences: SentenceFigures[] = [];
  const beliefs: Tensor[] = [];
  try {
    for (const batch of batchesByLength(corpus.store, rows, batchSize, frames)) {
      beliefs.push(scope(() => model.beliefs(batch)));
      sentences.push(...batchFigures(model, batch, beliefs.at(-1)!, options.draws ?? 100));
      options.onProgress?.(sentences.length, rows.length);
    }
    const told = scope(() => latentInformation(model, cat(beliefs, 0)));
    return { sentences: rows.length, ...likelihoods(sentences), ...told, ...terms(sentences, told) };
  } finally {
    for (const tensor of beliefs) tensor.free();
  }
}

/** The estimate of log p(x) of a sentence, and what its own latents say. */
interface SentenceFigures {
  estimate: SentenceEstimate;
  reconstruction: number;
  kl: number;
}

function likelihoods(sentences: readonly SentenceFigures[]) {
  const estimates = sentences.map(({ estimate }) => estimate);
  const { perplexity, perplexity_error } = summarise(estimates);
  return { perplexity, perplexity_error };
}

function terms(sentences: readonly SentenceFigures[], told: { mutual_information_exact: number }) {
  const total = (of: (one: SentenceFigures) => number) => sentences.reduce((sum, one) => sum + of(one), 0);
  const tokens = total(({ estimate }) => estimate.tokens);
  const reconstruction = total((one) => one.reconstruction);
  const kl = total((one) => one.kl);
  return {
    perplexity_bound: Math.exp((reconstruction + kl) / tokens),
    perplexity_reconstruction: Math.exp(reconstruction / tokens),
    reconstruction: reconstruction / sentences.length,
    kl: kl / sentences.length,
    kl_aggregated: kl / sentences.length - told.mutual_information_exact,
  };
}

function batchFigures(
  model: Rival,
  { decoder: { lengths, width, ids } }: TextBatch,
  beliefs: Tensor,
  draws: number,
): SentenceFigures[] {
  return Array.from(lengths, (length, n) =>
    scope(() => {
      const posterior = model.posterior(beliefs);
      const proposal = model.proposal?.(beliefs);
      const tokens = ids.subarray(n * width, n * width + length);
      const weigh = (of: LatentPosterior, count: number) =>
        logWeightsOf(model, of.repeated(n, count), tokens, count);
      const drawn = weigh(proposal ?? posterior, draws);
      // Where draws come from elsewhere, the model's own latent is a point.
      const own = proposal ? weigh(posterior, 1) : drawn;
      const estimate = sentenceEstimate({ ...drawn, paperWeights: drawn.weights }, length - 1);
      return { estimate, reconstruction: -mean(own.likelihoods), kl: -mean(own.ratios) };
    }),
  );
}

const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const decodedAtOnce = 64;

/** What weights are made of: a prior, and a decoder of latents. */
type Weighed = Pick<Rival, 'generator' | 'priorLogProb' | 'schema'> & {
  decoder: Pick<Rival['decoder'], 'nll'>;
};

/** log p(x|z) + log p(z) − log q(z|x) of latents of one sentence, and the parts. */
export function logWeightsOf(
  model: Weighed,
  posterior: LatentPosterior,
  tokens: Int32Array,
  draws: number,
): { weights: Float64Array; likelihoods: Float64Array; ratios: Float64Array } {
  const latents = posterior.sample(model.generator);
  const ratios = Float64Array.from(model.priorLogProb(latents).sub(posterior.logProb(latents)).toNumbers());
  const likelihoods = new Float64Array(draws);
  for (let first = 0; first < draws; first += decodedAtOnce) {
    const count = Math.min(decodedAtOnce, draws - first);
    scope(() => {
      const text = Tensor.fromArray(tokens, [tokens.length]);
      const { perSentence } = model.decoder.nll(
        stack(Array.from({ length: count }, () => text)),
        model.schema(latents.narrow(0, first, count)),
        Array.from({ length: count }, () => tokens.length),
      );
      likelihoods.set(
        perSentence.toNumbers().map((nll) => -nll),
        first,
      );
    });
  }
  return { weights: likelihoods.map((value, i) => value + ratios[i]!), likelihoods, ratios };
}

/** What latents of all sentences together tell of them, and how much of the latent they use. */
export function latentInformation(model: Rival, beliefs: Tensor) {
  const posterior = model.posterior(beliefs);
  return {
    mutual_information_exact: exactInformation(posterior, posterior.sample(model.generator)),
    mutual_information_bound: Math.log(beliefs.dim(0)),
    ...model.usage(model.read(beliefs)),
  };
}
