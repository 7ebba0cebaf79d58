import type { TextCorpus } from '@hidden-schema/text/corpus';
import { batchesByLength, type Frames, type TextBatch } from '@hidden-schema/text/text-batches';
import { Generator, noGrad, scope, type Tensor, withoutGrad } from '@hidden-schema/torch';
import { drawnAside } from '../../model.ts';
import { logGraphRatio } from '../../objective/objective.ts';
import { type Draws, fitEvidenceShares, information, weighedByPrior } from './information.ts';
import type { LanguageNetwork, ReadTexts } from './network.ts';
import {
  cutLogLikelihoods,
  type DrawnGraph,
  logWeights,
  type PosteriorOf,
  type SentenceEstimate,
  type StepNats,
  sentenceEstimate,
  stepNats,
  wideLogLikelihood,
} from './perplexity.ts';

/** What `hsn eval` reports of a language model (Table 2 and its supplement). */
export interface LanguageEvaluation {
  sentences: number;
  /** Over how many information and divergences are measured, which cost far less: at least as many. */
  information_sentences: number;
  /** exp of −log p(x) per token by the importance-weighted estimator (appendix F.2), and its standard error. */
  perplexity: number;
  perplexity_error: number;
  /** The same as Eq. 34 has it, with log p(A) − log q(A) of the graph in every sentence's weight. */
  perplexity_paper: number;
  /** The closest estimate: by walks that are drawn less surely as well (`wideLogLikelihood`), and its standard error. */
  perplexity_wide: number;
  perplexity_wide_error: number;
  /** exp of the reconstruction loss per token: what it would be if walks came for free. */
  perplexity_reconstruction: number;
  /** Means over graphs: I(z; x) by the paper's estimator, exactly for the empirical sample; the most of N sentences. */
  mutual_information: number;
  mutual_information_exact: number;
  mutual_information_bound: number;
  /** −E log p(x|z), mean KL of each sentence's walk, KL of the graph; nats. */
  reconstruction: number;
  kl_walk: number;
  kl_walk_aggregated: number;
  kl_graph: number;
  symbols_used: number;
  /** What each step costs and what the decoder gains by it. */
  steps: StepNats[];
  /**
   * Share of each step's evidence that walks are drawn with in all of these figures, fitted to the decoder on validation
   * sentences (`fitEvidenceShares`); absent where walks have a fixed length.
   */
  evidence?: number[];
  baseline_perplexity?: number;
}

export interface LanguageEvaluationOptions {
  /** Test sentences used, at most. */
  limit?: number;
  /** Test sentences over which information and divergences are measured, at most; as many as `limit` unless given. */
  informationLimit?: number;
  /** Adds what is known already of the texts, so that they are not encoded again. */
  read?: (batch: TextBatch) => ReadTexts;
  /** Walks and graphs a sentence of the importance-weighted estimate: R and S. */
  walks?: number;
  graphs?: number;
  onProgress?: (done: number, total: number) => void;
}

const batchSize = 50;

/** Evaluates a trained network on the test split; draws from the settings' seed, so that the same weights give the same figures. */
export function evaluateLanguage(
  model: LanguageNetwork,
  corpus: TextCorpus,
  frames: Frames,
  options: LanguageEvaluationOptions = {},
): LanguageEvaluation {
  return drawnAside(model, () => evaluated(model, corpus, frames, options), model.config.seed);
}

function evaluated(
  model: LanguageNetwork,
  corpus: TextCorpus,
  frames: Frames,
  options: LanguageEvaluationOptions,
): LanguageEvaluation {
  model.train(false);
  const { read = (batch: TextBatch): ReadTexts => batch } = options;
  const { test } = corpus.splits;
  const rows = test.slice(0, options.limit ?? test.length);
  const more = test.slice(rows.length, options.informationLimit ?? rows.length);
  const scoresOf = (batch: TextBatch) => withoutGrad(() => model.encoder.scores(read(batch)));
  const evidence = fitEvidenceShares(model, corpus, frames, scoresOf);
  const posterior = posteriorOf(model, evidence);
  const graphs = sampledGraphs(model, options.graphs ?? 10);
  // A generator of its own, so that the other figures are those of their own draws.
  const wide = new Generator(model.config.seed);
  const drawing = { posterior, graphs, walks: options.walks ?? 100, wide };
  const estimates: WideEstimate[] = [];
  const scores: Tensor[] = [];
  try {
    for (const batch of batchesByLength(corpus.store, rows, batchSize, frames)) {
      const h = scoresOf(batch);
      scores.push(h);
      for (const estimate of estimateBatch(model, batch, h, drawing)) {
        estimates.push(estimate);
        options.onProgress?.(estimates.length, rows.length);
      }
    }
    for (const batch of batchesByLength(corpus.store, more, batchSize, frames)) scores.push(scoresOf(batch));
    const information_sentences = rows.length + more.length;
    const { paid, ...rest } = information(model, scores, { graphs, posterior });
    const measured = { ...summarise(estimates), ...summariseWide(estimates), ...rest };
    const steps = stepNats(paid, meanCut(estimates));
    const used = evidence ? { evidence } : {};
    return { sentences: rows.length, information_sentences, ...measured, steps, ...used };
  } finally {
    for (const tensor of [...scores, ...graphs.map(({ adjacency }) => adjacency)]) tensor.free();
  }
}

