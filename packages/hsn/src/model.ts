import {
  autocast,
  Generator,
  nn,
  noGrad,
  stack,
  type Tensor,
  type TensorOptions,
  zeros,
} from '@hidden-schema/torch';
import type { NetworkConfig } from './config/network.ts';
import { PairIndex } from './graph/bernoulli.ts';
import { graphPosteriorOf } from './graph/closed-form.ts';
import type { GraphPosterior } from './graph/posterior.ts';
import type { GraphPrior, GraphPriorMaker } from './graph/prior.ts';
import { graphPriors } from './graph/priors.ts';
import {
  annealedAt,
  betaAt,
  graphDivisorOf,
  type LossTerms,
  type ObjectiveOptions,
  objective,
} from './objective/objective.ts';
import { type Symbols, symbolsOf } from './symbols/symbols.ts';
import { migrateTensorNames } from './tensor-names.ts';
import { type ProcessGroup, singleProcess } from './walk/aggregate.ts';
import type { Positions, WalkPosterior } from './walk/posterior.ts';
import {
  type SchemaProcess,
  type SchemaProcessMaker,
  schemaProcesses,
  type WalkPrior,
} from './walk/processes.ts';
import { WalkableGraph } from './walk/walkable-graph.ts';

// Shapes used everywhere: B sentences, T tokens, L walk steps, K symbols, S width of a symbol, V vocabulary.

/** h^enc: reads a batch into scores of each walk step. */
export interface Encoder<Batch> extends nn.Module {
  /** ρ = softmax(h_1), f = exp(h_{2:L}). [B, L, K] */
  scores(batch: Batch): Tensor;
  /** Told once of the network's symbols and graph, where it reads them. */
  attach?(symbols: Symbols, graph: GraphPosterior): void;
}

/** What the network hands to a decoder: where walks are, and the symbols there. */
export interface Schema {
  readonly positions: Positions;
  /** e_{j_1:j_L} [B, L, S] */
  vectors(): Tensor;
}

/** log p(x|z) of each sentence [B], and over how many tokens; without a schema log p(x) of the decoder alone. */
export interface Likelihood {
  readonly perSentence: Tensor;
  readonly tokens: number;
}

/** p(x|z): writes a batch from a schema. */
export interface Decoder<Batch> extends nn.Module {
  logLikelihood(batch: Batch, schema: Schema | undefined, generator: Generator): Likelihood;
  /** Whether it reads symbols as vectors; numbers (one-hot) otherwise. */
  readonly readsVectors?: boolean;
  /** Nats a sentence pays where noise explains a token, which a closed-form graph weighs missing links by. */
  noiseCost?(): number;
}

/** Data, encoder, decoder and settings that belong together: all that differs between one kind of model and another. */
export interface ModelSpec {
  batch: unknown;
  encoder: nn.Module;
  decoder: nn.Module;
  config: NetworkConfig;
}

/** What a network is made of. */
export interface NetworkParts<K extends ModelSpec> {
  encoder: K['encoder'] & Encoder<K['batch']>;
  decoder: K['decoder'] & Decoder<K['batch']>;
  symbols: number; // K
  length: number; // L
  /** Sentences in the training set: N of the objective. */
  sentences: number;
  /** Token probabilities of each symbol, where the corpus gives them. [K, V] */
  bags?: Tensor | undefined;
  /** p(A) in place of the one that the settings name, and what a schema is in place of a walk. */
  graphPrior?: GraphPriorMaker | undefined;
  process?: SchemaProcessMaker | undefined;
  /** First steps of training in which walks and graph stay as they were prepared; none unless given. */
  hold?: number | undefined;
}

export interface ForwardOptions {
  /** Of training, from 0: temperatures and β follow it. */
  step: number;
  beta?: number | undefined;
  /** The exact posterior of each step's node, where the encoder is to learn from it too. L tensors [B, K] */
  teacher?: readonly Tensor[] | undefined;
  holders?: ProcessGroup;
  /** A graph drawn before, in place of one drawn now. */
  graph?: WalkableGraph;
  /** Marginals in place of sampled walks, or not, whatever the settings say. */
  expectation?: 'exact' | 'sampled';
}

