import { noGrad, scope, stack, type Tensor } from '@hidden-schema/torch';
import { graphKl } from '../../objective/objective.ts';
import { mutualInformation } from '../../walk/aggregate.ts';
import type { WalkPosterior } from '../../walk/posterior.ts';
import { WalkableGraph } from '../../walk/walkable-graph.ts';
import type { LanguageNetwork } from './network.ts';
import type { DrawnGraph, PosteriorOf } from './perplexity.ts';

/** What walks are drawn from, and on which graphs. */
export interface Draws {
  posterior: PosteriorOf;
  graphs: readonly DrawnGraph[];
}

/** Information and divergences of all sentences together, means over graphs. */
export function information(model: LanguageNetwork, scores: readonly Tensor[], { graphs, posterior }: Draws) {
  const all = scope(() => catRows(scores));
  try {
    const each = graphs.map(({ adjacency }) =>
      scope(() => noGrad(() => informationOn(model, all, adjacency, posterior))),
    );
    const mean = (of: (one: (typeof each)[number]) => number) =>
      each.reduce((sum, one) => sum + of(one), 0) / each.length;
    return {
      mutual_information: mean((one) => one.paper),
      mutual_information_exact: mean((one) => one.exact),
      mutual_information_bound: Math.log(all.dim(0)),
      kl_walk: mean((one) => one.kl),
      kl_walk_aggregated: mean((one) => one.kl - one.paper),
      paid: each[0]!.paid.map((_, i) => mean((one) => one.paid[i]!)),
      kl_graph: scope(() =>
        noGrad(() => graphKl(model.graph.links(), model.graphPrior, model.config.graph.klOf).item()),
      ),
      symbols_used: new Set(each.flatMap(({ symbols }) => [...symbols])).size,
    };
  } finally {
    all.free();
  }
}

/** What walks of all sentences tell on one graph, and which symbols they use. */
function informationOn(model: LanguageNetwork, scores: Tensor, adjacency: Tensor, of: PosteriorOf) {
  const graph = new WalkableGraph(adjacency, model.config.walk.isolated);
  const posterior = of(scores, graph);
  const prior = model.walkPrior.on(graph);
  const nodes = posterior.sampleNodes(model.generator);
  return {
    paper: mutualInformation(posterior, prior, 'mean').item(),
    exact: exactInformation(posterior, nodes),
    kl: posterior.kl(prior).mean().item(),
    paid: posterior.stepKls(prior).map((step) => step.mean().item()),
    symbols: new Set(nodes.toNumbers()),
  };
}

/**
 * I(z; x) of the empirical sample: mean of log q(z_n|x_n) − log (1/N) Σ_m q(z_n|x_m), one walk a sentence. At most
 * log N, which the paper's estimator may exceed.
 */
export function exactInformation(
  posterior: Pick<WalkPosterior, 'logProb' | 'crossLogProb'>,
  nodes: Tensor,
): number {
  const N = nodes.dim(0);
  const own = posterior.logProb(nodes).sum().item();
  let mixed = 0;
  for (let first = 0; first < N; first += walksAtOnce)
    mixed += scope(() => {
      const some = nodes.narrow(0, first, Math.min(walksAtOnce, N - first));
      return posterior.crossLogProb(some).logSumExp(0).sum().item(); // [N sentences, walks]
    });
  return (own - mixed) / N + Math.log(N);
}

/** Bounds what is held of the [N, N] table, which for a whole test set would not fit into memory. */
const walksAtOnce = 256;

function catRows(scores: readonly Tensor[]): Tensor {
  return stack(scores.flatMap((batch) => batch.unbind(0)));
}
