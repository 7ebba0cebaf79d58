import { cat, type Generator, stack, type Tensor } from '@hidden-schema/torch';
import { WalkDistribution } from '../../walk/chain.ts';
import { WalkableGraph } from '../../walk/walkable-graph.ts';
import type { LanguageNetwork } from './network.ts';
import { type DrawnGraph, decodedWalks, logMeanExp, rowsOf, type ScoredSentence } from './perplexity.ts';

/** What scores are divided by: q itself, and the same less and less sure. */
const widths = [1, 4, 16] as const;

/**
 * log p(x) by importance weighting, with walks that come from q, from q with its scores made smaller, and from the prior
 * p(z|A), equally many of each and weighed by their mixture:
 *
 *   log (1/R) Σ_r p(x|z_r)·p(z_r|A) / m(z_r),   m = (q + q_4 + q_16 + p) / 4
 *
 * Its expectation is at most log p(x), whatever walks are drawn from, and comes the nearer the more of the walks that
 * explain a sentence are among them. A q that is surer than the posterior draws few of those; with the prior in the
 * mixture no weight is above 4·p(x|z). `walks` is R on each graph, rounded up to whole shares.
 */
export function wideLogLikelihood(
  model: LanguageNetwork,
  sentence: ScoredSentence,
  graphs: readonly DrawnGraph[],
  { walks, generator }: { walks: number; generator: Generator },
): number {
  const share = Math.ceil(walks / (widths.length + 1));
  const drawn = graphs.map(({ adjacency }) => drawWide(model, sentence, adjacency, { share, generator }));
  const likelihoods = decodedWalks(
    model,
    drawn.flatMap(({ nodes }) => nodes),
    sentence.tokens,
  );
  const ratios = drawn.flatMap(({ ratio }) => ratio);
  return logMeanExp(Float64Array.from(likelihoods, (likelihood, i) => likelihood + ratios[i]!));
}

/** As many walks from each part of the mixture, with log p(z|A) − log m(z). */
function drawWide(
  model: LanguageNetwork,
  { scores, posterior }: ScoredSentence,
  adjacency: Tensor,
  { share, generator }: { share: number; generator: Generator },
) {
  const graph = new WalkableGraph(adjacency, model.config.walk.isolated);
  const prior = model.walkPrior.on(graph);
  const repeated = new WalkDistribution(prior.logStart.expand(share, -1), prior.transitions, graph);
  const less = widths.map((width) => scores.div(width));
  const nodes = cat([
    ...less.map((h) => posterior(h.expand(share, -1, -1), graph).sampleNodes(generator)),
    repeated.sampleNodes(generator),
  ]); // [R, L]
  const own = prior.logProb(nodes);
  const parts = [...less.map((h) => posterior(h, graph).crossLogProb(nodes).select(0, 0)), own];
  const mixed = stack(parts).logSumExp(0).sub(Math.log(parts.length));
  return { ratio: own.sub(mixed).toNumbers(), nodes: rowsOf(nodes) };
}