/** Hidden Schema Network: encode → sample graph → sample walk → decode → score, whatever the data. */
export class HiddenSchemaNetwork<K extends ModelSpec> extends nn.Module {
  readonly encoder: K['encoder'];
  readonly decoder: K['decoder'] & Decoder<K['batch']>;
  readonly symbols: Symbols;
  readonly graph: GraphPosterior;
  readonly graphPrior: GraphPrior;
  readonly walkPrior: WalkPrior;
  readonly config: K['config'];
  /** K, L and N. */
  readonly shape: { symbols: number; length: number; sentences: number };
  /** Draws dropout, dropped words, graphs and walks; part of a checkpoint. */
  readonly generator: Generator;
  readonly #hold: number;
  readonly #process: SchemaProcess;

  constructor(
    config: K['config'],
    parts: NetworkParts<K>,
    generator: Generator,
    options: TensorOptions = {},
  ) {
    super();
    const { symbols, length, sentences, bags } = parts;
    this.config = config;
    this.encoder = parts.encoder;
    this.decoder = parts.decoder;
    this.shape = { symbols, length, sentences };
    this.generator = generator;
    const pairs = new PairIndex(symbols, config.graph.selfLoops);
    const { logZero } = config.graph;
    const makeProcess = parts.process ?? schemaProcesses[config.walk.process];
    this.#process = makeProcess({
      ...{ settings: config.walk, logZero, nodes: symbols, length, generator, options },
    });
    this.walkPrior = this.#process.prior;
    const makePrior = parts.graphPrior ?? graphPriors[config.graph.prior];
    this.graphPrior = makePrior({ settings: config.graph, pairs, generator, options });
    this.symbols = symbolsOf(this.#symbolSettings(), symbols, generator, { ...options, bags });
    const noiseCost = () => this.decoder.noiseCost?.() ?? 1;
    const known = { ...options, prior: this.graphPrior, symbols: this.symbols, sentences, noiseCost };
    this.graph = graphPosteriorOf(config.graph, pairs, generator, known);
    this.#hold = parts.hold ?? 0;
    parts.encoder.attach?.(this.symbols, this.graph);
  }

  /** h^enc of a batch. [B, L, K] */
  #scores(batch: K['batch']): Tensor {
    return (this.encoder as Encoder<K['batch']>).scores(batch);
  }

  /** Vectors are learned only where something reads them. */
  #symbolSettings() {
    const { graph } = this.config;
    const read =
      (this.encoder as Encoder<K['batch']>).attach !== undefined ||
      this.decoder.readsVectors ||
      graph.posterior === 'pairs' ||
      graph.posterior === 'inner' ||
      graph.posterior === 'inner-normed';
    return read ? graph : { ...graph, symbols: 'one-hot' as const };
  }

  /** One pass over a batch at a training step: every term of the objective (Eqs. 10 and 28). */
  forward(batch: K['batch'], options: ForwardOptions): LossTerms {
    const { step, teacher, holders = singleProcess } = options;
    const { graph, walk, objective: settings, training } = this.config;
    if (this.config.baseline) return this.#alone(batch);
    const scores = inPrecision(training.precision, () => this.#held(step, () => this.#scores(batch)));
    const links = this.#held(step, () => this.graph.links());
    const relaxed = { hard: graph.hard, temperature: annealedAt(graph.temperature, step) };
    const walkable =
      options.graph ?? new WalkableGraph(links.sample(this.generator, relaxed), walk.isolated, graph.logZero);
    const posterior = this.posterior(scores, walkable);
    const schema = this.schema(this.#positions(posterior, options), step < this.#hold);
    let tokens = 0;
    const logLikelihood = inPrecision(training.precision, () => {
      const likelihood = this.decoder.logLikelihood(batch, schema, this.generator);
      tokens = likelihood.tokens;
      return likelihood.perSentence;
    });
    const walkPrior = this.walkPrior.on(walkable);
    const parts = { logLikelihood, posterior, walkPrior, links, graphPrior: this.graphPrior };
    const weights = { ...this.objectiveOptions(logLikelihood.dim(0) * holders.size), holders };
    const terms = objective(parts, options.beta ?? betaAt(settings.beta, step), weights);
    return teacher ? taught({ ...terms, tokens }, scores, teacher) : { ...terms, tokens };
  }

  /** The decoder without symbols: what perplexity is compared with. */
  #alone(batch: K['batch']): LossTerms {
    const { perSentence, tokens } = this.decoder.logLikelihood(batch, undefined, this.generator);
    const loss = perSentence.mean().neg();
    const none = zeros([]);
    return { reconstruction: loss, walk: none, graph: none, loss, tokens };
  }

  /** z ~ q(z|x, A), or where the likelihood factorises over steps its marginals in place of samples. */
  #positions(posterior: WalkPosterior, { step, expectation }: ForwardOptions): Positions {
    const { walk } = this.config;
    if ((expectation ?? walk.expectation) === 'exact') return posterior.marginals();
    return posterior.sample(this.generator, {
      hard: walk.hard,
      temperature: annealedAt(walk.temperature, step),
    });
  }

  /** Makes walks or graph, without a gradient as long as they are held. */
  #held<T>(step: number, body: () => T): T {
    return step < this.#hold ? noGrad(body) : body();
  }

  /** Positions with the symbols there, as this network's decoder reads them; held symbols do not learn from it. */
  schema(positions: Positions, held = false): Schema {
    const read = (all: Tensor) => (this.decoder.readsVectors ? this.symbols.at(all, held) : all);
    return { positions, vectors: () => read(stack(positions, 1)) };
  }

  /** q(z|x, A), as the schema process has it: of a walk, on the graph (Eq. 6) or without it (Eq. 29). */
  posterior(scores: Tensor, graph: WalkableGraph): WalkPosterior {
    return this.#process.posterior(scores, graph);
  }

  /** q(z|x, A) of a batch; on the expected graph unless another is given, so that no draw decides what is read. */
  encode(batch: K['batch'], graph: WalkableGraph = this.expectedGraph()): WalkPosterior {
    return this.posterior(this.#scores(batch), graph);
  }

  /** The graph with every link at its probability. */
  expectedGraph(): WalkableGraph {
    return new WalkableGraph(this.graph.links().matrix(), this.config.walk.isolated);
  }

  objectiveOptions(batch: number): ObjectiveOptions {
    const { kind, aggregation, klThreshold, graphKlThreshold, capacity } = this.config.objective;
    const graphDivisor = graphDivisorOf(this.config.graph.klWeight, { data: this.shape.sentences, batch });
    const graphKlOf = this.config.graph.klOf;
    return { kind, aggregation, klThreshold, graphKlThreshold, capacity, graphDivisor, graphKlOf };
  }

  /** Also takes tensors by the names that version 0.1 gave them. */
  override load(source: ReadonlyMap<string, Tensor>): void {
    super.load(migrateTensorNames(source, new Set([...this.namedTensors()].map(([name]) => name))));
  }
}

/** Adds −Σ_i Σ_k γ_ik log softmax(h_i)_k, which is least where the encoder's belief is the exact posterior γ. */
function taught(terms: LossTerms, scores: Tensor, posterior: readonly Tensor[]): LossTerms {
  const beliefs = scores.logSoftmax(-1); // [B, L, K]
  const teacher = beliefs.mul(stack(posterior, 1)).sum().div(-scores.dim(0));
  return { ...terms, teacher, loss: terms.loss.add(teacher) };
}

/** Runs `body` with draws from a seed, or those that come next, and goes on as if nothing had been drawn. */
export function drawnAside<T>({ generator }: { generator: Generator }, body: () => T, seed?: number): T {
  const saved = generator.state();
  if (seed !== undefined) generator.restore(new Generator(seed).state());
  try {
    return body();
  } finally {
    generator.restore(saved);
  }
}

/** The numbers that networks multiply in; everything else, and every weight, is float32. */
export type Precision = 'float32' | 'bfloat16';

/** What a network gives, computed in a precision: walks and objective need float32 again. */
export const inPrecision = (precision: Precision, network: () => Tensor): Tensor =>
  precision === 'float32' ? network() : autocast(network).to('float32');
