import { eye, type Generator, stack, type Tensor } from '@hidden-schema/torch';
import { type AggregatedKl, type Aggregation, type ProcessGroup, singleProcess } from './aggregate.ts';
import { type BestWalk, bestSteps } from './best.ts';
import {
  categoricalKl,
  expectedLog,
  guardedLog,
  gumbelSoftmax,
  type LogZero,
  type Relaxation,
  uniformNoise,
} from './categorical.ts';
import type { WalkDistribution } from './chain.ts';
import type { WalkPosterior } from './posterior.ts';

/**
 * q(z_{1:L}|x) = Π_i q(z_i|x) with ρ^[i] = softmax(h_i) (Eqs. 29 to 31): the posterior without the graph, which is
 * also the graph posterior on the complete graph with self-loops (Eq. 33).
 */
export class MeanFieldWalks implements WalkPosterior {
  /** log ρ^[i], L tensors [B, K] */
  readonly logMarginals: readonly Tensor[];
  readonly #logZero: LogZero;

  /** `logZero`: what the logarithm of a step without a link is, which the prior forbids. */
  constructor(scores: Tensor, logZero: LogZero = 'floor') {
    this.#logZero = logZero;
    this.logMarginals = scores.logSoftmax(-1).unbind(1);
  }

  marginals(): Tensor[] {
    return this.logMarginals.map((log) => log.exp());
  }

  sample(generator: Generator, relaxation: Relaxation): Tensor[] {
    return this.marginals().map((p) => gumbelSoftmax(p, uniformNoise(p, generator), relaxation));
  }

  sampleNodes(generator: Generator): Tensor {
    return stack(this.sample(generator, { temperature: 1, hard: true }), 1).argmax(-1);
  }

  /** Without a graph, a node does not ask for the one before it. */
  following(step: number): Tensor {
    return this.logMarginals[step]!.exp();
  }

  logProb(walks: Tensor): Tensor {
    const terms = this.logMarginals.map((log, i) => log.gather(1, walks.narrow(1, i, 1)).squeeze(1));
    return terms.reduce((sum, term) => sum.add(term));
  }

  /** log q(z_m|x_n) of M walks [M, L] under every sentence. [B, M] */
  crossLogProb(walks: Tensor): Tensor {
    const nodes = walks.unbind(1);
    const terms = this.logMarginals.map((log, i) => log.indexSelect(1, nodes[i]!));
    return terms.reduce((sum, term) => sum.add(term));
  }

  /** Eq. 32 in its first form; its later ones divide by the start's ρ at every step, a slip. [B] */
  kl(prior: WalkDistribution): Tensor {
    return this.stepKls(prior).reduce((total, step) => total.add(step));
  }

  stepKls(prior: WalkDistribution): Tensor[] {
    const p = this.marginals();
    const steps = p.slice(1).map((position, i) => {
      const negativeEntropy = position.mul(this.logMarginals[i + 1]!).sum(-1);
      const expected = p[i]!.matmul(logMatrix(prior, i, this.#logZero))
        .mul(position)
        .sum(-1);
      return negativeEntropy.sub(expected);
    });
    return [categoricalKl(this.logMarginals[0]!, prior.logStart), ...steps];
  }

  /** The aggregated form: means of the marginals for `mean`, of the pairs of neighbouring steps for `projection`. */
  aggregatedKl(
    prior: WalkDistribution,
    how: Aggregation,
    holders: ProcessGroup = singleProcess,
  ): AggregatedKl {
    const p = this.marginals();
    const own =
      how === 'mean' ? [] : p.slice(1).map((to, i) => p[i]!.transpose(0, 1).matmul(to).div(to.dim(0)));
    const all = holders.mean([...p.map((m) => m.mean(0)), ...own]);
    const [means, joint] = [all.slice(0, p.length), all.slice(p.length)]; // ρ*^[i] [K], pairs [K, K]
    const start = categoricalKl(expectedLog(means[0]!), prior.logStart.reshape(means[0]!.dim(0)));
    const steps = means.slice(1).map((to, i) => {
      const pairs = joint[i] ?? means[i]!.unsqueeze(1).mul(to.unsqueeze(0));
      const conditional = expectedLog(pairs).sub(expectedLog(means[i]!).unsqueeze(1));
      return pairs.mul(conditional.sub(logMatrix(prior, i, this.#logZero))).sum();
    });
    return { start, steps: steps.reduce((sum, term) => sum.add(term), start.mul(0)) };
  }

  best(): BestWalk[] {
    return bestSteps(this);
  }
}

/** log P of one step of a prior, isolated rows included, with missing links at a floor or free. [K, K] */
function logMatrix(prior: WalkDistribution, step: number, logZero: LogZero): Tensor {
  const { rows, active, nodes } = prior.graph;
  const isolated = prior.graph.leaveIsolated(eye(nodes, { dtype: rows.dtype, device: rows.device }));
  const ratio = prior.transitions[step]!.logRatio(0).mul(active.unsqueeze(1));
  const steps = rows.add(isolated);
  const log = guardedLog(steps, logZero);
  return log.add(logZero === 'free' ? ratio.maskedFill(steps.eq(0), 0) : ratio);
}
