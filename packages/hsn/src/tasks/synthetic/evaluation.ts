import { Random, UserError } from '@hidden-schema/base';
import { scope, stack, type Tensor, withoutGrad } from '@hidden-schema/torch';
import { linkProbabilities } from '../../graph/likely.ts';
import { drawnAside } from '../../model.ts';
import { type ObjectiveOptions, walkKl } from '../../objective/objective.ts';
import type { Positions } from '../../walk/posterior.ts';
import { WalkableGraph } from '../../walk/walkable-graph.ts';
import type { CorpusSplit, SyntheticCorpus } from './corpus/reader.ts';
import { type SyntheticNetwork, tokensFrom } from './network.ts';
import { corpusGraphModel, type Recovery, recovery } from './recovery.ts';

const chunk = 500;

/** The metrics of Table 1 and its supplement, under the names of `hsn eval --json`. */
export interface SyntheticEvaluation extends Partial<Recovery> {
  sentences: number;
  /** −E log p(x|z), the true likelihood of the paper's Π e_j(x); its floor is L·log(tokens a bag). */
  nll: number;
  /** The same in the authors' convention, bag probabilities as logits. */
  nll_authors: number;
  /** KL of the aggregated walks (as trained), and the mean of each sentence's own. */
  kl_walk: number;
  kl_walk_sentence: number;
  kl_graph: number;
  /** Links that sampled walks of the test sentences used. */
  edges_walked: number;
  /** Share of steps whose most probable symbol is the true one. */
  hits?: number;
}

/** Mean objective, or −log p(x|z) as settings say, of the validation split, at full β, on one sampled graph, without dropout. */
export function validationLoss(model: SyntheticNetwork, corpus: SyntheticCorpus, limit = 2000): number {
  model.train(false);
  const { valid } = corpus.splits;
  const { validateBy } = model.config.training;
  const loss = () => {
    const graph = sampledGraph(model);
    const losses = chunks(valid, corpus.length, limit).map((tokens) => {
      const terms = model.forward({ tokens }, { step: 0, beta: 1, graph, expectation: 'exact' });
      return terms[validateBy === 'likelihood' ? 'reconstruction' : 'loss'].item() * tokens.dim(0);
    });
    return losses.reduce((sum, value) => sum + value, 0) / Math.min(limit, valid.count);
  };
  return drawnAside(model, () => withoutGrad(loss));
}

/** Everything `hsn eval` reports, on the test split. */
export function evaluateSynthetic(
  model: SyntheticNetwork,
  corpus: SyntheticCorpus,
  options: { limit?: number; samples?: number; seed?: number } = {},
): SyntheticEvaluation {
  model.train(false);
  const { test } = corpus.splits;
  const limit = Math.min(options.limit ?? test.count, test.count);
  if (limit === 0) throw new UserError(`${corpus.directory} has no test sentences to evaluate on`);
  const evaluated = () => {
    const sums = sumOver(model, corpus, limit);
    const links = model.graph.links();
    const belief = model.graphPrior.belief(links.probabilities.sum().item(), links);
    const divergence = (model.config.graph.klOf === 'mean' ? links.meanKl(belief) : links.kl(belief)).item();
    return { sentences: limit, ...sums, kl_graph: divergence, ...graphRecovery(model, corpus, options) };
  };
  return drawnAside(model, () => withoutGrad(evaluated), options.seed ?? model.config.seed);
}

/**
 * How well q(A) recovers the corpus's true graph; nothing where the truth is not known, nor where bags are learned,
 * since the symbols then have names of their own.
 */
export function graphRecovery(
  model: SyntheticNetwork,
  corpus: SyntheticCorpus,
  options: { samples?: number; seed?: number } = {},
): Recovery | Record<string, never> {
  const { truth } = corpus;
  if (!truth || !corpus.bags) return {};
  const generator = corpusGraphModel(corpus);
  return recovery(linkProbabilities(model), truth, {
    scores: linkLogits(model),
    random: new Random(options.seed ?? model.config.seed),
    samples: options.samples ?? 20,
    ...(generator ? { model: generator } : {}),
  });
}

/** Logits of q(A_ij = 1) as plain numbers, row-major [K, K]; zero on the diagonal where self-loops are not part. */
export const linkLogits = (model: SyntheticNetwork): Float64Array =>
  withoutGrad(() => Float64Array.from(model.graph.links().logitMatrix().toNumbers()));

function sumOver(model: SyntheticNetwork, corpus: SyntheticCorpus, limit: number) {
  const { test } = corpus.splits;
  // Learned bags number the symbols in an order of their own, which true walks say nothing about.
  const truth = corpus.bags ? test.walks : undefined;
  const walked = new Set<number>();
  const sum = { nll: 0, nll_authors: 0, kl_walk: 0, kl_walk_sentence: 0, hits: 0 };
  const graph = sampledGraph(model);
  const options: ObjectiveOptions = { ...model.objectiveOptions(chunk), kind: 'information' };
  let first = 0;
  for (const tokens of chunks(test, corpus.length, limit))
    scope(() => {
      const B = tokens.dim(0);
      const posterior = model.encode({ tokens }, graph);
      const marginals = posterior.marginals();
      const prior = model.walkPrior.on(graph);
      sum.nll -= model.decoder.expectedLog(tokens, marginals).sum().item();
      sum.nll_authors -= model.decoder.authorsExpectedLog(tokens, marginals).sum().item();
      sum.kl_walk += walkKl(posterior, prior, options).item() * B;
      sum.kl_walk_sentence += posterior.kl(prior).sum().item();
      if (truth) sum.hits += hits(marginals, truth, first);
      noteLinks(posterior.sampleNodes(model.generator), model.shape.symbols, walked);
      first += B;
    });

  const mean = (total: number) => total / limit;
  return {
    nll: mean(sum.nll),
    nll_authors: mean(sum.nll_authors),
    kl_walk: mean(sum.kl_walk),
    kl_walk_sentence: mean(sum.kl_walk_sentence),
    edges_walked: walked.size,
    ...(truth ? { hits: mean(sum.hits) / corpus.length } : {}),
  };
}

/** One graph drawn from q(A), ready for walking. */
export function sampledGraph(model: SyntheticNetwork): WalkableGraph {
  const hard = { hard: true, temperature: 1 };
  return new WalkableGraph(model.graph.links().sample(model.generator, hard), model.config.walk.isolated);
}

function chunks(split: CorpusSplit, length: number, limit: number): Tensor[] {
  const total = Math.min(limit, split.count);
  const firsts = Array.from({ length: Math.ceil(total / chunk) }, (_, i) => i * chunk);
  return firsts.map((first) => tokensFrom(split, length, first, Math.min(chunk, total - first)));
}

/** Steps whose most probable symbol is the true one. */
function hits(marginals: Positions, walks: Int32Array, firstSentence: number): number {
  const best = stack(marginals, 1).argmax(-1).toNumbers(); // [B·L]
  const offset = firstSentence * marginals.length;
  return best.reduce((count, node, i) => count + (node === walks[offset + i] ? 1 : 0), 0);
}

/** Adds the undirected links of walks [B, L] to a set. */
function noteLinks(walks: Tensor, symbols: number, into: Set<number>): void {
  const nodes = walks.toNumbers();
  const L = walks.dim(1);
  for (let i = 1; i < nodes.length; i++) {
    if (i % L === 0) continue;
    const a = nodes[i - 1]!;
    const b = nodes[i]!;
    into.add(Math.min(a, b) * symbols + Math.max(a, b));
  }
}
