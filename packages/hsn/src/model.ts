import { Generator, nn, noGrad, scope, stack, Tensor, type TensorOptions } from '@hidden-schema/torch';
import type { Config } from './config.ts';
import { BagDecoder } from './decoder/bag.ts';
import { TransformerEncoder } from './encoder/transformer.ts';
import {
  ClosedFormPosterior,
  type GraphPosterior,
  type GraphPrior,
  graphPriorOf,
  PairIndex,
  trainedPosterior,
} from './graph/index.ts';
import {
  graphDivisorOf,
  type ObjectiveOptions,
  objective,
  type Terms,
  type WalkPosterior,
} from './objective/objective.ts';
import { annealedAt, betaAt } from './objective/schedule.ts';
import { inPrecision } from './precision.ts';
import {
  type BatchHolders,
  MeanFieldWalks,
  type Positions,
  type Smoothed,
  smoothedMarginals,
  smoothWalks,
  soleHolder,
  WalkableGraph,
  WalkDistribution,
  WalkPrior,
} from './walk/index.ts';

// Shapes used everywhere: B sentences, T tokens, L walk steps, K symbols, V vocabulary.

/** What the data fix about a model. */
export interface ModelShape {
  symbols: number; // K
  vocabulary: number; // V
  length: number; // L, and T of the synthetic language
  /** Sentences in the training set: N of the objective. */
  sentences: number;
  /** Token probabilities of each symbol [K, V], row-major, where they are known. */
  bags?: Float64Array;
}

/** Hidden Schema Network over a synthetic language: encode → sample graph → sample walk → decode → score. */
export class HiddenSchemaNetwork extends nn.Module {
  readonly encoder: TransformerEncoder;
  readonly graph: GraphPosterior;
  readonly graphPrior: GraphPrior;
  readonly walkPrior: WalkPrior;
  readonly decoder: BagDecoder;
  readonly shape: ModelShape;
  readonly config: Config;
  /** Draws dropout, graphs and walks; part of a checkpoint. */
  readonly generator: Generator;

  constructor(config: Config, shape: ModelShape, options: TensorOptions = {}) {
    super();
    this.config = config;
    this.shape = shape;
    this.generator = new Generator(config.seed);
    const bags = shape.bags && bagTensor(shape, shape.bags, options);
    const pairs = new PairIndex(shape.symbols, config.graph.selfLoops);
    const sizes = { ...options, vocabulary: shape.vocabulary, length: shape.length, symbols: shape.symbols };
    this.encoder = new TransformerEncoder({ ...config.encoder, ...sizes }, this.generator);
    this.decoder = new BagDecoder({ ...sizes, noise: config.objective.noise }, this.generator, bags);
    this.walkPrior = new WalkPrior(config.walk.prior, shape.symbols, shape.length, this.generator, options);
    this.graphPrior = graphPriorOf(config.graph, pairs, this.generator, options);
    this.graph = this.#graphPosterior(pairs, bags, options);
    bags?.free();
  }

  /**
   * One pass over token numbers [B, T] at a training step: every term of the objective. `teacher` is the exact
   * posterior of each step's node, L tensors [B, K], where the encoder is to learn from it too.
   */
  forward(
    tokens: Tensor,
    step: number,
    teacher?: readonly Tensor[],
    holders: BatchHolders = soleHolder,
  ): Terms {
    const { graph, walk } = this.config;
    const scores = inPrecision(this.config.training.precision, () => this.encoder.forward(tokens)); // h [B, L, K]
    const links = this.graph.links();
    const adjacency = links.sample(this.generator, {
      hard: graph.hard,
      temperature: annealedAt(graph.temperature, step),
    });
    const walkable = new WalkableGraph(adjacency, walk.isolated);
    const posterior = this.posterior(scores, walkable);
    const positions =
      walk.expectation === 'exact'
        ? posterior.marginals()
        : posterior.sample(this.generator, {
            hard: walk.hard,
            temperature: annealedAt(walk.temperature, step),
          });
    const logLikelihood = this.decoder.logLikelihood(tokens, positions);
    const walkPrior = this.walkPrior.on(walkable);
    const parts = { logLikelihood, posterior, walkPrior, links, graphPrior: this.graphPrior };
    const options = { ...this.objectiveOptions(tokens.dim(0) * holders.size), holders };
    const terms = objective(parts, betaAt(this.config.objective.beta, step), options);
    return teacher ? taught(terms, scores, teacher) : terms;
  }

  /** The posterior over walks on a graph, and its marginals, for token numbers [B, T]. */
  encode(tokens: Tensor, graph: WalkableGraph): { posterior: WalkPosterior; marginals: Positions } {
    const posterior = this.posterior(this.encoder.forward(tokens), graph);
    return { posterior, marginals: posterior.marginals() };
  }

  /** q(z|x, A): on the graph (Eq. 6), or without it (Eq. 29; the complete graph of Eq. 33 is the same). */
  posterior(scores: Tensor, graph: WalkableGraph): WalkPosterior {
    if (this.config.walk.posterior !== 'graph') return new MeanFieldWalks(scores);
    const { form, constant, range } = this.config.walk;
    return WalkDistribution.fromScores(graph, scores, { kind: form, constant, ...(range ? { range } : {}) });
  }

  objectiveOptions(batch: number): ObjectiveOptions {
    const { kind, aggregation, klThreshold, capacity } = this.config.objective;
    const graphDivisor = graphDivisorOf(this.config.graph.klWeight, { data: this.shape.sentences, batch });
    return { kind, aggregation, klThreshold, capacity, graphDivisor };
  }

  /** Where each step of the exact posterior is, for an encoder to learn from. L tensors [B, K] */
  teach(tokens: Tensor, graph: ClosedFormPosterior): Tensor[] {
    return noGrad(() => smoothedMarginals(graph.start, graph.transitions(), this.decoder.emissions(tokens)));
  }

  /** The exact posterior over walks under the closed-form graph's transitions and the decoder's emissions. */
  smooth(tokens: Tensor, graph: ClosedFormPosterior): Smoothed {
    return noGrad(() => smoothWalks(graph.start, graph.transitions(), this.decoder.emissions(tokens)));
  }

  #graphPosterior(pairs: PairIndex, bags: Tensor | undefined, options: TensorOptions): GraphPosterior {
    const { graph } = this.config;
    if (graph.posterior !== 'closed-form') {
      const given = { ...options, initialLogit: this.graphPrior.logit, generator: this.generator, bags };
      return trainedPosterior(graph.posterior, graph, pairs, given);
    }
    const missingLinkCost = graph.missingLinkCost ?? this.decoder.noiseCost();
    const { sentences } = this.shape;
    return new ClosedFormPosterior(pairs, this.graphPrior, {
      ...options,
      missingLinkCost,
      rate: graph.traversalRate,
      sentences,
    });
  }
}

/** Adds −Σ_i Σ_k γ_ik log softmax(h_i)_k, which is least where the encoder's belief is the exact posterior γ. */
function taught(terms: Terms, scores: Tensor, posterior: readonly Tensor[]): Terms {
  const beliefs = scores.logSoftmax(-1); // [B, L, K]
  const teacher = beliefs.mul(stack(posterior, 1)).sum().div(-scores.dim(0));
  return { ...terms, teacher, loss: terms.loss.add(teacher) };
}

function bagTensor(shape: ModelShape, bags: Float64Array, options: TensorOptions): Tensor {
  return scope(() =>
    Tensor.fromArray(bags, [shape.symbols, shape.vocabulary]).to(options.dtype ?? 'float32'),
  );
}
