import { type Generator, nn, noGrad, stack, Tensor } from '@hidden-schema/torch';
import type { LanguageDecoder } from '../decoder/index.ts';
import { maskOfLengths } from '../encoder/text-encoder.ts';
import type { WalkEncoder } from '../encoder/walk-queries.ts';
import {
  type GraphPosterior,
  type GraphPrior,
  graphPriorOf,
  PairIndex,
  trainedPosterior,
} from '../graph/index.ts';
import {
  graphDivisorOf,
  type ObjectiveOptions,
  objective,
  type Terms,
  type WalkPosterior,
} from '../objective/objective.ts';
import { annealedAt, betaAt } from '../objective/schedule.ts';
import { inPrecision } from '../precision.ts';
import type { PaddedIds, TextBatch } from '../text/index.ts';
import {
  type BatchHolders,
  MeanFieldWalks,
  soleHolder,
  WalkableGraph,
  WalkDistribution,
  WalkPrior,
} from '../walk/index.ts';
import type { LanguageConfig } from './config.ts';

// Shapes: B sentences, T tokens, L walk steps, K symbols, D width.

/** Padded token numbers as a tensor. [B, T] int32 */
export function idsTensor({ ids, lengths, width }: PaddedIds): Tensor {
  return Tensor.fromArray(ids, [lengths.length, width]);
}

/** Hidden Schema Network over natural language (Section 5): encode → sample graph → sample walk → decode → score. */
export class LanguageNetwork extends nn.Module {
  readonly encoder: WalkEncoder;
  readonly decoder: LanguageDecoder;
  readonly graph: GraphPosterior;
  readonly graphPrior: GraphPrior;
  readonly walkPrior: WalkPrior;
  readonly config: LanguageConfig;
  /** Sentences in the training set: N of the objective. */
  readonly sentences: number;
  /** Draws dropout, dropped words, graphs and walks; part of a checkpoint. */
  readonly generator: Generator;

  constructor(
    config: LanguageConfig,
    parts: { encoder: WalkEncoder; decoder: LanguageDecoder; sentences: number },
    generator: Generator,
  ) {
    super();
    this.config = config;
    this.encoder = parts.encoder;
    this.decoder = parts.decoder;
    this.sentences = parts.sentences;
    this.generator = generator;
    const pairs = new PairIndex(config.symbols, config.graph.selfLoops);
    this.walkPrior = new WalkPrior(config.walk.prior, config.symbols, config.length, generator);
    this.graphPrior = graphPriorOf(config.graph, pairs, generator);
    const given = { initialLogit: this.graphPrior.logit, generator };
    this.graph = trainedPosterior(config.graph.posterior, config.graph, pairs, given);
  }

  /** One pass over a batch at a training step; `hidden` are the encoder's outputs where they are known already. */
  forward(
    batch: TextBatch,
    step: number,
    hidden?: Tensor,
    beta = betaAt(this.config.objective.beta, step),
    holders: BatchHolders = soleHolder,
  ): Terms & { tokens: number } {
    const { graph, walk, decoder, training } = this.config;
    const scores = inPrecision(training.precision, () =>
      this.whileHeld(step, () => this.scores(batch.encoder, hidden)),
    ); // h [B, L, K]
    const links = this.whileHeld(step, () => this.graph.links());
    const adjacency = links.sample(this.generator, {
      hard: graph.hard,
      temperature: annealedAt(graph.temperature, step),
    });
    const walkable = new WalkableGraph(adjacency, walk.isolated);
    const posterior = this.posterior(scores, walkable);
    const relaxation = { hard: walk.hard, temperature: annealedAt(walk.temperature, step) };
    const schema = stack(posterior.sample(this.generator, relaxation), 1); // e_{j_1:j_L} [B, L, K]
    const dropped = decoder.wordDropout > 0 && this.training;
    const ids = idsTensor(batch.decoder);
    let tokens = 0;
    const perSentence = inPrecision(training.precision, () => {
      const decoded = this.decoder.nll(ids, schema, [...batch.decoder.lengths], {
        ...(dropped
          ? { wordDropout: { rate: decoder.wordDropout, how: 'replace', generator: this.generator } }
          : {}),
      });
      tokens = decoded.tokens;
      return decoded.perSentence;
    });
    const walkPrior = this.walkPrior.on(walkable);
    const parts = {
      logLikelihood: perSentence.neg(),
      posterior,
      walkPrior,
      links,
      graphPrior: this.graphPrior,
    };
    const options = { ...this.objectiveOptions(batch.rows.length * holders.size), holders };
    return { ...objective(parts, beta, options), tokens };
  }

  /** Makes walks or graph, without a gradient as long as the warm start holds them. */
  protected whileHeld<T>(step: number, body: () => T): T {
    const { steps, hold } = this.config.warmStart;
    return steps > 0 && step < hold ? noGrad(body) : body();
  }

  /** h^enc for padded token numbers. [B, L, K] */
  scores(ids: PaddedIds, hidden?: Tensor): Tensor {
    const mask = maskOfLengths(ids.lengths, ids.width);
    return this.encoder.walk.scores(hidden ?? this.encoder.hidden(idsTensor(ids), mask), mask);
  }

  /** q(z|x, A): on the graph (Eq. 6), or without it (Eq. 29). */
  posterior(scores: Tensor, graph: WalkableGraph): WalkPosterior {
    const { posterior, form, constant, range } = this.config.walk;
    if (posterior !== 'graph') return new MeanFieldWalks(scores);
    return WalkDistribution.fromScores(graph, scores, { kind: form, constant, ...(range ? { range } : {}) });
  }

  objectiveOptions(batch: number): ObjectiveOptions {
    const { kind, aggregation, klThreshold, capacity } = this.config.objective;
    const graphDivisor = graphDivisorOf(this.config.graph.klWeight, { data: this.sentences, batch });
    return { kind, aggregation, klThreshold, capacity, graphDivisor };
  }
}
