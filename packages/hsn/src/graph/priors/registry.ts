import { BernoulliPrior, BetaBernoulliPrior, type GraphPriorMaker, PowerLawPrior } from '../prior.ts';
import { drawnPrior } from './drawn.ts';
import type { GraphPriorName } from './names.ts';
import { preferentialAttachmentPrior } from './preferential-attachment.ts';
import { sparsePrior } from './sparse.ts';

/** Graph priors by the name that `graph.prior` has: a new one is a file, a line here, and its name in names.ts. */
export const graphPriors: Record<GraphPriorName, GraphPriorMaker> = {
  bernoulli: ({ settings }) => new BernoulliPrior(settings.p),
  beta: ({ settings, pairs }) => new BetaBernoulliPrior(settings.beta[0], settings.beta[1], pairs.count),
  'power-law': ({ settings, pairs, generator, options }) =>
    new PowerLawPrior(settings, pairs, generator, options),
  sparse: sparsePrior,
  'preferential-attachment': preferentialAttachmentPrior,
  drawn: drawnPrior,
};