/** What sentences are scored with: the network's own posterior where no shares of evidence were fitted. */
function posteriorOf(model: LanguageNetwork, evidence: readonly number[] | undefined): PosteriorOf {
  return evidence ? weighedByPrior(model, evidence) : (scores, graph) => model.posterior(scores, graph);
}

/** Hard graphs from q(A). S of [K, K] */
export function sampledGraphs(
  { graph, graphPrior, generator }: LanguageNetwork,
  count: number,
): DrawnGraph[] {
  return Array.from({ length: count }, () =>
    noGrad(() => {
      const adjacency = scope(() => graph.links().sample(generator, { hard: true, temperature: 1 }));
      const logRatio = scope(() => logGraphRatio(graph.links(), graphPrior, adjacency).item());
      return { adjacency, logRatio };
    }),
  );
}

/** With log p(x) by walks that are drawn less surely as well, and log p(x|z) of walks that end after each step. */
type WideEstimate = SentenceEstimate & { wideLogLikelihood: number; cut?: number[] };

/** Means over sentences of log p(x|z) by where walks end. [L] */
function meanCut(estimates: readonly WideEstimate[]): number[] | undefined {
  return estimates[0]?.cut?.map(
    (_, i) => estimates.reduce((sum, { cut }) => sum + cut![i]!, 0) / estimates.length,
  );
}

function* estimateBatch(
  model: LanguageNetwork,
  batch: TextBatch,
  scores: Tensor,
  { posterior, graphs, walks, wide }: Draws & { walks: number; wide: Generator },
): Iterable<WideEstimate> {
  const { lengths, width, ids } = batch.decoder;
  for (const [n, length] of lengths.entries()) {
    const tokens = ids.subarray(n * width, n * width + length);
    yield withoutGrad(() => {
      const sentence = { scores: scores.narrow(0, n, 1), posterior, tokens };
      const weights = logWeights(model, sentence, graphs, walks);
      const drawn = sentenceEstimate(weights, length - 1);
      const less = wideLogLikelihood(model, sentence, graphs, { walks, generator: wide });
      const ends = model.config.walk.stays ? { cut: cutLogLikelihoods(model, weights.walks, tokens) } : {};
      return { ...drawn, wideLogLikelihood: less, ...ends };
    });
  }
}

/** exp of −log p(x) per token, and its standard error; `logOf` gives log p(x) of a sentence. */
function perplexityOf<E extends SentenceEstimate>(estimates: readonly E[], logOf: (estimate: E) => number) {
  const sum = (of: (estimate: E) => number) => estimates.reduce((total, one) => total + of(one), 0);
  const all = sum(({ tokens }) => tokens);
  const mean = -sum(logOf) / all;
  // The ratio's standard error over sentences, carried through the exponential.
  const residuals = sum((one) => (-logOf(one) - mean * one.tokens) ** 2);
  return { perplexity: Math.exp(mean), error: (Math.exp(mean) * Math.sqrt(residuals)) / all };
}

/** Figures of a corpus from those of its sentences: by tokens, as perplexity is. */
export function summarise(estimates: readonly SentenceEstimate[]) {
  const own = perplexityOf(estimates, (one) => one.logLikelihood);
  const lost = estimates.reduce((total, one) => total + one.reconstruction, 0);
  return {
    perplexity: own.perplexity,
    perplexity_error: own.error,
    perplexity_paper: perplexityOf(estimates, (one) => one.paperLogLikelihood).perplexity,
    perplexity_reconstruction: perplexityOf(estimates, (one) => -one.reconstruction).perplexity,
    reconstruction: lost / estimates.length,
  };
}

/** Perplexity by walks that are drawn less surely as well. */
function summariseWide(estimates: readonly WideEstimate[]) {
  const { perplexity, error } = perplexityOf(estimates, (one) => one.wideLogLikelihood);
  return { perplexity_wide: perplexity, perplexity_wide_error: error };
}

/** Perplexity of the same decoder without symbols on the test split. */
export function baselinePerplexity(
  model: LanguageNetwork,
  corpus: TextCorpus,
  frames: Frames,
  limit?: number,
): number {
  model.train(false);
  const rows = corpus.splits.test.slice(0, limit ?? corpus.splits.test.length);
  let [nll, tokens] = [0, 0];
  for (const batch of batchesByLength(corpus.store, rows, batchSize, frames))
    withoutGrad(() => {
      const alone = model.decoder.logLikelihood(batch, undefined, model.generator);
      nll -= alone.perSentence.sum().item();
      tokens += alone.tokens;
    });

  return Math.exp(nll / tokens);
}
