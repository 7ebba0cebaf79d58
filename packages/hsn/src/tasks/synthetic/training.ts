import { UserError } from '@hidden-schema/base';
import { BatchOrder } from '@hidden-schema/text/text-batches';
import type { Tensor } from '@hidden-schema/torch';
import type * as optim from '@hidden-schema/torch/optim';
import { span } from '@hidden-schema/torch/profile';
import type { SyntheticConfig } from '../../config/network.ts';
import { ClosedFormPosterior } from '../../graph/closed-form.ts';
import type { LossTerms } from '../../objective/objective.ts';
import type { Replicas } from '../../train/replicas.ts';
import { type Loss, NetworkTraining } from '../../train/trainer.ts';
import type { SyntheticCorpus } from './corpus/reader.ts';
import { validationLoss } from './evaluation.ts';
import {
  exactMarginals,
  type SyntheticBatch,
  type SyntheticKind,
  type SyntheticNetwork,
  smoothed,
  syntheticNetwork,
  tokensOf,
} from './network.ts';

/** A network over a synthetic corpus in training. */
export class SyntheticTraining extends NetworkTraining<SyntheticKind> {
  readonly config: SyntheticConfig;
  readonly corpus: SyntheticCorpus;
  readonly order: BatchOrder;
  readonly groups: readonly optim.ParameterGroup[];

  constructor(config: SyntheticConfig, corpus: SyntheticCorpus) {
    checkTrainable(config, corpus);
    super(syntheticNetwork(config, modelShape(config, corpus)));
    const { train } = corpus.splits;
    this.config = config;
    this.corpus = corpus;
    const rows = Int32Array.from({ length: train.count }, (_, row) => row);
    this.order = new BatchOrder(rows, { batchSize: config.training.batch, seed: config.seed });
    this.groups = parameterGroups(this.model, config);
  }

  get settings(): SyntheticConfig['training'] {
    return this.config.training;
  }

  batch(rows: Int32Array, { first, end }: { first: number; end: number }): SyntheticBatch {
    const { splits, length } = this.corpus;
    return { tokens: tokensOf(splits.train, length, rows.subarray(first, end)) };
  }

  /** Sentences have one length, so that perplexity would say what the likelihood does. */
  protected override figures(terms: LossTerms): Loss['figures'] {
    const { tokens: _, ...figures } = super.figures(terms);
    return figures;
  }

  /**
   * The closed-form graph's exact posterior of the batch, which teaches the encoder. Where symbols are learned, the
   * graph goes on learning from it too; where they are known, its sweeps have settled it.
   */
  protected override teacher(batch: SyntheticBatch, replicas: Replicas): readonly Tensor[] | undefined {
    const { graph } = this.model;
    if (!(graph instanceof ClosedFormPosterior)) return undefined;
    return span('graph', () => this.#observe(batch, graph, replicas));
  }

  #observe(
    batch: SyntheticBatch,
    graph: ClosedFormPosterior,
    replicas: Replicas,
  ): readonly Tensor[] | undefined {
    const taught = this.config.encoder.teacher === 'smoothing';
    const settled = this.model.decoder.logits === undefined && this.config.graph.sweeps > 0;
    if (settled) return taught ? exactMarginals(this.model, batch, graph) : undefined;
    const found = smoothed(this.model, batch, graph);
    const [traversals, certainty, start] = replicas.mean([found.traversals, found.certainty, found.start]);
    graph.observe({ traversals: traversals!, certainty: certainty!, start: start! });
    return taught ? found.marginals : undefined;
  }

  /** On one sampled graph for all sentences. */
  override validate(): number {
    return validationLoss(this.model, this.corpus);
  }
}

/** What training needs beyond a model that fits: refused before a run folder is touched. */
export function checkTrainable(config: SyntheticConfig, corpus: SyntheticCorpus): void {
  modelShape(config, corpus);
  const { width, heads } = config.encoder;
  if (width % heads !== 0)
    throw new UserError(`encoder.width is ${width}: expected a multiple of encoder.heads, ${heads}`);
  for (const [name, { count }] of Object.entries(corpus.splits)) {
    if (count > 0) continue;
    throw new UserError(
      `${corpus.directory} has no sentences in ${name}.txt: add some, or remove the file so that a share of train.txt is used`,
    );
  }
}

/** K, V, L and N from the corpus; the bags' number of symbols wins over the configuration only when it is silent. */
export function modelShape(config: SyntheticConfig, corpus: SyntheticCorpus) {
  const bags = corpus.bags?.nodes;
  const symbols = config.symbols ?? bags;
  if (symbols === undefined)
    throw new UserError(
      'the corpus names no symbols (no node_tokens.tsv): say how many with --set symbols=50',
    );

  if (bags !== undefined && symbols !== bags)
    throw new UserError(
      `symbols is ${symbols}, but the corpus gives bags of tokens for ${bags} symbols: leave symbols out, or set it to ${bags}`,
    );

  if (config.length !== undefined && config.length !== corpus.length)
    throw new UserError(
      `length is ${config.length}, but the sentences have ${corpus.length} tokens, one for each step: leave length out`,
    );

  return {
    symbols,
    vocabulary: corpus.vocabulary.length,
    length: corpus.length,
    sentences: corpus.splits.train.count,
    ...(corpus.bags ? { bags: corpus.bags.probabilities } : {}),
  };
}

/** Group 0: encoder, decoder and walk prior. Group 1: the graph's posterior and prior. */
function parameterGroups(model: SyntheticNetwork, config: SyntheticConfig): optim.ParameterGroup[] {
  const named = [...model.namedParameters()];
  const isGraph = (name: string) => /^(graph|graphPrior|symbols)\./.test(name);
  const { rate, graphRate, decay } = config.training;
  return [
    { parameters: named.filter(([name]) => !isGraph(name)), rate, decay },
    { parameters: named.filter(([name]) => isGraph(name)), rate: graphRate },
  ];
}
